import FerryModel

/// Keys that the business system assigns: a screen shows them when they are assigned.
extension EntityRenderer {
  /// `assignedBookingID` beside `bookingID`, unless the model has a member of that name.
  var assignedKeys: [String] {
    guard entity.keyOrigin == .businessSystem, !entity.isOperation else { return [] }
    let given = Set(entity.relationships.flatMap(\.attributes))
    return entity.key.compactMap { position in
      let attribute = entity.attributes[position]
      let name = "assigned" + Naming.upperFirst(attribute.name)
      guard !given.contains(attribute.name), !hasMember(name) else { return nil }
      return """
        /// `\(attribute.name)` when the business system has assigned it, and nil before: a new object has a
        /// temporary \(attribute.name), which no user should see.
        public var \(name): \(SwiftLiteral.type(of: attribute))? { record.assigned(\(position)) }
        """
    }
  }

  private func hasMember(_ name: String) -> Bool {
    let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    return (names + referring.map(\.inverse) + entity.queries.map(\.name)).contains(name)
  }
}
