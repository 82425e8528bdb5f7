import FerryModel

extension Translator {
  /// Attributes have their names already; then relationships take theirs, then inverses.
  mutating func makeRelationships() {
    for index in drafts.indices {
      for foreignKey in drafts[index].table.foreignKeys { makeRelationship(foreignKey, of: index) }
    }
    makeInverses()
  }

  private mutating func makeRelationship(_ foreignKey: DatabaseSchema.ForeignKey, of index: Int) {
    let draft = drafts[index]
    let columns = foreignKey.columns.joined(separator: ", ")
    let subject = "\(draft.table.name).\(columns)"
    let leaveOut = { (what: String, cure: String) in
      Note(.leftOut, subject, "its foreign key to \(foreignKey.target) \(what)", cure: cure)
    }
    guard
      let target = drafts.first(where: { $0.table.name == foreignKey.target })
        ?? drafts.first(where: {
          $0.table.name.lowercased() == foreignKey.target.lowercased()
        })
    else {
      let isThere = schema.table(named: foreignKey.target) != nil
      notes.append(
        isThere
          ? leaveOut("leads to a table that was left out", "Correct that table first.")
          : leaveOut("leads to a table that does not exist", "Make the table, or drop the key."))
      return
    }
    let from = foreignKey.columns.compactMap(draft.position(ofColumn:))
    let to = foreignKey.targetColumns.compactMap(target.position(ofColumn:))
    guard from.count == foreignKey.columns.count, to.count == from.count else {
      notes.append(
        leaveOut("names columns that are not in the model", "Correct those columns first."))
      return
    }
    guard Set(to) == Set(target.key) || target.unique.contains(where: { Set($0) == Set(to) }) else {
      notes.append(
        leaveOut(
          "leads to columns that are neither its key nor unique",
          "Make (\(foreignKey.targetColumns.joined(separator: ", "))) unique there."))
      return
    }
    for (source, destination) in zip(from, to)
    where draft.attributes[source].type != target.attributes[destination].type {
      notes.append(
        leaveOut(
          "compares a \(draft.attributes[source].type.rawValue) with a "
            + target.attributes[destination].type.rawValue,
          "Give both columns the same type and values of that type."))
      return
    }
    // In the order of the target's key, so that its values make a key as they stand.
    var pairs = Array(zip(from, to))
    if Set(to) == Set(target.key) {
      pairs.sort {
        (target.key.firstIndex(of: $0.1) ?? 0) < (target.key.firstIndex(of: $1.1) ?? 0)
      }
    }
    let relationship = Relationship(
      name: Naming.free(
        relationshipName(foreignKey, from: draft, to: target), taken: &drafts[index].members,
        clash: ReservedName.clashOfMember),
      target: target.name, attributes: pairs.map { draft.attributes[$0.0].name },
      targetAttributes: pairs.map { target.attributes[$0.1].name })
    drafts[index].relationships.append(relationship)
  }

  /// `CustomerID` -> `customer`; else the target; of two that lead there, column and target.
  private func relationshipName(
    _ foreignKey: DatabaseSchema.ForeignKey, from draft: EntityDraft, to target: EntityDraft
  ) -> String {
    let targetName = Naming.lowerLead(target.name)
    guard foreignKey.columns.count == 1,
      let position = draft.position(ofColumn: foreignKey.columns[0])
    else { return targetName }
    let name = draft.attributes[position].name
    if let stem = stem(name), !draft.members.contains(stem.lowercased()) { return stem }
    let isSelf = draft.table.name == target.table.name
    if isSelf || draft.members.contains(targetName.lowercased()) {
      return name + Naming.upperFirst(target.name)
    }
    return targetName
  }

  private func stem(_ name: String) -> String? {
    for suffix in ["ID", "Id"] where name.hasSuffix(suffix) && name.count > suffix.count {
      return String(name.dropLast(suffix.count))
    }
    return nil
  }

  /// What many objects of an entity are called: the table's name if that is a plural already.
  private func many(_ draft: EntityDraft) -> String {
    let isNamed = options.entities.contains { $0.name == draft.name }
    let table = Naming.memberName(draft.table.name, fallback: draft.name)
    return isNamed && Naming.isPlural(table)
      ? table : Naming.plural(Naming.lowerLead(draft.name))
  }

  private mutating func makeInverses() {
    for index in drafts.indices {
      let draft = drafts[index]
      for (number, relationship) in draft.relationships.enumerated() {
        guard let target = drafts.firstIndex(where: { $0.name == relationship.target }) else {
          continue
        }
        let siblings = draft.relationships.filter { $0.target == relationship.target }.count
        var name = draft.isOneToOne(relationship) ? Naming.lowerLead(draft.name) : many(draft)
        if siblings > 1 || target == index {
          name +=
            "By" + Naming.upperFirst(stem(relationship.attributes[0]) ?? relationship.attributes[0])
        }
        let inverse = Naming.free(
          name, taken: &drafts[target].members, clash: ReservedName.clashOfMember)
        drafts[index].relationships[number] = Relationship(
          name: relationship.name, target: relationship.target, attributes: relationship.attributes,
          targetAttributes: relationship.targetAttributes, inverse: inverse)
      }
    }
  }
}
