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
}
