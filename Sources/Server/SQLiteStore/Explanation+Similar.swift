import FerryModel
import FerrySQLite
import FerryServer

extension Explanation {
  /// So many keys are compared with what was typed.
  static let comparedKeys: Int64 = 5_000

  /// Names of entities, or keys of the entity, that somebody may have meant; the nearest first.
  static func similar(
    _ connection: Connection, _ package: Int64, _ entity: String, _ key: String
  ) throws(SQLiteError) -> [String] {
    let names = try connection.rows(
      "SELECT name FROM entity WHERE package = ? ORDER BY name", .integer(package)
    ).compactMap { $0[0].text }
    guard names.contains(entity) else { return NearestWord.near(entity, among: names) }
    let keys = try connection.rows(
      """
      SELECT r.key FROM row AS r JOIN entity AS e ON e.id = r.entity
      WHERE e.package = ? AND e.name = ? AND r.deleted = 0 ORDER BY r.key LIMIT ?
      """, .integer(package), .text(entity), .integer(comparedKeys)
    ).compactMap { $0[0].text }
    // A text may be typed without its quotes.
    let quoted = ObjectKey([.text(key)]).text
    let near = NearestWord.near(key, among: keys) + NearestWord.near(quoted, among: keys)
    return Array(near.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.prefix(3))
  }
}
