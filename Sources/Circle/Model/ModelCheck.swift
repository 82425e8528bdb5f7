/// The rules that a well-formed model must keep; notes every breach.
struct ModelCheck {
  let draft: ModelDraft
  var findings: ModelFindings
  /// Whether the database tells names apart by their case alone, as PostgreSQL does and SQLite does
  /// not.
  var areNamesExact: Bool = false
  /// Whether the machine knows a time zone.
  var isZone: (String) -> Bool = { _ in true }

  /// The name of a table or column as the database compares it.
  func folded(_ name: String) -> String { areNamesExact ? name : name.lowercased() }

  mutating func run() {
    checkPackage()
    checkGroups()
    checkEntityNames()
    for entity in draft.entities {
      checkAttributes(entity)
      checkKey(entity)
      checkUnique(entity)
      for relationship in entity.relationships { check(relationship, of: entity) }
      checkPartition(entity)
      checkWindow(entity)
      checkRoles(entity)
      checkClientOnly(entity)
      checkPerforms(entity)
      checkQueries(entity)
      checkComposite(entity)
      checkConnection(entity)
    }
    checkComplexTypes()
    checkMembers()
    checkParameters()
    checkRoles()
  }

  private mutating func checkPackage() {
    if let name = draft.name {
      checkTypeName(name, subject: "the package")
      if let entity = draft.entities.first(where: {
        $0.name?.content.lowercased() == name.content.lowercased()
      }) {
        findings.error(
          name.place, "package and entity \(entity.shownName) would be the same Swift type",
          cure: "Rename one of them; an entity keeps its table by \"table\".")
      }
    }
    if let version = draft.version, !isVersion(version.content) {
      findings.error(
        version.place, "\"\(version.content)\" is not a version",
        cure: "Write major.minor, two numbers without leading zeros, for example \"1.0\".")
    }
    if draft.entities.isEmpty {
      findings.error(
        draft.place, "the model has no entity", cure: "Add at least one to \"entities\".")
    }
  }

  private func isVersion(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 2
      && parts.allSatisfy { part in
        part.utf8.allSatisfy { (48...57).contains($0) } && (1...9).contains(part.utf8.count)
          && (part == "0" || part.first != "0")
      }
  }

  private mutating func checkGroups() {
    var seen: [String: String] = [:]
    for group in draft.groups {
      if let other = seen.updateValue(group.content, forKey: group.content.lowercased()) {
        findings.error(
          group.place, "group \"\(group.content)\" is written twice\(byCase(group.content, other))",
          cure: "Keep one of them.")
      }
      if !ReservedName.isIdentifier(group.content) {
        findings.error(
          group.place, "group name \"\(group.content)\" is not an identifier",
          cure: "Use letters, digits and underscores, a letter first.")
      }
      if !draft.entities.contains(where: { $0.group.content == group.content }) {
        findings.warning(
          group.place, "group \"\(group.content)\" has no entity",
          cure: "Remove it, or name it as the \"group\" of an entity.")
      }
    }
    if draft.groups.isEmpty {
      findings.error(
        draft.place, "the model has no synchronization group",
        cure: "Write \"groups\": [\"default\"], or leave \"groups\" out.")
    }
    let names = draft.groups.map(\.content)
    for entity in draft.entities where !names.contains(entity.group.content) {
      findings.error(
        entity.group.place,
        "entity \(entity.shownName) is in the unknown group \"\(entity.group.content)\"",
        cure: NearestWord.cure(entity.group.content, among: names))
    }
  }

  private mutating func checkEntityNames() {
    var names: [String: String] = [:]
    var tables: [String: String] = [:]
    for entity in draft.entities {
      if let name = entity.name {
        checkTypeName(name, subject: "an entity")
        if let other = names.updateValue(name.content, forKey: name.content.lowercased()) {
          findings.error(
            name.place, "entity \(name.content) is written twice\(byCase(name.content, other))",
            cure: "Rename one of them; an entity keeps its table by \"table\".")
        }
      }
      let table = folded(entity.table.content)
      if let other = tables.updateValue(entity.shownName, forKey: table) {
        findings.warning(
          entity.table.place, "entities \(other) and \(entity.shownName) name the same table",
          cure: "Keep one: a change of one is not visible in the other until it was replayed.")
      }
      if entity.operations.isEmpty { continue }
      if entity.operations == [.delete] {
        findings.warning(
          entity.place,
          "objects of \(entity.shownName) can be deleted but neither made nor changed",
          cure: "Check \"operations\": add create or update if they were forgotten.")
      }
    }
  }

  mutating func checkTypeName(_ name: Placed<String>, subject: String) {
    if !ReservedName.isIdentifier(name.content) {
      findings.error(
        name.place, "the name \"\(name.content)\" of \(subject) is not an identifier",
        cure:
          "Use letters, digits and underscores, a letter first; \"table\" keeps the table's name.")
    } else if let clash = ReservedName.clashOfType(name.content) {
      findings.error(
        name.place, "the name \"\(name.content)\" of \(subject) is \(clash)",
        cure: "Choose another name, for example \"\(name.content)_\".")
    }
  }

  /// Names of attributes, relationships and inverses share one name space per entity.
  private mutating func checkMembers() {
    for entity in draft.entities {
      var members: [(name: Placed<String>, kind: String)] = []
      for attribute in entity.attributes {
        if let name = attribute.name { members.append((name, "attribute")) }
      }
      for relationship in entity.relationships {
        if let name = relationship.name {
          members.append((name, "relationship"))
          let setter = "set" + name.content.prefix(1).uppercased() + name.content.dropFirst()
          members.append((Placed(content: setter, place: name.place), "setter of a relationship"))
        }
      }
      for query in entity.queries {
        if let name = query.name { members.append((name, "query")) }
      }
      for other in draft.entities {
        for relationship in other.relationships
        where relationship.target?.content == entity.name?.content {
          if let name = relationship.inverse {
            members.append((name, "inverse of a relationship of \(other.shownName)"))
          }
        }
      }
      checkMembers(members, of: entity)
    }
  }

  private mutating func checkMembers(
    _ members: [(name: Placed<String>, kind: String)], of entity: DraftEntity
  ) {
    var seen: [String: (name: String, kind: String)] = [:]
    for (name, kind) in members {
      if !ReservedName.isIdentifier(name.content) {
        findings.error(
          name.place, "the \(kind) name \"\(name.content)\" is not an identifier",
          cure: "Use letters, digits and underscores, a letter first.")
      } else if let clash = kind == "query"
        ? ReservedName.clashOfQuery(name.content) : ReservedName.clashOfMember(name.content)
      {
        findings.error(
          name.place, "the \(kind) name \"\(name.content)\" is \(clash)",
          cure: "Choose another name, for example \"\(name.content)_\".")
      }
      if let other = seen.updateValue((name.content, kind), forKey: name.content.lowercased()) {
        findings.error(
          name.place,
          "\(entity.shownName) has \"\(name.content)\" twice: \(other.kind), \(kind)"
            + byCase(name.content, other.name),
          cure: "Rename one of them.")
      }
    }
  }

  private func byCase(_ name: String, _ other: String) -> String {
    name == other ? "" : " (\"\(other)\" differs only by case)"
  }
}
