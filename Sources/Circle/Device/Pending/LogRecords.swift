import FerryJSON
import FerryModel
import FerrySQLite
public import FerryWire

/// A message of the server about an operation.
public typealias LogRecord = FerryWire.LogRecord

/// A selection of log records; every condition that is set must be true.
/// ```swift
/// try database.logRecords(LogRecordQuery(component: "Order", atLeast: .error, take: 50))
/// ```
public struct LogRecordQuery: Sendable {
  /// The name of the entity.
  public var component: String?
  /// The key as text, as in `LogRecord.entityKey`.
  public var entityKey: String?
  /// The status of HTTP that the record has, such as 422 or 412.
  public var code: Int?
  /// This level or a more severe one.
  public var atLeast: LogRecord.Level?
  /// The id of a submitted operation.
  public var requestID: OperationID?
  /// Written by the server at this moment or later, in milliseconds since 1970.
  public var since: Int64?
  /// Written by the server before this moment.
  public var before: Int64?
  /// How many of the oldest records to leave out.
  public var skip: Int
  /// At most this many records; nil for all.
  public var take: Int?

  /// Nil means: any.
  public init(
    component: String? = nil, entityKey: String? = nil, code: Int? = nil,
    atLeast: LogRecord.Level? = nil, requestID: OperationID? = nil, since: Int64? = nil,
    before: Int64? = nil, skip: Int = 0, take: Int? = nil
  ) {
    self.component = component
    self.entityKey = entityKey
    self.code = code
    self.atLeast = atLeast
    self.requestID = requestID
    self.since = since
    self.before = before
    self.skip = skip
    self.take = take
  }

  /// As SQL over the records as they are kept.
  fileprivate var tests: (sql: String, parameters: [SQLiteValue]) {
    var tests: [(String, SQLiteValue)] = []
    if let component { tests.append(("entity = ?", .text(component))) }
    if let entityKey { tests.append(("record ->> 'entityKey' = ?", .text(entityKey))) }
    if let code { tests.append(("record ->> 'code' = ?", .integer(Int64(code)))) }
    if let requestID { tests.append(("record ->> 'requestId' = ?", .text(requestID.text))) }
    if let since { tests.append(("record ->> 'timestamp' >= ?", .integer(since))) }
    if let before { tests.append(("record ->> 'timestamp' < ?", .integer(before))) }
    var sql = tests.map(\.0)
    if let atLeast {
      let levels = LogRecord.Level.allCases.drop { $0 != atLeast }.map { "'\($0.rawValue)'" }
      sql.append("record ->> 'level' IN (\(levels.joined(separator: ", ")))")
    }
    return (sql.isEmpty ? "1" : sql.joined(separator: " AND "), tests.map(\.1))
  }
}

extension BusinessObject {
  /// The server's messages about this object's operations, oldest first. They stay until the object
  /// is accepted or its pending change is cancelled.
  public var logRecords: [LogRecord] {
    get throws(FerryError) {
      guard let object = record.object else { return [] }
      return try LogRecords(record.store).of(Self.entity, object)
    }
  }
}

/// The log records about operations, until those are accepted or cancelled.
package struct LogRecords {
  private let store: Store

  package init(_ store: Store) { self.store = store }

  /// Those about the operations of one object, oldest first.
  func of(_ entity: Entity, _ object: Int64) throws(FerryError) -> [LogRecord] {
    try select(
      "WHERE entity = ? AND object = ? ORDER BY number", [.text(entity.name), .integer(object)])
  }

  /// Those that a query gives, oldest first.
  package func of(_ query: LogRecordQuery) throws(FerryError) -> [LogRecord] {
    try RowQuery.checkPage(skip: query.skip, take: query.take)
    let (tests, parameters) = query.tests
    return try select(
      "WHERE \(tests) ORDER BY number LIMIT ? OFFSET ?",
      parameters + [.integer(Int64(query.take ?? -1)), .integer(Int64(query.skip))])
  }

  /// Forgets those that a query gives; its skip and take say nothing here.
  package func delete(_ query: LogRecordQuery) throws(FerryError) {
    let (tests, parameters) = query.tests
    try store.write { connection throws(SQLiteError) in
      try connection.run("DELETE FROM ferry_log_record WHERE \(tests)", parameters)
    }
  }

  package func select(
    _ rest: String, _ parameters: [SQLiteValue]
  ) throws(FerryError) -> [LogRecord] {
    let texts = try store.read { connection throws(SQLiteError) in
      try connection.rows("SELECT record FROM ferry_log_record \(rest)", parameters)
    }
    return texts.compactMap { row in
      row[0].text.flatMap { try? LogRecord(json: Array($0.utf8)) }
    }
  }

  static func keep(
    _ record: LogRecord, entity: String, object: Int64, _ connection: Connection
  ) throws(SQLiteError) {
    var writer = JSONWriter()
    writer.logRecord(record)
    try connection.run(
      "INSERT INTO ferry_log_record (entity, object, record) VALUES (?, ?, ?)",
      .text(entity), .integer(object), .text(writer.text))
  }

  /// Nothing is left to say of an object's operations.
  static func forget(
    entity: String, object: Int64, _ connection: Connection
  ) throws(SQLiteError) {
    try connection.run(
      "DELETE FROM ferry_log_record WHERE entity = ? AND object = ?", .text(entity),
      .integer(object))
  }
}
