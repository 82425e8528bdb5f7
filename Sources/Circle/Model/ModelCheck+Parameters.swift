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
      if !used.contains(name.content) {
        findings.warning(
          name.place, "no partition rule names the parameter \"\(name.content)\"",
          cure:
            "Write \"parameter:\(name.content)\" for a column of a partition rule, or remove it.")
      }
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
