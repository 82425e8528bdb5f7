import FerryModel
import FerrySQLite

/// Values that only this device has and that a newer model has no place for.
struct MigrationValues {
  let migration: Migration
  private var connection: Connection { migration.connection }

  /// A line for each kind, with how many there are.
  func losses() throws -> [String] {
    var lines: [String] = []
    for before in migration.old.entities {
      let entity = migration.new.entity(named: before.name)
      let problem = problem(before, entity)
      if let problem, before.isClientOnly {
        let count = try connection.value("SELECT count(*) FROM \(Schema.table(before))")?.integer
        add(count ?? 0, before.name, problem, to: &lines)
        continue
      }
      for attribute in before.attributes where before.isClientOnly || attribute.isClientOnly {
        let name = "\(before.name).\(attribute.name)"
        if let problem = problem ?? entity.flatMap({ self.problem(attribute, $0) }) {
          add(try count(before, attribute) { _ in true }, name, problem, to: &lines)
        } else if let entity, let place = entity.position(of: attribute.name) {
          let type = entity.attributes[place].type
          guard type != attribute.type else { continue }
          let lost = try count(before, attribute) { column in
            attribute.type.isBig != type.isBig || Migration.value(column, as: type) == nil
          }
          add(lost, name, "which is no \(type.rawValue)", to: &lines)
        }
      }
    }
    return lines
  }

  private func add(_ count: Int64, _ name: String, _ problem: String, to lines: inout [String]) {
    guard count > 0 else { return }
    lines.append("\(count) × \(name), only on this device, \(problem)")
  }

  /// Why no row of an entity is left; nil where they stay.
  private func problem(_ before: Entity, _ entity: Entity?) -> String? {
    guard let entity else { return "which the model no longer has" }
    guard
      before.key.map({ before.attributes[$0].name })
        == entity.key.map({
          entity.attributes[$0].name
        })
    else { return "whose key is another one now" }
    return before.isClientOnly && !entity.isClientOnly
      ? "which the business system has now" : nil
  }

  /// Why no value of an attribute is left.
  private func problem(_ attribute: Attribute, _ entity: Entity) -> String? {
    guard let place = entity.position(of: attribute.name) else {
      return "which the model no longer has"
    }
    let staysHere = entity.isClientOnly || entity.attributes[place].isClientOnly
    return staysHere ? nil : "which the business system has now"
  }

  /// How many values of an attribute, but nulls and its default, are lost: of visible objects, of
  /// those whose delete is pending, and of those that are away.
  private func count(
    _ before: Entity, _ attribute: Attribute, isLost: (SQLiteValue) -> Bool
  ) throws -> Int64 {
    let column = quoted(attribute.name)
    let usual = (attribute.defaultValue ?? .null).stored
    var count: Int64 = 0
    for row in try connection.rows(
      """
      SELECT \(column) FROM \(Schema.table(before))
      UNION ALL SELECT \(column) FROM \(Schema.original(before))
        WHERE _id NOT IN (SELECT _id FROM \(Schema.table(before)))
      """)
    where row[0] != .null && row[0] != usual && isLost(row[0]) { count += 1 }
    for row in try connection.rows(
      "SELECT content FROM ferry_kept WHERE entity = ?", .text(before.name))
    {
      guard let position = before.position(of: attribute.name), let text = row[0].text,
        let value = try migration.values(text, before)[position]?.stored
      else { continue }
      if value != .null, value != usual, isLost(value) { count += 1 }
    }
    return count
  }
}
