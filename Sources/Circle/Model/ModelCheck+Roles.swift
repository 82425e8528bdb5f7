extension ModelCheck {
  /// The package's roles: each once, each named by an entity.
  mutating func checkRoles() {
    var seen: Set<ExactText> = []
    let used = Set(
      draft.entities.flatMap(\.roles).flatMap(\.roles).map { ExactText($0.content) })
    for role in draft.roles {
      if !seen.insert(ExactText(role.content)).inserted {
        findings.error(
          role.place, "the role \"\(role.content)\" is written twice", cure: "Keep one of them.")
      } else if !used.contains(ExactText(role.content)) {
        findings.warning(
          role.place, "no entity names the role \"\(role.content)\"",
          cure: "Name it in the \"roles\" of an entity, or remove it.")
      }
    }
  }

  /// What an entity says of roles can be asked for, and somebody may do it.
  mutating func checkRoles(_ entity: DraftEntity) {
    for entry in entity.roles {
      checkNames(entry, entity)
      if let problem = uselessness(of: entry.permission, entity) {
        findings.error(entry.place, problem.what, cure: problem.cure)
      }
    }
    guard let readers = entity.roles.first(where: { $0.permission == .read }),
      !readers.roles.isEmpty
    else { return }
    let known = Set(readers.roles.map { ExactText($0.content) })
    for entry in entity.roles where entry.permission != .read {
      for role in entry.roles where !known.contains(ExactText(role.content)) {
        findings.warning(
          role.place,
          "\"\(role.content)\" may \(entry.permission.rawValue) \(entity.shownName) but not read "
            + "it: a user with no other role is refused",
          cure: "Add it to \"read\", unless all its users have another role that may read.")
      }
    }
  }

  private mutating func checkNames(_ entry: DraftPermission, _ entity: DraftEntity) {
    let verb = entry.permission.rawValue
    if entry.roles.isEmpty {
      findings.error(
        entry.place, "nobody may \(verb) \(entity.shownName): \"\(verb)\" names no role",
        cure: entry.permission == .read
          ? "Name at least one role, or remove the entity."
          : "Name at least one role, or take \"\(verb)\" from \"operations\".")
    }
    var seen: Set<ExactText> = []
    for role in entry.roles {
      if !draft.roles.contains(where: { $0.content.hasBytes(of: role.content) }) {
        findings.error(
          role.place, "the model has no role \"\(role.content)\"",
          cure: draft.roles.isEmpty
            ? "List the package's roles: \"roles\": [\"\(role.content)\"] beside \"entities\"."
            : NearestWord.cure(role.content, among: draft.roles.map(\.content)))
      }
      if !seen.insert(ExactText(role.content)).inserted {
        findings.error(
          role.place, "\"\(role.content)\" is written twice", cure: "Keep one of them.")
      }
    }
  }

  private func uselessness(
    of permission: Permission, _ entity: DraftEntity
  ) -> (what: String, cure: String)? {
    let name = entity.shownName
    if entity.isClientOnly {
      return ("\(name) stays on the device and names roles", "Remove \"roles\".")
    }
    if entity.performs != nil {
      guard permission != .perform else { return nil }
      return (
        "\(name) is performed: it has no \"\(permission.rawValue)\" for roles",
        "Write \"perform\" in its place."
      )
    }
    if permission == .perform {
      return (
        "\(name) has rows and is not performed", "Write \"create\", \"update\" or \"delete\"."
      )
    }
    if let kind = OperationKind(rawValue: permission.rawValue), !entity.operations.contains(kind) {
      return (
        "\(name) has no \(kind.rawValue) operation, so no role may do it",
        "Add it to \"operations\", or remove it here."
      )
    }
    return nil
  }
}
