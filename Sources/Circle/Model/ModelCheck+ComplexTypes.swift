extension ModelCheck {
  mutating func checkComplexTypes() {
    var names: Set<String> = []
    for type in draft.types {
      guard let name = type.name else { continue }
      checkTypeName(name, subject: "a complex type")
      let isTaken =
        draft.entity(named: name.content) != nil || draft.name?.content == name.content
      if isTaken || !names.insert(name.content).inserted {
        findings.error(
          name.place, "\"\(name.content)\" is the name of another type", cure: "Rename one of them."
        )
      }
      checkParts(of: type, name.content)
    }
  }

  private mutating func checkParts(of type: DraftComplexType, _ name: String) {
    if type.attributes.isEmpty {
      findings.error(
        type.place, "the complex type \(name) has no part",
        cure: "Add at least one to \"attributes\".")
    }
    var seen: [String: String] = [:]
    for part in type.attributes {
      let shown = "\(name).\(part.name?.content ?? "?")"
      checkElement(part)
      checkNoBig(part.type, part.place, "a part of a complex value")
      checkLimits(part, shown)
      if let place = part.element?.place, part.type == .complex, holds(itself: name, in: part) {
        findings.error(
          place, "\(name) contains itself through \(shown), so its values would never end",
          cure: "Remove one part of the circle, or make the part a list, which can be empty.")
      }
      guard let given = part.name else { continue }
      if !ReservedName.isIdentifier(given.content) {
        findings.error(
          given.place, "the part name \"\(given.content)\" is not an identifier",
          cure: "Use letters, digits and underscores, a letter first.")
      } else if let clash = ReservedName.clashOfPart(given.content) {
        findings.error(
          given.place, "the name \"\(given.content)\" is \(clash)", cure: "Rename it.")
      }
      let other = seen.updateValue(given.content, forKey: given.content.lowercased())
      guard let other else { continue }
      findings.error(
        given.place,
        "\(name) has the part \"\(given.content)\" twice"
          + (other == given.content ? "" : " (\"\(other)\" differs only by case)"),
        cure: "Rename one of them.")
    }
  }

  /// Whether this part leads back to the type that it is a part of, through no list.
  private func holds(itself name: String, in part: DraftAttribute) -> Bool {
    var seen: Set<String> = []
    var next = [part]
    while let part = next.popLast() {
      guard part.type == .complex, let element = part.element?.content else { continue }
      if element == name { return true }
      guard seen.insert(element).inserted else { continue }
      next += draft.types.filter { $0.name?.content == element }.flatMap(\.attributes)
    }
    return false
  }
}
