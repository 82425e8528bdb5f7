import FerryJSON
import FerryModel
import FerrySQLite

/// The values that a newer model gives to new objects, for those that were created under an older
/// one and still wait.
struct MigrationDefaults {
  let old: Package
  let new: Package
  let connection: Connection

  /// A pending create has, shows and sends what it would have if it were made now.
  func giveToCreates() throws {
    for row in try connection.rows(
      """
      SELECT sequence, entity, object, changed FROM ferry_operation
      WHERE kind = 'create' AND state IN ('waiting', 'replayFailed') ORDER BY sequence
      """)
    {
      guard let name = row[1].text, let entity = new.entity(named: name) else { continue }
      var changed = try Array((row[3].text ?? "{}").utf8).withUnsafeBufferPointer { buffer in
        var scanner = JSONScanner(buffer)
        return try scanner.values(of: entity)
      }
      let given = self.given(to: entity).filter { changed[$0.key] == nil }
      guard !given.isEmpty else { continue }
      for (position, value) in given {
        changed[position] = value
        let column = quoted(entity.attributes[position].name)
        try connection.run(
          "UPDATE \(Schema.table(entity)) SET \(column) = ? WHERE _id = ? AND \(column) IS NULL",
          value.stored, row[2])
      }
      var writer = JSONWriter()
      writer.values(changed, of: entity)
      try connection.run(
        "UPDATE ferry_operation SET changed = ? WHERE sequence = ?", .text(writer.text), row[0])
    }
  }

  /// Defaults that were not there for who created before, or that a value is now needed for.
  private func given(to entity: Entity) -> [Int: AttributeValue] {
    guard let before = old.entity(named: entity.name) else { return [:] }
    var given: [Int: AttributeValue] = [:]
    for (position, attribute) in entity.attributes.prefix(entity.servedCount).enumerated() {
      let isNew = before.position(of: attribute.name) == nil
      if isNew || !attribute.isNullable { given[position] = attribute.defaultValue }
    }
    return given
  }
}

extension Attribute {
  /// The value of a required attribute where no value is known.
  var requiredDefault: AttributeValue? { isNullable ? nil : defaultValue }
}
