import FerryModel

/// Keys that the business system assigns, and references to them: a screen shows them when they are
/// assigned.
extension EntityRenderer {
  /// `assignedBookingID` beside `bookingID`, and `assignedCustomerID` beside a `customerID` that
  /// refers to such a key, unless the model has a member of that name.
  var assignedKeys: [String] {
    guard !entity.isOperation else { return [] }
    return entity.attributes.indices.compactMap { position in
      let attribute = entity.attributes[position]
      let name = assignedName(position)
      guard let name else { return nil }
      let type = SwiftLiteral.type(attribute.type)
      guard package.refersToGivenKey(entity, position) else {
        return """
          /// `\(attribute.name)` when the business system has assigned it, and nil before: a new object has a
          /// temporary \(attribute.name), which no user should see.
          public var \(name): \(type)? { record.assigned(\(position)) }
          """
      }
      return """
        /// `\(attribute.name)` when the business system has assigned the key that it refers to, and nil
        /// before: a new object has a temporary key, which no user should see.
        public var \(name): \(type)? { record.assignedReference(\(position)) }
        """
    }
  }

  /// The name of the property without temporary values; nil where there are none, or where the model
  /// uses the name.
  func assignedName(_ position: Int) -> String? {
    guard !entity.isOperation else { return nil }
    let isGiven = entity.keyOrigin == .businessSystem && entity.key.contains(position)
    guard isGiven || package.refersToGivenKey(entity, position) else { return nil }
    let name = "assigned" + Naming.upperFirst(entity.attributes[position].name)
    return hasMember(name) ? nil : name
  }

  private func hasMember(_ name: String) -> Bool {
    let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    return (names + referring.map(\.inverse) + entity.queries.map(\.name)).contains(name)
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
