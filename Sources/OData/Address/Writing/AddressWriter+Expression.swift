import FerryOData

/// Expressions, with parentheses where precedence asks for them.
extension AddressWriter {
  private func strength(_ expression: ODataExpression) -> Int {
    switch expression {
    case .or: 1
    case .and: 2
    case .compare(.equal, _, _), .compare(.notEqual, _, _): 3
    case .compare(.has, _, _), .compare(.isIn, _, _): 8
    case .compare: 4
    case .arithmetic(.add, _, _), .arithmetic(.subtract, _, _): 5
    case .arithmetic: 6
    case .not, .negate: 7
    default: 9
    }
  }

  /// Writes an expression where something that binds as strongly as `least` stands around it.
  func expression(
    _ expression: ODataExpression, _ least: Int = 1
  ) throws(AddressFault) {
    let strength = strength(expression)
    let needsParentheses = strength < least
    if needsParentheses { raw("(") }
    switch expression {
    case .literal(let value): try literal(value)
    case .path(let path): try self.path(path)
    case .list(let items): try list("(", items, ")")
    case .array(let items):
      try needs(.v4, "arrays")
      try list("[", items, "]", isJSON: true)
    case .object(let members): try object(members)
    case .not(let inner):
      encoded("not ")
      try self.expression(inner, 7)
    case .negate(let inner):
      raw("-")
      try negated(inner)
    case .and(let parts): try joined(parts, "and", 3)
    case .or(let parts): try joined(parts, "or", 2)
    case .compare(let comparison, let left, let right):
      try compare(comparison, left, right, strength)
    case .arithmetic(let operation, let left, let right):
      if operation == .divideBy { try needs(.v4, "divby") }
      try self.expression(left, strength)
      encoded(" \(operation.rawValue) ")
      try self.expression(right, strength + 1)
    case .call(let function, let arguments): try call(function, arguments)
    case .cast(let value, let type): try typed("cast", value, type)
    case .isOf(let value, let type): try typed("isof", value, type)
    case .choice(let choices): try self.choices(choices)
    case .lambda(let lambda): try self.lambda(lambda)
    }
    if needsParentheses { raw(")") }
  }

  /// A minus before digits would be the sign of a number or a year.
  private func negated(_ inner: ODataExpression) throws(AddressFault) {
    let start = text.utf8.count
    try expression(inner, 7)
    let written = text.utf8.dropFirst(start)
    guard
      written.first.map({ $0 >= 0x30 && $0 <= 0x39 }) ?? false || written.starts(with: "INF".utf8)
    else { return }
    text.insert("(", at: written.startIndex)
    raw(")")
  }

  private func parenthesized(_ inner: ODataExpression) throws(AddressFault) {
    raw("(")
    try expression(inner)
    raw(")")
  }

  private func joined(
    _ parts: [ODataExpression], _ joint: String, _ least: Int
  ) throws(AddressFault) {
    guard parts.count > 1 else {
      throw unwritable("\(joint) of \(parts.count)", "give it two parts or more")
    }
    for (index, part) in parts.enumerated() {
      if index > 0 { encoded(" \(joint) ") }
      try expression(part, least)
    }
  }

  private func compare(
    _ comparison: ODataComparison, _ left: ODataExpression, _ right: ODataExpression,
    _ strength: Int
  ) throws(AddressFault) {
    if comparison == .isIn || comparison == .has { try needs(.v4, comparison.rawValue) }
    try expression(left, strength)
    encoded(" \(comparison.rawValue) ")
    try expression(right, strength + 1)
  }

  private func list(
    _ open: String, _ items: [ODataExpression], _ close: String, isJSON: Bool = false
  ) throws(AddressFault) {
    encoded(open)
    for (index, item) in items.enumerated() {
      if index > 0 { raw(",") }
      try isJSON ? json(item) : expression(item)
    }
    encoded(close)
  }

  private func json(_ value: ODataExpression) throws(AddressFault) {
    guard case .literal(.string(let text)) = value else { return try expression(value) }
    jsonString(text)
  }

  private func jsonString(_ value: String) {
    var escaped = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": escaped += "\\\""
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case _ where scalar.value < 0x20:
        let hex = String(scalar.value, radix: 16)
        escaped += "\\u00" + (hex.utf8.count < 2 ? "0" : "") + hex
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    data(escaped + "\"")
  }

  private func object(_ members: [ODataNamedValue]) throws(AddressFault) {
    try needs(.v4, "objects")
    encoded("{")
    for (index, member) in members.enumerated() {
      if index > 0 { raw(",") }
      jsonString(member.name)
      raw(":")
      try json(member.value)
    }
    encoded("}")
  }

