/// How far a download of one partition has come: everything up to `version`, and of that version
/// the rows up to `row`. A page may end inside one version.
public struct Cursor: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let version: Int64
  public let row: Int64

  public init(version: Int64, row: Int64) {
    self.version = version
    self.row = row
  }

  /// Nothing has been downloaded.
  public static let start = Cursor(version: 0, row: 0)

  /// Everything up to and with `version`.
  public static func end(of version: Int64) -> Cursor { Cursor(version: version, row: .max) }

  public static func < (left: Cursor, right: Cursor) -> Bool {
    (left.version, left.row) < (right.version, right.row)
  }

  public var description: String { row == .max ? "\(version)" : "\(version)/\(row)" }
}

/// Where one partition of a device stands.
public struct PartitionCursor: Sendable, Hashable {
  /// The server's number for the partition.
  public let partition: Int64
  public let cursor: Cursor

  public init(partition: Int64, cursor: Cursor) {
    self.partition = partition
    self.cursor = cursor
  }
}
