extension ModelCheck {
  /// A list says what it is a list of, a complex value which type it has.
  mutating func checkElement(_ attribute: DraftAttribute) {
    guard let type = attribute.type else { return }
    let shown = attribute.name?.content ?? "?"
    guard type.hasElements else {
      if let element = attribute.element {
        findings.error(
          element.place, "\"of\" is only for lists and complex values, not for \(shown)",
          cure: "Remove \"of\".")
      }
      return
    }
    let types = draft.types.compactMap { $0.name?.content }
    let simple = AttributeType.allCases.filter { !$0.hasElements && !$0.isBig }.map(\.rawValue)
    let known = type == .list ? simple + types : types
    guard let element = attribute.element else {
      findings.error(
        attribute.place, "the \(type == .list ? "list" : "complex value") \(shown) has no \"of\"",
        cure: "Add \"of\": the name of a complex type\(type == .list ? " or a simple one" : "").")
      return
    }
    if !known.contains(element.content) {
      findings.error(
        element.place, "\(shown) cannot be \"of\" the type \"\(element.content)\"",
        cure: NearestWord.cure(element.content, among: known))
    }
  }

  mutating func checkClientOnly(_ entity: DraftEntity) {
    if entity.isClientOnly, entity.partition != nil || entity.performs != nil {
      findings.error(
        entity.place,
        "\(entity.shownName) is \"clientOnly\" and cannot have \"partition\" or \"performs\"",
        cure: "Remove \"clientOnly\", or \"partition\" and \"performs\".")
    }
    for attribute in entity.attributes where attribute.isClientOnly {
      let shown = "\(entity.shownName).\(attribute.name?.content ?? "?")"
      if entity.key.contains(where: { $0.content == attribute.name?.content }) {
        findings.error(
          attribute.place, "\(shown) is \"clientOnly\" and cannot be part of the key",
          cure: "Make the whole entity \"clientOnly\", or take the attribute from the key.")
      } else if !attribute.isNullable, attribute.defaultValue == nil {
        findings.error(
          attribute.place, "\(shown) is \"clientOnly\", so a downloaded row has no value for it",
          cure: "Add \"nullable\": true, or a \"default\".")
      }
    }
    guard !entity.isClientOnly else { return checkLocalOwner(entity) }
    for relationship in entity.relationships {
      let isLocal = relationship.attributes.contains { name in
        entity.attribute(named: name.content)?.isClientOnly == true
      }
      let target = relationship.target.flatMap { draft.entity(named: $0.content) }
      guard isLocal || target?.isClientOnly == true else { continue }
      findings.error(
        relationship.place,
        "\(entity.shownName).\(relationship.name?.content ?? "?") leads to an entity that is "
          + "\"clientOnly\"",
        cure: "Make \(entity.shownName) \"clientOnly\" too, or remove the relationship.")
    }
  }

  /// The delete of what the business system has may be refused, or come from it: no part on the
  /// device can go with it.
  private mutating func checkLocalOwner(_ entity: DraftEntity) {
    for relationship in entity.relationships where relationship.isComposite {
      let target = relationship.target.flatMap { draft.entity(named: $0.content) }
      guard let target, !target.isClientOnly else { continue }
      findings.error(
        relationship.place,
        "\(entity.shownName) is \"clientOnly\" and cannot be part of \(target.shownName), which is "
          + "not",
        cure: "Leave \"composite\" out, or make \(target.shownName) \"clientOnly\" too.")
    }
  }

  mutating func checkPerforms(_ entity: DraftEntity) {
    guard let statements = entity.performs else { return }
    if entity.operations != [.create] {
      findings.error(
        entity.place, "\(entity.shownName) has \"performs\", so its only operation is create",
        cure: "Write \"operations\": [\"create\"], or leave \"operations\" out.")
    }
    if entity.keyOrigin.content == .businessSystem {
      findings.error(
        entity.keyOrigin.place,
        "\(entity.shownName) has \"performs\" and no rows, so the business system makes no key",
        cure: "Write \"keyOrigin\": \"device\".")
    }
    for statement in statements {
      for part in SQLText.parts(of: statement.content) {
        guard case .parameter(let name) = part, entity.attribute(named: name) == nil else {
          continue
        }
        findings.error(
          statement.place, "\(entity.shownName) has no attribute \"\(name)\" to perform with",
          cure: NearestWord.cure(name, among: entity.attributeNames))
      }
    }
  }

  mutating func checkQueries(_ entity: DraftEntity) {
    for query in entity.queries {
      let names = query.parameters.compactMap { $0.name?.content }
      for parameter in query.parameters {
        checkNoBig(parameter.type, query.place, "a parameter of a query")
      }
      if Set(names).count != names.count {
        findings.error(
          query.place, "two parameters of \(query.name?.content ?? "a query") have the same name",
          cure: "Rename one of them.")
      }
      for name in query.parameters.compactMap(\.name) {
        let clash =
          ReservedName.isIdentifier(name.content)
          ? ReservedName.clashOfQueryParameter(name.content) : "no identifier"
        guard let clash else { continue }
        findings.error(
          name.place, "\"\(name.content)\" cannot be a parameter's name: it is \(clash)",
          cure: "Choose another.")
      }
      for text in [query.condition, query.order].compactMap({ $0 }) {
        for part in SQLText.parts(of: text.content) {
          guard case .parameter(let name) = part, !names.contains(name) else { continue }
          findings.error(
            text.place, "the query has no parameter \"\(name)\"",
            cure: NearestWord.cure(name, among: names))
        }
      }
    }
  }

  /// An object is part of one other at most, and not of itself.
  mutating func checkComposite(_ entity: DraftEntity) {
    let owners = entity.relationships.filter(\.isComposite)
    guard let owner = owners.first else { return }
    if owners.count > 1 {
      findings.error(
        owners[1].place, "\(entity.shownName) has two relationships with \"composite\"",
        cure: "Keep \"composite\" at one relationship.")
    }
    guard let target = owner.target.flatMap({ draft.entity(named: $0.content) }) else { return }
    let targets = (owner.targetAttributes ?? target.key).map(\.content)
    if targets != target.key.map(\.content) {
      findings.error(
        owner.place, "a composite relationship must refer to the key of \(target.shownName)",
        cure: "Leave \"targetAttributes\" out.")
    }
    if entity.group.content != target.group.content {
      findings.error(
        owner.place,
        "\(entity.shownName) is part of \(target.shownName), which is in another group",
        cure: "Put both entities into one group.")
    }
    var seen: Set<String> = [entity.shownName]
    var next: DraftEntity? = target
    while let whole = next {
      guard seen.insert(whole.shownName).inserted else {
        findings.error(
          owner.place, "\(entity.shownName) is part of itself",
          cure: "Remove \"composite\" from one relationship of the circle.")
        return
      }
      next = whole.relationships.first(where: \.isComposite)?.target
        .flatMap { draft.entity(named: $0.content) }
    }
  }
}
