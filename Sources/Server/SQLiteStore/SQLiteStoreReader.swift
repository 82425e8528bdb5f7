import FerryModel
import FerrySQLite
import FerryServer

/// What is needed to read the rows of a package: its number in the store, and its entities by theirs.
struct PackageNumbers: Sendable {
  let package: Package
  let number: Int64
  let positions: [Int64: Int]

  var value: SQLiteValue { .integer(number) }
}

/// A connection of its own that reads for devices while the store's thread writes.
final class SQLiteStoreReader: StoreReader {
  private let numbers: PackageNumbers
  private let path: String
  private let connection: Connection

  /// Throws `moved` where the file at `path` is not that of the store: somebody exchanged it.
  init(
    _ numbers: PackageNumbers, era: String, path: String, vfs: String?
  ) throws(StoreError) {
    self.numbers = numbers
    self.path = path
    let (connection, last) = try sql { () throws(SQLiteError) in
      let connection = try Connection(path: path, mode: .readOnly, vfs: vfs)
      let last = try connection.value(
        "SELECT id FROM era WHERE package = ? ORDER BY number DESC LIMIT 1", numbers.value)
      return (connection, last?.text)
    }
    guard last == era else { throw SQLiteStoreReader.exchanged(path) }
    self.connection = connection
  }

  func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try check()
    let result = try connection.transaction(.deferred, wrap: { StoreError($0) }) {
      () throws(StoreError) in try body(try SQLiteSnapshot(numbers, connection))
    }
    try check()
    return result
  }

  /// What was read of a file that somebody exchanged must not be sent, also when the store is back.
  private func check() throws(StoreError) {
    guard !connection.hasMoved else { throw SQLiteStoreReader.exchanged(path) }
  }

  private static func exchanged(_ path: String) -> StoreError {
    StoreError(.moved, "the file \(path) was moved or exchanged", isTransient: true)
  }
}
