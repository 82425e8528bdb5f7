extension ModelCheck {
  mutating func checkPartition(_ entity: DraftEntity) {
    switch entity.partition {
    case nil: break
    case .columns(let place, let columns): checkColumns(columns, place, of: entity)
    case .through(let name): checkThrough(name, of: entity)
    }
  }

  private mutating func checkColumns(
    _ columns: [(attribute: Placed<String>, source: PartitionSource?)], _ place: ModelPlace,
    of entity: DraftEntity
  ) {
    if columns.isEmpty {
      findings.error(
        place, "the partition rule of \(entity.shownName) names no column",
        cure: "Name at least one attribute, or remove \"partition\" to give everyone all rows.")
    }
    var seen: Set<String> = []
    for (name, source) in columns {
      if entity.attribute(named: name.content) == nil { unknownAttribute(name, of: entity) }
      if case .constant(let text) = source,
        let type = entity.attribute(named: name.content)?.type, type.value(plainText: text) == nil
      {
        findings.error(
          name.place,
          "\(entity.shownName).\(name.content) is \(type.rawValue), and \"constant:\(text)\" is no "
            + "such value: no row would be in the partition",
          cure: "Write a value of its type.")
      }
      if !seen.insert(name.content).inserted {
        findings.error(
          name.place, "\"\(name.content)\" is twice in the partition rule", cure: "Keep it once.")
      }
      if case .parameter(let parameter, within: nil) = source {
        findings.warning(
          name.place,
          "the device chooses \(entity.shownName).\(name.content): any user may ask for any "
            + "\(parameter)",
          cure: "If that is not meant, write \"parameter:\(parameter) within claim:<name>\".")
      }
      if source == .open {
        findings.warning(
          name.place, "\(entity.shownName).\(name.content) is open: any user may ask for any value",
          cure: "If that is not meant, write \"claim:<name>\".")
      }
    }
  }

  /// Follows the rules from object to object until one names columns.
  private mutating func checkThrough(_ first: Placed<String>, of start: DraftEntity) {
    var entity = start
    var name = first
    var visited: Set<String> = []
    while true {
      visited.insert(entity.shownName)
      guard let relationship = entity.relationship(named: name.content) else {
        guard entity.shownName == start.shownName else { return }
        findings.error(
          name.place, "\(entity.shownName) has no relationship \"\(name.content)\" to follow",
          cure: NearestWord.cure(
            name.content, among: entity.relationships.compactMap { $0.name?.content }))
        return
      }
      guard let target = relationship.target.flatMap({ draft.entity(named: $0.content) }) else {
        return
      }
      if entity.shownName == start.shownName {
        checkStep(relationship, from: start, to: target, first)
      }
      if visited.contains(target.shownName) {
        findings.error(
          first.place,
          "the partition rule of \(start.shownName) runs in a circle, back to \(target.shownName)",
          cure: "One entity of the circle must name columns.")
        return
      }
      switch target.partition {
      case nil:
        guard entity.shownName == start.shownName else { return }
        findings.error(
          first.place,
          "the partition rule of \(start.shownName) follows \(target.shownName), which has no "
            + "partition rule",
          cure: "Give \(target.shownName) a rule, or remove this one.")
        return
      case .columns: return
      case .through(let next):
        entity = target
        name = next
      }
    }
  }

  private mutating func checkStep(
    _ relationship: DraftRelationship, from entity: DraftEntity, to target: DraftEntity,
    _ place: Placed<String>
  ) {
    let targets = relationship.targetAttributes ?? target.key
    if !target.key.isEmpty, Set(targets.map(\.content)) != Set(target.key.map(\.content)) {
      findings.error(
        place.place,
        "the partition rule of \(entity.shownName) follows \"\(place.content)\", which does not lead "
          + "to the key of \(target.shownName)",
        cure: "Follow a relationship to the key.")
    }
    for name in relationship.attributes
    where entity.attribute(named: name.content)?.isNullable == true {
      findings.warning(
        place.place,
        "\(entity.shownName).\(name.content) may be null: such rows are in no partition, and no "
          + "device gets them",
        cure: "Follow a relationship that every row has, if there is one.")
    }
    if entity.group.content != target.group.content {
      findings.error(
        place.place,
        "\(entity.shownName) follows the partition of \(target.shownName), which is in another group",
        cure: "Put both entities into one group.")
    }
  }
}
