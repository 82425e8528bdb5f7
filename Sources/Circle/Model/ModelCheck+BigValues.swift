extension ModelCheck {
  /// A big value is written into an object that is saved, so a new one has none yet; and it is
  /// known by its reference, which nothing but its row may stand on.
  mutating func checkBig(_ attribute: DraftAttribute, of entity: DraftEntity) {
    let name = attribute.name?.content ?? "?"
    let shown = "\(entity.shownName).\(name)"
    if !attribute.isNullable {
      findings.error(
        attribute.place, "\(shown) is a big value, which a new object does not have yet",
        cure: "Add \"nullable\": true; the business system may still insist on one.")
    }
    if let value = attribute.defaultValue {
      findings.error(
        value.place, "\(shown) is a big value and has a default", cure: "Remove \"default\".")
    }
    if entity.performs != nil {
      findings.error(
        attribute.place,
        "\(entity.shownName) has \"performs\" and cannot have the big value \(name)",
        cure: "Move the big value to an entity with rows, and give this entity that object's key."
      )
    }
    var uses: [String] = []
    if entity.key.contains(where: { $0.content == name }) { uses.append("its key") }
    if entity.unique.contains(where: { $0.contains { $0.content == name } }) {
      uses.append("\"unique\"")
    }
    if entity.relationships.contains(where: { $0.attributes.contains { $0.content == name } }) {
      uses.append("a relationship")
    }
    if case .columns(_, let columns) = entity.partition,
      columns.contains(where: { $0.attribute.content == name })
    {
      uses.append("its partition rule")
    }
    for use in uses {
      findings.error(
        attribute.place, "\(shown) is a big value, and \(use) of \(entity.shownName) names it",
        cure: "Name an attribute of another type there.")
    }
  }

  /// Big values are attributes of entities and of nothing else.
  mutating func checkNoBig(_ type: AttributeType?, _ place: ModelPlace, _ subject: String) {
    guard let type, type.isBig else { return }
    findings.error(
      place, "\(subject) cannot be a \(type.rawValue)",
      cure: "Only attributes of entities are big; choose another type.")
  }
}