  private func call(
    _ function: ODataFunction, _ arguments: [ODataExpression]
  ) throws(AddressFault) {
    guard function.isOffered(by: version) else {
      throw unwritable(
        "V\(version.rawValue) has no \(function.rawValue)", "say it with functions it has")
    }
    guard function.arity.contains(arguments.count) else {
      throw unwritable(
        "\(function.rawValue) of \(arguments.count) values",
        "it takes \(function.arity.lowerBound) to \(function.arity.upperBound)")
    }
    raw(function.name(in: version))
    // The old function names the part before the whole.
    let isSwapped = isOld && function == .contains
    try list("(", isSwapped ? arguments.reversed() : arguments, ")")
  }

  private func typed(
    _ word: String, _ value: ODataExpression?, _ type: EdmTypeReference
  ) throws(AddressFault) {
    raw(word + "(")
    if let value {
      try expression(value)
      raw(",")
    }
    if isOld { raw("'") }
    if type.isCollection { raw("Collection(") }
    try qualifiedName(type.name)
    if type.isCollection { raw(")") }
    raw(isOld ? "')" : ")")
  }

  private func choices(_ choices: [ODataChoice]) throws(AddressFault) {
    try needs(.v4, "case")
    guard !choices.isEmpty else { throw unwritable("an empty case", "give it a condition") }
    raw("case(")
    for (index, choice) in choices.enumerated() {
      if index > 0 { raw(",") }
      try expression(choice.condition)
      // Without the blank, 12:30 would read as a time.
      encoded(" :")
      try expression(choice.value)
    }
    raw(")")
  }

  private func lambda(_ lambda: ODataLambda) throws(AddressFault) {
    try needs(.v3, lambda.quantifier.rawValue)
    try path(lambda.collection)
    raw("/\(lambda.quantifier.rawValue)(")
    switch (lambda.variable, lambda.predicate) {
    case (nil, nil) where lambda.quantifier == .any: break
    case (let variable?, let predicate?):
      guard !variables.contains(variable) else {
        throw unwritable(
          "the variable name \(variable) is already used", "give the inner variable another name")
      }
      try name(variable)
      raw(":")
      variables.append(variable)
      try expression(predicate)
      variables.removeLast()
    default:
      throw unwritable("a lambda without variable and predicate", "give it both")
    }
    raw(")")
  }

  private func path(_ path: ODataPath) throws(AddressFault) {
    var isFirst = false
    switch path.start {
    case .entry:
      isFirst = true
      guard !path.steps.isEmpty else {
        throw unwritable("a path without steps", "name a property, or begin with $it")
      }
    case .it, .this, .root:
      try needs(.v3, "$it, $this and $root")
      raw(path.start == .it ? "$it" : path.start == .this ? "$this" : "$root")
      if path.start == .root, path.steps.isEmpty {
        throw unwritable("$root alone", "name a set behind it")
      }
    case .alias(let name):
      try needs(.v4, "aliases")
      raw("@")
      try self.name(name)
    }
    for step in path.steps {
      if case .predicate = step {} else if !isFirst { raw("/") }
      try self.step(step, isFirst: isFirst)
      isFirst = false
    }
  }

  private func step(_ step: ODataPath.Step, isFirst: Bool) throws(AddressFault) {
    switch step {
    case .name(let name):
      if isFirst, ODataNames.literals.contains(name.lowercased()) {
        throw unwritable("the name \(name) reads as a literal", "begin the path with $it/")
      }
      try qualifiedName(name)
    case .predicate(let predicate): try self.predicate(predicate)
    case .count(let options):
      try needs(.v4, "$count in expressions")
      raw("$count")
      try nested(options)
    case .filter(let condition):
      try needs(.v4, "$filter in paths")
      raw("$filter")
      try parenthesized(condition)
    case .annotation(let term):
      try needs(.v4, "annotations in expressions")
      raw("@")
      let parts = term.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
      try qualifiedName(parts[0])
      if parts.count > 1 {
        encoded("#")
        try name(parts[1])
      }
    case .value: raw("$value")
    }
  }

  func predicate(_ predicate: ODataPredicate) throws(AddressFault) {
    raw("(")
    switch predicate {
    case .value(let value): try expression(value)
    case .named(let values):
      for (index, value) in values.enumerated() {
        if index > 0 { raw(",") }
        try name(value.name)
        raw("=")
        try expression(value.value)
      }
    }
    raw(")")
  }
}
