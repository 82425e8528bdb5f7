import FerrySQLite

/// The progress of a download, also over restarts of the app: rows that are on the device are not
/// fetched again and stay counted.
public struct ImportProgress: Sendable, Equatable {
  /// Rows that are on the device and wait to be imported.
  public var receivedRows: Int = 0
  /// The number of rows that the server had when the download began; 0 if it is unknown, as for a
  /// delta.
  public var expectedRows: Int = 0
  /// The size of the received rows in bytes, compressed.
  public var receivedBytes: Int = 0

  public init(receivedRows: Int = 0, expectedRows: Int = 0, receivedBytes: Int = 0) {
    self.receivedRows = receivedRows
    self.expectedRows = expectedRows
    self.receivedBytes = receivedBytes
  }

  /// From 0 to 1; nil if it is unknown how many rows will come.
  public var fraction: Double? {
    expectedRows > 0 ? min(1, Double(receivedRows) / Double(expectedRows)) : nil
  }

  /// The estimated total size in bytes, calculated from the received rows; nil before the first.
  public var expectedBytes: Int? {
    guard expectedRows > 0, receivedRows > 0 else { return nil }
    return Int(Double(receivedBytes) * max(1, Double(expectedRows) / Double(receivedRows)))
  }
}

/// The progress as the device keeps it.
package enum ProgressTable {
  package static func read(_ connection: Connection) throws(SQLiteError) -> ImportProgress {
    let text = try Settings.get(.progress, connection) ?? ""
    let numbers = text.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 3 else { return ImportProgress() }
    return ImportProgress(
      receivedRows: numbers[0], expectedRows: numbers[1], receivedBytes: numbers[2])
  }

  package static func write(
    _ progress: ImportProgress, _ connection: Connection
  ) throws(SQLiteError) {
    try Settings.set(
      .progress, "\(progress.receivedRows) \(progress.expectedRows) \(progress.receivedBytes)",
      connection)
  }

  /// Nothing waits any more: the next download counts from 0.
  package static func restartIfEmpty(_ connection: Connection) throws(SQLiteError) {
    guard try connection.value("SELECT 1 FROM ferry_page LIMIT 1") == nil else { return }
    try Settings.set(.progress, nil, connection)
  }
}
