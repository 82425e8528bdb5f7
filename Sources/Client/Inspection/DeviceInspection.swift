import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// What a device's database holds, read from outside without changing it and without its model.
package struct DeviceInspection {
  package struct EntityCount {
    package let entity: String
    package let visible: Int64
    package let pending: Int64
  }

  package struct OperationView {
    package let id: String
    package let entity: String
    package let key: String
    package let kind: String
    /// waiting, submitted, replayFailed, unknown or withdrawn.
    package let state: String
    package let isAcknowledged: Bool
    /// When the change was saved, in milliseconds since 1970.
    package let made: Int64
    package let changed: String
    package let base: String
  }

  package struct PartitionView {
    package let number: Int64
    package let group: String
    package let state: String
    package let cursor: Cursor
    package let staged: Cursor
    package let count: Int64
  }

  package struct GroupView {
    package let name: String
    package let era: String?
    package let version: Int64
    /// When it was imported, in milliseconds since 1970.
    package let imported: Int64?
  }

  package let package: String
  package let user: String?
  package let server: String?
  package let entities: [EntityCount]
  package let operations: [OperationView]
  package let partitions: [PartitionView]
  package let groups: [GroupView]
  /// Each as JSON, the form of the wire.
  package let logRecords: [String]

  /// Opens the database read-only. `FerryError.store` when it is none of a device.
  package init(path: String) throws(FerryError) {
    do throws(SQLiteError) {
      let connection = try DeviceInspection.open(path)
      package = try Settings.get(.package, connection) ?? ""
      user = try Settings.get(.user, connection)
      server = try Settings.get(.server, connection)
      entities = try DeviceInspection.counts(connection)
      operations = try DeviceInspection.operations(connection, "")
      partitions = try DeviceInspection.partitions(connection)
      groups = try connection.rows(
        "SELECT grp, era, version, imported FROM ferry_checkpoint ORDER BY grp"
      )
      .map {
        GroupView(
          name: $0[0].text ?? "", era: $0[1].text, version: $0[2].integer ?? 0,
          imported: $0[3].integer)
      }
      logRecords = try connection.rows("SELECT record FROM ferry_log_record ORDER BY number")
        .compactMap { $0[0].text }
    } catch {
      throw DeviceInspection.failure(error, path)
    }
  }

  static func open(_ path: String) throws(SQLiteError) -> Connection {
    try Connection(path: path, mode: .readOnly)
  }

  static func failure(_ error: SQLiteError, _ path: String) -> FerryError {
    if error.message.contains("no such table") {
      return FerryError(
        .store, "\(path) is a database, but not one of a device",
        hint: "Name the file that the app gives to open(at:).", cause: error)
    }
    return Store.failure(error, path: path)
  }

  private static func counts(_ connection: Connection) throws(SQLiteError) -> [EntityCount] {
    let names = try connection.rows(
      """
      SELECT substr(name, 16) FROM sqlite_master
      WHERE type = 'table' AND name LIKE 'ferry\\_original\\_%' ESCAPE '\\' ORDER BY name
      """
    ).compactMap { $0[0].text }
    var counts: [EntityCount] = []
    for name in names {
      let row = try connection.row(
        "SELECT count(*), sum(_pending <> 'N') FROM \(quoted(name))")
      counts.append(
        EntityCount(entity: name, visible: row?[0].integer ?? 0, pending: row?[1].integer ?? 0))
    }
    return counts
  }

  static func operations(
    _ connection: Connection, _ rest: String, _ parameters: SQLiteValue...
  )
    throws(SQLiteError) -> [OperationView]
  {
    try connection.rows(
      """
      SELECT id, entity, key, kind, state, acknowledged, made, changed, base FROM ferry_operation
      \(rest) ORDER BY sequence
      """, parameters
    ).map { row in
      OperationView(
        id: row[0].text ?? "", entity: row[1].text ?? "", key: row[2].text ?? "",
        kind: row[3].text ?? "", state: row[4].text ?? "", isAcknowledged: row[5].integer == 1,
        made: row[6].integer ?? 0, changed: row[7].text ?? "", base: row[8].text ?? "")
    }
  }

  private static func partitions(_ connection: Connection) throws(SQLiteError) -> [PartitionView] {
    try connection.rows(
      """
      SELECT number, grp, state, version, row, staged_version, staged_row, count
      FROM ferry_partition ORDER BY number
      """
    ).map { row in
      PartitionView(
        number: row[0].integer ?? 0, group: row[1].text ?? "", state: row[2].text ?? "",
        cursor: Cursor(version: row[3].integer ?? 0, row: row[4].integer ?? 0),
        staged: Cursor(version: row[5].integer ?? 0, row: row[6].integer ?? 0),
        count: row[7].integer ?? 0)
    }
  }
}
