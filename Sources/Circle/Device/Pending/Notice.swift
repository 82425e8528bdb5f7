import FerryModel
import FerrySQLite

/// A callback that is owed to the app: written with what it tells of, removed after it was made, so
/// that a crash between the two repeats it instead of losing it.
package struct Notice: Sendable, Equatable {
  package enum Kind: String, Sendable {
    case replaySuccess, replayFailure, replayUnknown, entityImported, importSuccess
  }

  package let number: Int64
  package let kind: Kind
  package let entity: String?
  package let object: Int64?
  package let key: ObjectKey?
  package let content: String?
  /// By the handler of its entity, while there was none of the database.
  package let isHeard: Bool

  /// Of an import: inserted, updated and deleted objects.
  var counts: [Int]? { Notice.counts(of: content) }

  /// False for a notice that only continues the list of an import's objects.
  var hasCounts: Bool { kind != .entityImported || counts != [0, 0, 0] }

  /// Of an import: the objects that it brought, where a handler wants to hear of each.
  var objects: [Int64] {
    guard kind == .entityImported, let list = content?.split(separator: "|").dropFirst().first
    else { return [] }
    return list.split(separator: ",").compactMap { Int64($0) }
  }

  static func counts(of content: String?) -> [Int]? {
    let counts = (content ?? "").split(separator: " ").prefix(3).compactMap { Int($0) }
    return counts.count == 3 ? counts : nil
  }
}

package enum NoticeTable {
  static func owe(
    _ kind: Notice.Kind, entity: String?, object: Int64? = nil, key: ObjectKey? = nil,
    content: String?,
    _ connection: Connection
  ) throws(SQLiteError) {
    // Nobody has listened for long: of one object, the last that was said of it.
    if let object, try isCrowded(connection) {
      try letHeardGo(connection)
      try connection.run(
        "DELETE FROM ferry_notice WHERE entity = ? AND object = ?", .optional(entity),
        .integer(object))
    }
    try connection.run(
      "INSERT INTO ferry_notice (kind, entity, object, key, content) VALUES (?, ?, ?, ?, ?)",
      .text(kind.rawValue), .optional(entity), .optional(object), .optional(key?.text),
      .optional(content))
  }

  /// Objects that one notice lists: as many records are read at once when it is told.
  static let listed = 1_000

  /// One for each entity that changed, then one that the import is whole (sync/M20). `objects` are
  /// those that are told one by one.
  static func owe(
    _ changes: [EntityChanges], objects: [String: [Int64]] = [:], group: String,
    _ connection: Connection
  )
    throws(SQLiteError)
  {
    var changes = changes
    if try isCrowded(connection) {
      try letHeardGo(connection)
      try join(&changes, group, connection)
    }
    for change in changes {
      var rest = objects[change.entity, default: []][...]
      while rest.count > listed {
        let list = rest.prefix(listed)
        rest = rest.dropFirst(listed)
        try owe(
          .entityImported, entity: change.entity, content: "0 0 0\(text(of: list))", connection)
      }
      try owe(
        .entityImported, entity: change.entity,
        content: "\(change.inserted) \(change.updated) \(change.deleted)\(text(of: rest))",
        connection)
    }
    try owe(.importSuccess, entity: nil, content: group, connection)
  }

  private static func text(of objects: ArraySlice<Int64>) -> String {
    objects.isEmpty ? "" : " |" + objects.map(String.init).joined(separator: ",")
  }

  /// Callbacks that wait before they are joined: an app without a handler must not fill its disk.
  static let crowd: Int64 = 100

  private static func isCrowded(_ connection: Connection) throws(SQLiteError) -> Bool {
    let last = try connection.value(
      "SELECT number FROM ferry_notice ORDER BY number LIMIT 1 OFFSET ?", .integer(crowd))
    return last != nil
  }

  /// What is owed of imports becomes one import: the counts of each entity together.
  private static func join(
    _ changes: inout [EntityChanges], _ group: String, _ connection: Connection
  ) throws(SQLiteError) {
    let known = try connection.rows(
      "SELECT entity, content FROM ferry_notice WHERE kind = 'entityImported' ORDER BY number")
    for row in known {
      guard let entity = row[0].text, let counts = Notice.counts(of: row[1].text) else { continue }
      let place = changes.firstIndex { $0.entity == entity } ?? changes.endIndex
      if place == changes.endIndex { changes.append(EntityChanges(entity: entity)) }
      changes[place].inserted += counts[0]
      changes[place].updated += counts[1]
      changes[place].deleted += counts[2]
    }
    try connection.run("DELETE FROM ferry_notice WHERE kind = 'entityImported'")
    try connection.run(
      "DELETE FROM ferry_notice WHERE kind = 'importSuccess' AND content = ?", .text(group))
  }

  /// What an entity's handler has heard waits for the database's, and not for ever.
  private static func letHeardGo(_ connection: Connection) throws(SQLiteError) {
    try connection.run(
      "DELETE FROM ferry_notice WHERE number IN (SELECT number FROM ferry_notice_heard)")
    try connection.run("DELETE FROM ferry_notice_heard")
  }

  /// The one that is owed longest; with `entities`, of those that concern them and that their
  /// handlers have not heard.
  package static func first(
    of entities: [String]? = nil, _ connection: Connection
  ) throws(SQLiteError) -> Notice? {
    let list = entities.flatMap { SQLiteValue.list($0.map(SQLiteValue.text)) }
    let row = try connection.row(
      """
      SELECT number, kind, entity, object, key, content,
        number IN (SELECT number FROM ferry_notice_heard) AS heard
      FROM ferry_notice
      WHERE ?1 IS NULL OR (entity IN (SELECT value FROM json_each(?1)) AND NOT heard)
      ORDER BY number LIMIT 1
      """, .optional(list))
    guard let row, let number = row[0].integer, let kind = Notice.Kind(rawValue: row[1].text ?? "")
    else { return nil }
    return Notice(
      number: number, kind: kind, entity: row[2].text, object: row[3].integer,
      key: row[4].text.map { ObjectKey(text: $0) }, content: row[5].text,
      isHeard: row[6].integer == 1)
  }

  /// The handler of its entity has heard it; the database's has not.
  package static func hear(_ notice: Notice, _ connection: Connection) throws(SQLiteError) {
    try connection.run(
      "INSERT OR IGNORE INTO ferry_notice_heard (number) VALUES (?)", .integer(notice.number))
  }

  package static func remove(_ notice: Notice, _ connection: Connection) throws(SQLiteError) {
    try connection.run("DELETE FROM ferry_notice WHERE number = ?", .integer(notice.number))
    try connection.run("DELETE FROM ferry_notice_heard WHERE number = ?", .integer(notice.number))
  }
}
