import FerryServer

/// A connection that reads for devices, in transactions of its own.
final class PostgreSQLStoreReader: StoreReader {
  private let numbers: PackageNumbers
  private let line: Line

  init(_ numbers: PackageNumbers, _ line: Line) {
    self.numbers = numbers
    self.line = line
  }

  func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let view = try PostgreSQLSnapshot(numbers, line)
    defer { line.rollBack() }
    return try body(view)
  }
}
