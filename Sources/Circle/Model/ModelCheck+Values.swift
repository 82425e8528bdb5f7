extension ModelCheck {
  /// The list of an attribute's values: what may have one, and what its default may be.
  mutating func checkValues(_ attribute: DraftAttribute, of entity: DraftEntity, _ shown: String) {
    guard let list = attribute.values, let type = attribute.type else { return }
    guard ListedNames.types.contains(type) else {
      findings.error(
        list.place,
        "only strings and whole numbers have \"values\"; \(shown) is of type \(type.rawValue)",
        cure: "Remove \"values\".")
      return
    }
    if list.content.isEmpty {
      findings.error(
        list.place, "the list of values of \(shown) is empty",
        cure: "Write the values that are allowed, or leave \"values\" out.")
    }
    if isGivenLater(attribute, of: entity) {
      findings.error(
        list.place,
        "\(shown) can have a key that the business system or the device makes, which is in no list",
        cure: "Remove \"values\".")
    }
    for value in list.content {
      guard case .text(let text) = value, let misfit = attribute.attribute?.misfit(text) else {
        continue
      }
      findings.error(
        list.place, "\(value.shown) cannot be saved in \(shown): \(misfit.problem)",
        cure: "Correct \"values\" or \"maxLength\".")
    }
    if let value = attribute.defaultValue, !value.content.isNull,
      !list.content.isEmpty, !list.content.contains(value.content)
    {
      findings.error(
        value.place,
        "the default of \(shown), \(value.content.shown), is not in its list of values",
        cure: "Write one of the values, or add it to \"values\".")
    }
  }

  /// Whether somebody else than the app makes the values, or those of the attribute it refers to.
  private func isGivenLater(_ attribute: DraftAttribute, of entity: DraftEntity) -> Bool {
    let isKey = entity.key.contains { $0.content == attribute.name?.content }
    if isKey, entity.keyOrigin.content != .app { return true }
    return entity.relationships.contains { relationship in
      relationship.attributes.contains { $0.content == attribute.name?.content }
        && relationship.target.flatMap { draft.entity(named: $0.content) }?.keyOrigin.content
          != .app
    }
  }
}

extension ModelFindings {
  /// Warns where a list of values has no Swift names, so that the property has the plain type.
  mutating func warnOfUnnamedValues(_ package: Package, in draft: ModelDraft) {
    for entity in package.entities {
      for (position, names) in package.listedNames(of: entity).sorted(by: { $0.key < $1.key }) {
        let attribute = entity.attributes[position]
        let written = draft.entity(named: entity.name)?.attribute(named: attribute.name)?.values
        guard case .failure(let clash) = names, let place = written?.place else { continue }
        warning(
          place,
          "the values of \(entity.name).\(attribute.name) get no Swift type: \(clash.problem)",
          cure: clash.cure)
      }
    }
  }
}
