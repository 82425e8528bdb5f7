import FerryModel

extension EntityRenderer {
  /// Whether the business system assigns the key that the attribute is, or that it refers to.
  func isAssigned(_ position: Int) -> Bool {
    let isKey = entity.keyOrigin == .businessSystem && entity.key.contains(position)
    return isKey && !entity.isOperation || package.refersToGivenKey(entity, position)
  }
}

extension Package {
  /// Whether the attribute refers, perhaps over several entities, to a key that the business system
  /// assigns.
  func refersToGivenKey(_ entity: Entity, _ position: Int) -> Bool {
    var seen: Set<[String]> = []
    return refersToGivenKey(entity, position, &seen)
  }

  private func refersToGivenKey(
    _ entity: Entity, _ position: Int, _ seen: inout Set<[String]>
  ) -> Bool {
    let name = entity.attributes[position].name
    guard seen.insert([entity.name, name]).inserted else { return false }
    for relationship in entity.relationships {
      guard let target = self.entity(named: relationship.target) else { continue }
      for (own, other) in zip(relationship.attributes, relationship.targetAttributes)
      where own == name {
        guard let place = target.position(of: other) else { continue }
        if target.keyOrigin == .businessSystem, target.key.contains(place) { return true }
        if refersToGivenKey(target, place, &seen) { return true }
      }
    }
    return false
  }
}
