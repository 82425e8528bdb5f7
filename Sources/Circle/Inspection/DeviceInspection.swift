import Ferry
import FerryModel
import FerrySQLite
import FerryWire

/// What a device's database holds, read from outside without changing it and without its model.
package struct DeviceInspection {
  package struct EntityCount {
    package let entity: String
    package let visible: Int64
    /// Objects with an operation, pending deletes among them.
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

  package struct UploadView {
    package let operation: String
    package let attribute: String
    /// In bytes, of the whole content.
    package let size: Int64
    package let isDone: Bool
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

  /// All of them, however many were asked for.
  package let operationCount: Int64
  package let logRecordCount: Int64
  /// Of the app's own, that the server does not have yet.
  package let appLogRecordCount: Int64
  /// Contents of big values that go to the server behind their operations.
  package let uploads: [UploadView]
  /// The file's own name for itself, by which the server knows it.
  package let device: String
  package let incarnation: String
  package let subscription: SubscriptionState
  /// Nothing can be sent or fetched before; a login that is under way is not kept.
  package let mustLogIn: Bool
  /// Each saved set of synchronization parameters as JSON.
  package let parameterSets: [String]

  /// Whether data was asked for.
  package enum SubscriptionState: String {
    case subscribed, suspended
    case subscribing = "waits for the server"
    case none = "not subscribed"
  }

  /// Everything was imported, and it was nothing.
  package var getsNothing: Bool {
    subscription == .subscribed && partitions.isEmpty && groups.contains { $0.era != nil }
  }

  init(_ connection: Connection, limit: Int?) throws(SQLiteError) {
    let rest = "LIMIT \(limit ?? -1)"
    package = try Settings.get(.package, connection) ?? ""
    user = try Settings.get(.user, connection)
    server = try Settings.get(.server, connection)
    device = try Settings.get(.device, connection) ?? ""
    incarnation = try Settings.get(.incarnation, connection) ?? ""
    if try Settings.get(.subscribed, connection) != nil {
      subscription =
        try Settings.get(.suspended, connection) == nil ? .subscribed : .suspended
    } else {
      subscription = try Settings.get(.subscribing, connection) == nil ? .none : .subscribing
    }
    let refresh = try Settings.get(.refreshToken, connection)
    let access = try Settings.get(.accessToken, connection)
    mustLogIn = refresh == nil && access == nil
    parameterSets = try connection.rows(
      "SELECT content FROM ferry_parameter_set ORDER BY number"
    ).compactMap { $0[0].text }
    entities = try DeviceInspection.counts(connection)
    operations = try DeviceInspection.operations(connection, "", after: rest)
    operationCount =
      try connection.value("SELECT count(*) FROM ferry_operation")?.integer ?? 0
    partitions = try DeviceInspection.partitions(connection)
    groups = try connection.rows(
      "SELECT grp, era, version, imported FROM ferry_checkpoint ORDER BY grp"
    )
    .map {
      GroupView(
        name: $0[0].text ?? "", era: $0[1].text, version: $0[2].integer ?? 0,
        imported: $0[3].integer)
    }
    logRecords = try connection.rows("SELECT record FROM ferry_log_record ORDER BY number \(rest)")
      .compactMap { $0[0].text }
    logRecordCount =
      try connection.value("SELECT count(*) FROM ferry_log_record")?.integer ?? 0
    appLogRecordCount = try connection.value("SELECT count(*) FROM ferry_report")?.integer ?? 0
    uploads = try connection.rows(
      "SELECT operation, attribute, reference, done FROM ferry_upload ORDER BY operation, attribute"
    ).map { row in
      UploadView(
        operation: row[0].text ?? "", attribute: row[1].text ?? "",
        size: row[2].text.flatMap { BigReference($0)?.sizeBytes } ?? 0, isDone: row[3].integer == 1)
    }
  }

  /// Those of the package, in order.
  static func entityNames(_ connection: Connection) throws(SQLiteError) -> [String] {
    try connection.rows(
      """
      SELECT substr(name, 16) FROM sqlite_master
      WHERE type = 'table' AND name LIKE 'ferry\\_original\\_%' ESCAPE '\\' ORDER BY name
      """
    ).compactMap { $0[0].text }
  }

  private static func counts(_ connection: Connection) throws(SQLiteError) -> [EntityCount] {
    let names = try entityNames(connection)
    // From the operations: a scan of the rows would cost what the database holds.
    let pending = try connection.rows(
      """
      SELECT entity, count(DISTINCT object) FROM ferry_operation WHERE state <> 'withdrawn'
      GROUP BY entity
      """)
    let counts = Dictionary(
      pending.map { ($0[0].text ?? "", $0[1].integer ?? 0) }, uniquingKeysWith: +)
    return try names.map { name throws(SQLiteError) in
      EntityCount(
        entity: name,
        visible: try connection.value("SELECT count(*) FROM \(quoted(name))")?.integer ?? 0,
        pending: counts[name] ?? 0)
    }
  }

  static func operations(
    _ connection: Connection, _ rest: String, after: String = "", _ parameters: SQLiteValue...
  )
    throws(SQLiteError) -> [OperationView]
  {
    try connection.rows(
      """
      SELECT id, entity, key, kind, state, acknowledged, made, changed, base FROM ferry_operation
      \(rest) ORDER BY sequence \(after)
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
