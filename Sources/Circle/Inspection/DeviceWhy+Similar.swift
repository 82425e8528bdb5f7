import FerryModel
import FerrySQLite

extension DeviceWhy {
  /// So many keys are compared with what was typed.
  private static let comparedKeys: Int64 = 5_000

  /// Names of entities, or keys of the entity, that somebody may have meant; the nearest first.
  static func similar(
    _ connection: Connection, _ entity: String, _ columns: [String], _ key: String
  ) throws(SQLiteError) -> [String] {
    guard !columns.isEmpty else {
      return NearestWord.near(entity, among: try DeviceInspection.entityNames(connection))
    }
    let list = columns.map(quoted).joined(separator: ", ")
    let keys = try connection.rows(
      "SELECT \(list) FROM \(quoted(entity)) ORDER BY \(list) LIMIT ?", .integer(comparedKeys)
    ).map { row in ObjectKey(row.map(value)).text }
    // A text may be typed without its quotes.
    let text = ObjectKey([.text(key)]).text
    let near = NearestWord.near(key, among: keys) + NearestWord.near(text, among: keys)
    return Array(near.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.prefix(3))
  }
}
