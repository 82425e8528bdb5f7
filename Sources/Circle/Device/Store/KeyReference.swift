import FerryModel

/// A relationship that leads to its target by the whole key, and where its attributes are.
package struct KeyReference {
  package let relationship: Relationship
  package let target: Entity
  /// Of this entity's attributes, in the order of the target's key.
  package let positions: [Int]

  /// Those of each entity.
  package static func all(in model: Package) -> [String: [KeyReference]] {
    var all: [String: [KeyReference]] = [:]
    for entity in model.entities {
      all[entity.name] = entity.relationships.compactMap { relationship in
        let positions = relationship.attributes.compactMap(entity.position(of:))
        guard let target = model.entity(named: relationship.target),
          relationship.refers(byKeyOf: target), positions.count == relationship.attributes.count
        else { return nil }
        return KeyReference(relationship: relationship, target: target, positions: positions)
      }
    }
    return all
  }

  /// Whether a part of the key is the device's own, until the business system gives another: of a new
  /// object, or of a line whose key has the one of its new order.
  package static func isTemporary(
    _ key: [AttributeValue], of entity: Entity, in model: Package, depth: Int = 0
  ) -> Bool {
    let looksSo = zip(entity.key, key).contains { entity.attributes[$0].type.isTemporaryKey($1) }
    guard looksSo, depth < 64 else { return false }
    guard entity.keyOrigin != .businessSystem else { return true }
    return entity.relationships.contains { relationship in
      guard let target = model.entity(named: relationship.target),
        relationship.refers(byKeyOf: target)
      else { return false }
      let places = relationship.attributes.compactMap { name in
        entity.key.firstIndex { entity.attributes[$0].name == name }
      }
      return places.count == target.key.count
        && isTemporary(places.map { key[$0] }, of: target, in: model, depth: depth + 1)
    }
  }
}
