import FerryOData

/// Functions that every service has, casts, and `case`.
extension AddressParser {
  /// Stands before the parenthesis behind a name; nil where the name is not a function of OData.
  func call(_ word: String, at start: Int) throws(AddressFault) -> ODataExpression? {
    let name = isOld ? word : word.lowercased()
    switch name {
    case "cast", "isof": return try typeCall(isCast: name == "cast")
    case "case" where !isOld: return try choices()
    case "any", "all":
      if isOld && version < .v3 { return nil }
      throw failure(
        "\(word) has no collection", at: start, "write the collection and a / before it")
    case "substringof":
      guard isOld else {
        throw failure(
          "only V2 and V3 have substringof", at: start, "write contains(Name,'x')",
          code: .notOffered)
      }
      let arguments = try arguments("substringof", 2...2)
      return .call(.contains, arguments.reversed())
    default: break
    }
    let known = isOld ? ODataFunction(rawValue: word) : ODataFunction(anyCase: word)
    guard let function = known, isCall(function) else { return nil }
    guard function.isOffered(by: version), !(isOld && function == .contains) else {
      let cure: String
      switch function {
      case .contains: cure = "write substringof('x',Name)"
      case .replace: cure = "V4 has no replace"
      default: cure = "ask for it in V4"
      }
      throw failure(
        "\(word) is not a function of V\(version.rawValue)", at: start, cure, code: .notOffered)
    }
    return .call(function, try arguments(word, function.arity))
  }

  /// Not a function of the service that has the same name: those name their parameters.
  private func isCall(_ function: ODataFunction) -> Bool {
    var place = position + 1
    while isBlank(place) { place += 1 }
    let start = place
    while let next = letter(place, isFirst: place == start) { place += next }
    return place == start || place >= text.bytes.count
      || text.bytes[place] != UInt8(ascii: "=")
  }

  private func arguments(
    _ word: String, _ arity: ClosedRange<Int>
  ) throws(AddressFault) -> [ODataExpression] {
    let start = position
    let values = try elements()
    guard arity.contains(values.count) else {
      let wanted =
        arity.lowerBound == arity.upperBound
        ? String(arity.lowerBound) : "\(arity.lowerBound) or \(arity.upperBound)"
      throw failure(
        "\(word) takes \(wanted) \(wanted == "1" ? "value" : "values"), not \(values.count)",
        at: start, "give it \(wanted)")
    }
    return values
  }

  private func typeCall(isCast: Bool) throws(AddressFault) -> ODataExpression {
    try enter()
    position += 1
    blanks()
    var value: ODataExpression?
    let start = position
    // A type alone and a value with a type begin alike: a comma tells them apart.
    var type = try? typeName()
    blanks()
    if type == nil || byte != UInt8(ascii: ")") {
      position = start
      value = try expression()
      blanks()
      try expect(",", "a comma and a type")
      blanks()
      type = try typeName()
      blanks()
    } else {
      try grow(0)
    }
    try expect(")", "a )")
    leave()
    guard let type else { throw failure("\(found) where a type was expected") }
    try grow(height)
    return isCast ? .cast(value, type) : .isOf(value, type)
  }

  /// `NS.Type`, `Collection(NS.Type)`; in single quotes in V2.
  func typeName() throws(AddressFault) -> EdmTypeReference {
    let isQuoted = isOld && take("'")
    guard let word = try qualifiedWord() else {
      throw failure("\(found) where a type was expected")
    }
    var type = EdmTypeReference(word)
    if word == "Collection", take("(") {
      guard let inner = try qualifiedWord() else {
        throw failure("\(found) where a type was expected")
      }
      try expect(")", "a )")
      type = EdmTypeReference(inner, isCollection: true)
    }
    if isQuoted { try expect("'", "a '") }
    if type.name.hasPrefix("Edm."), EdmPrimitive(rawValue: type.name) == nil {
      throw failure("there is no type \(type.name)", code: .unknownName)
    }
    return type
  }

  private func choices() throws(AddressFault) -> ODataExpression {
    try enter()
    position += 1
    var choices: [ODataChoice] = []
    var highest = 0
    repeat {
      blanks()
      let condition = try expression()
      highest = max(highest, height)
      blanks()
      try expect(":", "a colon")
      blanks()
      let value = try expression()
      highest = max(highest, height)
      choices.append(ODataChoice(when: condition, then: value))
      blanks()
    } while take(",")
    try expect(")", "a comma or )")
    leave()
    try grow(highest)
    return .choice(choices)
  }
}
