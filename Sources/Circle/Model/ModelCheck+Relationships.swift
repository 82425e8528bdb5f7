extension ModelCheck {
  mutating func check(_ relationship: DraftRelationship, of entity: DraftEntity) {
    let shown = "\(entity.shownName).\(relationship.name?.content ?? "?")"
    for name in relationship.attributes where entity.attribute(named: name.content) == nil {
      unknownAttribute(name, of: entity)
    }
    guard let targetName = relationship.target else { return }
    guard let target = draft.entity(named: targetName.content) else {
      findings.error(
        targetName.place, "\(shown) leads to \"\(targetName.content)\", which is not an entity",
        cure: NearestWord.cure(
          targetName.content, among: draft.entities.compactMap { $0.name?.content }))
      return
    }
    let targets = relationship.targetAttributes ?? target.key
    for name in relationship.targetAttributes ?? []
    where target.attribute(named: name.content) == nil {
      unknownAttribute(name, of: target)
    }
    if relationship.attributes.count != targets.count {
      findings.error(
        relationship.place,
        "\(shown) has \(relationship.attributes.count) attributes for \(targets.count) of "
          + target.shownName,
        cure: "Name as many \"attributes\" as \"targetAttributes\", in the same order.")
    } else {
      checkTypes(relationship, from: entity, to: target, targets, shown)
    }
    checkUniqueness(relationship, target, targets, shown)
    if entity.group.content != target.group.content {
      findings.warning(
        relationship.place,
        "\(shown) leads from group \"\(entity.group.content)\" to \"\(target.group.content)\", which "
          + "are not imported together: the object it leads to may not be there yet",
        cure: "Put both entities into one group, or be ready for nil.")
    }
  }

  private mutating func checkTypes(
    _ relationship: DraftRelationship, from entity: DraftEntity, to target: DraftEntity,
    _ targets: [Placed<String>], _ shown: String
  ) {
    for (name, other) in zip(relationship.attributes, targets) {
      guard let type = entity.attribute(named: name.content)?.type,
        let otherType = target.attribute(named: other.content)?.type, type != otherType
      else { continue }
      findings.error(
        name.place,
        "\(shown) compares \(name.content), a \(type.rawValue), with \(target.shownName)."
          + "\(other.content), a \(otherType.rawValue)",
        cure: "Give both the same type.")
    }
  }

  private mutating func checkUniqueness(
    _ relationship: DraftRelationship, _ target: DraftEntity, _ targets: [Placed<String>],
    _ shown: String
  ) {
    guard !target.key.isEmpty else { return }
    let names = Set(targets.map(\.content))
    guard names.isSubset(of: Set(target.attributeNames)) else { return }
    let known = ([target.key] + target.unique).map { Set($0.map(\.content)) }
    guard !known.contains(names) else { return }
    findings.error(
      relationship.targetAttributes?.first?.place ?? relationship.place,
      "\(shown) leads to attributes of \(target.shownName) that are neither its key nor unique",
      cure:
        "Lead it to the key, or declare them in \"unique\" if the business system keeps them so.")
  }
}
