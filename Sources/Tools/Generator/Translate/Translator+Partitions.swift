import FerryModel

extension Translator {
  mutating func makePartitions() throws(GeneratorError) {
    for request in options.partitions {
      let index = try draftIndex(request.entity)
      guard drafts[index].partition == nil else {
        throw GeneratorError(
          "\(drafts[index].table.name) has two partition rules",
          hint: "Name all its columns in one: Table=A:claim:x,B:claim:y.")
      }
      var columns: [PartitionColumn] = []
      for (name, source) in request.columns {
        columns.append(
          PartitionColumn(attribute: try attribute(name, of: drafts[index]).name, source: source))
      }
      for column in columns where isNullable(column.attribute, of: drafts[index]) {
        notes.append(
          Note(
            .told,
            "\(drafts[index].table.name).\(self.column(column.attribute, of: drafts[index]))",
            "may be null, and the partition rule names it",
            cure: "Rows with null are in no partition and reach no device."))
      }
      drafts[index].partition = .columns(columns)
    }
    if !options.partitions.isEmpty { follow() }
  }

  private func attribute(_ name: String, of draft: EntityDraft) throws(GeneratorError) -> Attribute
  {
    if let position = draft.position(ofColumn: name) { return draft.attributes[position] }
    if let attribute = draft.attributes.first(where: { $0.name == name }) { return attribute }
    throw GeneratorError(
      "\(draft.table.name) has no column \"\(name)\"",
      hint: NearestWord.cure(name, among: draft.attributes.map(\.column)))
  }

  private func column(_ name: String, of draft: EntityDraft) -> String {
    draft.attributes.first { $0.name == name }?.column ?? name
  }

  private func isNullable(_ name: String, of draft: EntityDraft) -> Bool {
    draft.attributes.first { $0.name == name }?.isNullable ?? false
  }

  /// Every entity that refers to the key of one with a rule follows it, nearest first.
  private mutating func follow() {
    var changed = true
    while changed {
      changed = false
      let before = drafts
      for index in drafts.indices where before[index].partition == nil {
        guard let first = paths(from: before[index], in: before).first else { continue }
        drafts[index].partition = .through(relationship: first.name)
        changed = true
      }
    }
    for draft in drafts {
      switch draft.partition {
      case .columns: break
      case .through(let name): tellOtherPaths(of: draft, chosen: name)
      case nil: tellNullablePaths(of: draft)
      }
    }
  }

  /// The relationships that a row's partition may follow.
  private func paths(from draft: EntityDraft, in drafts: [EntityDraft]) -> [Relationship] {
    draft.relationships.filter { relationship in
      guard let target = drafts.first(where: { $0.name == relationship.target }) else {
        return false
      }
      return target.partition != nil && target.name != draft.name && target.group == draft.group
        && relationship.targetAttributes == target.keyNames
        && !relationship.attributes.contains { isNullable($0, of: draft) }
        && !leads(from: target, to: draft.name, in: drafts)
    }
  }

  private func leads(from start: EntityDraft, to name: String, in drafts: [EntityDraft]) -> Bool {
    var current = start
    for _ in drafts {
      if current.name == name { return true }
      guard case .through(let step) = current.partition,
        let target = current.relationships.first(where: { $0.name == step })?.target,
        let next = drafts.first(where: { $0.name == target })
      else { return false }
      current = next
    }
    return false
  }

  private mutating func tellOtherPaths(of draft: EntityDraft, chosen: String) {
    let others = paths(from: draft, in: drafts).map(\.name).filter { $0 != chosen }
    guard !others.isEmpty else { return }
    notes.append(
      Note(
        .told, draft.table.name,
        "follows \"\(chosen)\" for its partition and could follow \(others.joined(separator: ", "))",
        cure: "If that is wrong, change \"through\" in the model."))
  }

  private mutating func tellNullablePaths(of draft: EntityDraft) {
    for relationship in draft.relationships {
      guard let target = drafts.first(where: { $0.name == relationship.target }),
        target.partition != nil, target.name != draft.name
      else { continue }
      let reason =
        if target.group != draft.group {
          "is in another group"
        } else if relationship.targetAttributes != target.keyNames {
          "does not refer to its key"
        } else {
          "may refer to none"
        }
      notes.append(
        Note(
          .told, draft.table.name,
          "refers to \(target.table.name) by \"\(relationship.name)\" but \(reason), so it does not "
            + "follow its partition",
          cure: "Everyone gets all its rows. If that is wrong, give it a rule."))
    }
  }
}
