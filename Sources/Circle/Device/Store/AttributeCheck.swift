import FerryModel

/// Why a value cannot be saved in an attribute: one check for whoever saves now and for what was
/// saved under an older model.
struct AttributeCheck {
  let problem: String
  let cure: String
  /// Where inside the attribute: `.zip` of a complex value, `[1].zip` in the second element of a
  /// list; empty for the attribute itself.
  let part: String

  init(_ problem: String, _ cure: String, part: String = "") {
    self.problem = problem
    self.cure = cure
    self.part = part
  }

  /// The value as it is kept, and why it cannot be saved, if so.
  ///
  /// `types`: those by whose limits parts are judged. `isGiven`: somebody else gives the value that
  /// is missing here.
  static func canonical(
    _ value: AttributeValue, of attribute: Attribute, types: [ComplexType], isGiven: Bool = false
  ) -> (value: AttributeValue, misfit: AttributeCheck?) {
    guard let canonical = attribute.type.canonical(value) else {
      return (
        value,
        AttributeCheck(
          "\(value.shown) is no \(attribute.type.rawValue)",
          "Set a value of that type and save again.")
      )
    }
    if attribute.type.hasElements, !types.isEmpty {
      let misfit = PartCheck(types: types).misfit(canonical, attribute)
      if let misfit { return (canonical, misfit) }
    }
    return (canonical, misfit(canonical, attribute, isGiven))
  }

  private static func misfit(
    _ value: AttributeValue, _ attribute: Attribute, _ isGiven: Bool
  ) -> AttributeCheck? {
    switch value {
    case .null where !attribute.isNullable && !isGiven:
      return missing()
    case .double(let number) where number.isNaN && !attribute.isNullable:
      return AttributeCheck(
        "NaN is not a value, and the attribute may not be null", "Set a number and save again.")
    case .text(let text): return beyondLimit(text, attribute)
    default: return nil
    }
  }

  static func missing(part: String = "") -> AttributeCheck {
    AttributeCheck("it has no value", "Set one and save again.", part: part)
  }

  /// Why a canonical value is not one that the model lists. Only for what is saved now: what was saved
  /// under an older list is for the business system to judge.
  static func unlisted(_ value: AttributeValue, _ attribute: Attribute) -> AttributeCheck? {
    attribute.unlisted(value).map { AttributeCheck($0.problem, $0.cure) }
  }

  /// Why a canonical text or decimal is longer than it may be.
  static func beyondLimit(
    _ text: String, _ attribute: Attribute, part: String = ""
  ) -> AttributeCheck? {
    attribute.misfit(text).map { AttributeCheck($0.problem, $0.cure, part: part) }
  }
}

extension Entity {
  /// A row as it is kept, with all that the model says of its values; for sample rows and tests.
  /// `invalidValue` names the attribute that does not fit. `allowsUnlisted`: the business system may
  /// have values that the model does not list yet.
  package func checked(
    _ row: [AttributeValue], types: [ComplexType], allowsUnlisted: Bool = false
  ) throws(FerryError) -> [AttributeValue] {
    var kept = row
    for (position, attribute) in attributes.enumerated().prefix(row.count)
    where !attribute.type.isBig {
      let (value, misfit) = AttributeCheck.canonical(row[position], of: attribute, types: types)
      let unlisted = allowsUnlisted ? nil : AttributeCheck.unlisted(value, attribute)
      if let misfit = misfit ?? unlisted {
        let place = attribute.name + misfit.part
        throw FerryError(
          .invalidValue, "\(name).\(place) does not fit the model: \(misfit.problem)",
          hint: "Give the row another value.", entity: name, attribute: place)
      }
      kept[position] = value
    }
    return kept
  }

  /// Whether the business system or the device gives the attribute its value, where the app does not.
  func isGiven(_ position: Int) -> Bool { keyOrigin != .app && key.contains(position) }
}
