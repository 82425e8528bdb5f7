import Ferry
import FerrySQLite

/// What was made of some rows of a device's database, kept for as long as every byte of them stays.
struct KeptReading<Content> {
  private var bytes: [UInt8]?
  private var content: Content?

  /// What `make` makes of the rows that `sql` gives; what it made before where they are the same.
  mutating func read(
    _ sql: String, of device: SimulatedDevice, make: () throws(FerryError) -> Content
  ) throws(FerryError) -> (content: Content, isSame: Bool) {
    let found = try device.bytes(of: sql)
    if let content, found == bytes { return (content, true) }
    let made = try make()
    bytes = found
    content = made
    return (made, false)
  }
}

extension SimulatedDevice {
  /// All that a statement gives, column by column: the same bytes only for the same rows.
  func bytes(of text: String) throws(FerryError) -> [UInt8] {
    try sql { (connection) throws(SQLiteError) in
      let statement = try connection.statement(text)
      defer { statement.reset() }
      var bytes: [UInt8] = []
      while try statement.step() {
        for column in 0..<statement.columnCount { append(statement.column(at: column), to: &bytes) }
      }
      return bytes
    }
  }

  /// A letter for the type, then what has a fixed size, or its length and all of it.
  private func append(_ column: ColumnView, to bytes: inout [UInt8]) {
    switch column {
    case .null: bytes.append(0)
    case .integer(let number):
      bytes.append(1)
      append(UInt64(bitPattern: number), to: &bytes)
    case .real(let number):
      bytes.append(2)
      append(number.bitPattern, to: &bytes)
    case .text(let text):
      bytes.append(3)
      append(UInt64(text.count), to: &bytes)
      bytes.append(contentsOf: text)
    case .blob(let blob):
      bytes.append(4)
      append(UInt64(blob.count), to: &bytes)
      bytes.append(contentsOf: blob)
    }
  }

  private func append(_ number: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
  }
}
