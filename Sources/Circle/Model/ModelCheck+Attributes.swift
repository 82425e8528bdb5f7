extension ModelCheck {
  mutating func checkAttributes(_ entity: DraftEntity) {
    var columns: [String: String] = [:]
    for attribute in entity.attributes {
      let shown = attribute.name?.content ?? attribute.column.content
      if let other = columns.updateValue(shown, forKey: folded(attribute.column.content)),
        !attribute.column.content.isEmpty
      {
        findings.error(
          attribute.column.place,
          "attributes \(other) and \(shown) of \(entity.shownName) name the same column",
          cure: "Keep one of them, or correct \"column\".")
      }
      guard let type = attribute.type else { continue }
      checkElement(attribute)
      if type.isBig { checkBig(attribute, of: entity) }
      checkLimits(attribute, shown)
      checkValues(attribute, of: entity, shown)
      if let stored = attribute.stored, type != .dateTime {
        findings.error(
          stored.place, "only dateTime has a \"stored\" form; \(shown) is of type \(type.rawValue)",
          cure: "Remove \"stored\".")
      }
      if let fullText = attribute.fullText, type != .string {
        findings.error(
          fullText, "only strings are searched by words; \(shown) is of type \(type.rawValue)",
          cure: "Remove \"fullText\".")
      } else if let fullText = attribute.fullText,
        let clash = ReservedName.clashOfSearched(attribute.name?.content ?? "")
      {
        findings.error(
          fullText, "\(shown) cannot be searched by words: that is the name of \(clash)",
          cure: "Give the attribute another \"name\" and write \"column\": "
            + "\"\(attribute.column.content)\", or remove \"fullText\".")
      }
    }
  }

  /// How long a text may be, and how many digits a decimal may have.
  mutating func checkLimits(_ attribute: DraftAttribute, _ shown: String) {
    checkDigits(attribute, shown)
    checkDefault(attribute, shown)
    guard let maxLength = attribute.maxLength, let type = attribute.type else { return }
    if type != .string {
      findings.error(
        maxLength.place, "only strings have a maxLength; \(shown) is of type \(type.rawValue)",
        cure: "Remove \"maxLength\".")
    } else if maxLength.content < 1 || maxLength.content > Int64(Int32.max) {
      findings.error(
        maxLength.place, "maxLength \(maxLength.content) is too small",
        cure: "Write a number of characters from 1 on, or leave it out.")
    }
  }

  private mutating func checkDigits(_ attribute: DraftAttribute, _ shown: String) {
    guard let given = attribute.precision ?? attribute.scale else { return }
    guard attribute.type == .decimal else {
      findings.error(
        given.place,
        "only decimals have precision and scale; \(shown) is of type "
          + "\(attribute.type?.rawValue ?? "")", cure: "Remove \"precision\" and \"scale\".")
      return
    }
    let precision = attribute.precision?.content ?? Attribute.longestDecimal
    let scale = attribute.scale?.content ?? 0
    guard (1...Attribute.longestDecimal).contains(precision), (0...precision).contains(scale) else {
      findings.error(
        given.place, "\(shown) has \(precision) digits, \(scale) of them after the point",
        cure: "Write a precision from 1 to \(Attribute.longestDecimal), and a scale up to it.")
      return
    }
  }

  /// What every new object has must be what may be saved.
  private mutating func checkDefault(_ draft: DraftAttribute, _ shown: String) {
    guard let value = draft.defaultValue, case .text(let text) = value.content,
      let misfit = draft.attribute?.misfit(text)
    else { return }
    findings.error(
      value.place, "the default of \(shown) cannot be saved: \(misfit.problem)",
      cure: "Correct \"default\" or the limits of the attribute.")
  }

  mutating func checkKey(_ entity: DraftEntity) {
    if entity.key.isEmpty, entity.hasReadableKey {
      findings.error(
        entity.place, "the key of \(entity.shownName) is empty",
        cure: "Name the attributes that identify its objects.")
    }
    var seen: Set<String> = []
    for name in entity.key {
      if !seen.insert(name.content).inserted {
        findings.error(name.place, "\"\(name.content)\" is twice in the key", cure: "Keep it once.")
      }
      guard let attribute = entity.attribute(named: name.content) else {
        unknownAttribute(name, of: entity)
        continue
      }
      if attribute.isNullable {
        findings.error(
          name.place, "the key attribute \"\(name.content)\" of \(entity.shownName) is nullable",
          cure:
            "Remove \"nullable\" if the business system has no such rows, else choose another key.")
      }
      if attribute.type?.hasElements == true {
        findings.error(
          name.place,
          "the key attribute \"\(name.content)\" is a \(attribute.type?.rawValue ?? "")",
          cure: "Choose attributes of simple types as the key.")
      }
      if attribute.type == .double || attribute.type == .float {
        findings.warning(
          name.place, "the key attribute \"\(name.content)\" is a floating-point number",
          cure:
            "Use decimal: one floating-point value can be written in two ways, which are two keys.")
      }
    }
    checkKeyOrigin(entity)
  }

  private mutating func checkKeyOrigin(_ entity: DraftEntity) {
    let types = entity.key.compactMap { entity.attribute(named: $0.content)?.type }
    if entity.keyOrigin.content == .device, types != [.string] {
      findings.error(
        entity.keyOrigin.place, "\"keyOrigin\": \"device\" needs a key of one string attribute",
        cure: "Give \(entity.shownName) a key of one attribute of type string.")
    }
    guard entity.keyOrigin.content == .businessSystem else { return }
    if entity.isClientOnly {
      findings.error(
        entity.keyOrigin.place,
        "\(entity.shownName) is \"clientOnly\", so the business system cannot make its keys",
        cure: "Write \"keyOrigin\": \"device\" or \"app\".")
    }
    if entity.key.count > 1 {
      findings.error(
        entity.keyOrigin.place, "a key of several attributes cannot come from the business system",
        cure: "Write \"keyOrigin\": \"app\".")
    } else if let type = types.first, type != .long, type != .string {
      findings.error(
        entity.keyOrigin.place,
        "a key of type \(type.rawValue) cannot come from the business system",
        cure: "Change the type to long or string, or write \"keyOrigin\": \"app\".")
    }
  }

  mutating func checkUnique(_ entity: DraftEntity) {
    for names in entity.unique {
      for name in names where entity.attribute(named: name.content) == nil {
        unknownAttribute(name, of: entity)
      }
    }
  }

  mutating func unknownAttribute(_ name: Placed<String>, of entity: DraftEntity) {
    findings.error(
      name.place, "\(entity.shownName) has no attribute \"\(name.content)\"",
      cure: NearestWord.cure(name.content, among: entity.attributeNames))
  }
}
