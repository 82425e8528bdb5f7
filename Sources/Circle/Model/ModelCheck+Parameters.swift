extension ModelCheck {
  /// Each parameter has a name of its own, and each rule that names one finds it, in its type.
  mutating func checkParameters() {
    var seen: Set<String> = []
    var used: Set<String> = []
    for entity in draft.entities {
      guard case .columns(_, let columns) = entity.partition else { continue }
      for (attribute, source) in columns {
        guard case .parameter(let name, _) = source else { continue }
        used.insert(name)
        check(name, for: attribute, of: entity)
      }
    }
    for parameter in draft.parameters {
      guard let from = parameter.from else { continue }
      used.insert(from.content)
      check(from, of: parameter)
    }
    for parameter in draft.parameters {
      guard let name = parameter.name else { continue }
      if !ReservedName.isIdentifier(name.content) {
        findings.error(
          name.place, "the parameter name \"\(name.content)\" is not an identifier",
          cure: "Use letters, digits and underscores, a letter first.")
      } else if let clash = ReservedName.clashOfParameter(name.content) {
        findings.error(
          name.place, "the parameter name \"\(name.content)\" is \(clash)",
          cure: "Choose another name, for example \"\(name.content)_\".")
      }
      checkNoBig(parameter.type, name.place, "the parameter \"\(name.content)\"")
      if parameter.type?.hasElements == true {
        findings.error(
          name.place, "the parameter \"\(name.content)\" cannot be a list or a complex value",
          cure: "Give it one of the plain types.")
      }
      if !seen.insert(name.content.lowercased()).inserted {
        findings.error(
          name.place, "the parameter \"\(name.content)\" is written twice",
          cure: "Keep one of them.")
      }
      if used.contains(name.content), parameter.defaultValue == nil, parameter.from == nil,
        isOfRule(name.content)
      {
        let isKey = parameter.kind != nil && parameter.kind?.content != .synchronization
        findings.warning(
          name.place,
          "the parameter \"\(name.content)\" has no value before the app "
            + (isKey ? "sets it" : "saves a set with it") + ": until then no row comes by it",
          cure: isKey
            ? "Write \"default\" if rows are to come at once."
            : "Write \"default\", or \"from\" with a personalization key, if rows are to come at "
              + "once.")
      }
      if !used.contains(name.content) {
        findings.warning(
          name.place, "no partition rule names the parameter \"\(name.content)\"",
          cure:
            "Write \"parameter:\(name.content)\" for a column of a partition rule, or remove it.")
      }
    }
  }

  /// Whether a partition rule names it.
  private func isOfRule(_ name: String) -> Bool {
    draft.entities.contains { entity in
      guard case .columns(_, let columns) = entity.partition else { return false }
      return columns.contains { column in
        if case .parameter(let used, _) = column.source { used == name } else { false }
      }
    }
  }

  /// A set that does not name the parameter has the value of a personalization key.
  private mutating func check(_ from: Placed<String>, of parameter: DraftParameter) {
    let name = parameter.name?.content ?? ""
    if let kind = parameter.kind, kind.content != .synchronization {
      findings.error(
        from.place, "the personalization key \"\(name)\" cannot be taken from another one",
        cure: "Leave \"from\" out, or leave \"kind\" out.")
      return
    }
    let keys = draft.parameters.filter {
      $0.kind != nil && $0.kind?.content != .synchronization
    }
    guard let key = keys.first(where: { $0.name?.content == from.content }) else {
      findings.error(
        from.place, "the model has no personalization key \"\(from.content)\"",
        cure: keys.isEmpty
          ? "Write a parameter of the kind client, server or session."
          : NearestWord.cure(from.content, among: keys.compactMap { $0.name?.content }))
      return
    }
    if let type = parameter.type, let other = key.type, type != other {
      findings.error(
        from.place,
        "the parameter \"\(name)\" is \(type.rawValue), and the key \"\(from.content)\" is "
          + other.rawValue, cure: "Give both the same type.")
    }
    if let value = parameter.defaultValue, key.defaultValue != nil {
      findings.warning(
        value.place,
        "the default of \"\(name)\" is never used: the key \"\(from.content)\" has one",
        cure: "Remove one of them.")
    }
  }

  private mutating func check(
    _ name: String, for attribute: Placed<String>, of entity: DraftEntity
  ) {
    guard let parameter = draft.parameters.first(where: { $0.name?.content == name }) else {
      findings.error(
        attribute.place, "the model has no parameter \"\(name)\"",
        cure: NearestWord.cure(name, among: draft.parameters.compactMap { $0.name?.content }))
      return
    }
    guard let type = parameter.type, let own = entity.attribute(named: attribute.content)?.type,
      type != own
    else { return }
    findings.error(
      attribute.place,
      "\(entity.shownName).\(attribute.content) is \(own.rawValue), and the parameter \"\(name)\" "
        + "is \(type.rawValue)", cure: "Give both the same type.")
  }
}
