import FerryModel
import FerrySQLite

/// A test by a temporary key finds its object also when the business system has given it another.
extension QueryWriter {
  func isTemporary(_ value: AttributeValue, _ type: AttributeType?) -> Bool {
    guard let type, let value = type.comparable(value) else { return false }
    return type.isTemporaryKey(value)
  }

  /// The test that `item` has a key that replaced one of `values`; nil where none is temporary.
  mutating func replaced(
    _ item: SelectItem, _ sql: String, _ type: AttributeType?, _ values: [AttributeValue]
  ) throws(FerryError) -> String? {
    // Few values are temporary keys: that is asked first.
    let temporary = values.compactMap { value in
      isTemporary(value, type) ? type?.comparable(value) : nil
    }
    guard !temporary.isEmpty, case .attribute(let source, let name, let attribute) = item.content,
      let entity = try self.attribute(source, name, attribute).0.entity,
      let position = entity.position(of: attribute)
    else { return nil }
    let tests = givers(of: entity, position).map { giver, part in
      test(sql, temporary, giver, part)
    }
    return tests.isEmpty ? nil : tests.joined(separator: " OR ")
  }

  /// Whose keys the values of an attribute are, and which part of them.
  private func givers(
    of entity: Entity, _ position: Int, depth: Int = 0
  ) -> [(entity: Entity, part: Int)] {
    let name = entity.attributes[position].name
    var givers: [(entity: Entity, part: Int)] = []
    // A part of a part of a part: a model that goes deeper than this goes in a circle.
    for relationship in entity.relationships where depth < 16 {
      guard let part = relationship.attributes.firstIndex(of: name),
        let target = model.entity(named: relationship.target), relationship.refers(byKeyOf: target)
      else { continue }
      givers += self.givers(of: target, target.key[part], depth: depth + 1)
    }
    if let part = entity.key.firstIndex(of: position),
      givers.isEmpty || entity.keyOrigin == .businessSystem
    {
      givers.append((entity, part))
    }
    return givers
  }

  private mutating func test(
    _ sql: String, _ values: [AttributeValue], _ giver: Entity, _ part: Int
  ) -> String {
    var old = "ferry_alias.old_key"
    var wanted = values.map { AttributeValue.text(ObjectKey([$0]).text).stored }
    if giver.key.count > 1 {
      old = "json_extract('[' || \(old) || ']', '$[\(part)]')"
      wanted = values.map(\.stored)
    }
    parameters.append(.text(giver.name))
    parameters.append(.optional(SQLiteValue.list(wanted)))
    let column = quoted(giver.attributes[giver.key[part]].name)
    // The image, where the object's delete is pending.
    return """
      \(sql) IN (SELECT coalesce(ferry_now.\(column), ferry_before.\(column)) FROM ferry_alias
      LEFT JOIN \(Schema.table(giver)) AS ferry_now ON ferry_now._id = ferry_alias.object
      LEFT JOIN \(Schema.original(giver)) AS ferry_before ON ferry_before._id = ferry_alias.object
      WHERE ferry_alias.entity = ? AND \(old) IN (SELECT value FROM json_each(?)))
      """
  }
}
