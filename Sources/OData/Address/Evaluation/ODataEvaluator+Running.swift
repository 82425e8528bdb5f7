import FerryOData

extension ODataEvaluator {
  func run(_ expression: ODataExpression, _ scope: Scope) throws(AddressFault) -> Result {
    scope.depth.value += 1
    defer { scope.depth.value -= 1 }
    scope.depth.steps &+= 1
    if scope.depth.steps & 1_023 == 0 { try goOn() }
    guard scope.depth.value <= Depth.limit else {
      throw AddressFault(
        .limit, "more than \(Depth.limit) parts inside each other, aliases included",
        hint: "write it flatter")
    }
    switch expression {
    case .literal(let value): return .value(value)
    case .path(let path): return try walk(path, scope)
    case .not(let inner):
      return .value(try truth(inner, scope).map { .boolean(!$0) } ?? .null)
    case .negate(let inner):
      return .value(try ValueArithmetic.negate(value(inner, scope)))
    case .and(let parts): return .value(try junction(parts, stopsAt: false, scope))
    case .or(let parts): return .value(try junction(parts, stopsAt: true, scope))
    case .compare(let comparison, let left, let right):
      return .value(try compare(comparison, left, right, scope))
    case .arithmetic(let operation, let left, let right):
      let first = try value(left, scope)
      return .value(try ValueArithmetic.compute(operation, first, value(right, scope)))
    case .call(let function, let arguments):
      var values: [EdmValue] = []
      for argument in arguments { values.append(try value(argument, scope)) }
      return .value(try call(function, values))
    case .lambda(let lambda): return .value(try self.lambda(lambda, scope))
    default: return try runRest(expression, scope)
    }
  }

  private func runRest(
    _ expression: ODataExpression, _ scope: Scope
  ) throws(AddressFault) -> Result {
    switch expression {
    case .list(let items), .array(let items):
      var values: [EdmValue] = []
      for item in items { values.append(try value(item, scope)) }
      return .value(.collection(values))
    case .object(let members):
      var properties = ODataProperties()
      var type: String?
      for member in members {
        let value = try value(member.value, scope)
        if member.name == "@odata.type" || member.name == "@type" {
          type = value.string.map { String($0.drop { $0 == "#" }) }
        } else {
          properties[member.name] = value
        }
      }
      return .value(.complex(EdmComplex(type: type, properties)))
    case .cast(let inner, let type):
      return try cast(
        inner.map { (part) throws(AddressFault) in try run(part, scope) }, type, scope)
    case .isOf(let inner, let type):
      let subject = try inner.map { (part) throws(AddressFault) in try run(part, scope) }
      return .value(.boolean(isOf(subject ?? .entity(scope.entry), type)))
    case .choice(let choices):
      for choice in choices where try truth(choice.condition, scope) == true {
        return try run(choice.value, scope)
      }
      return .value(.null)
    default: return try run(expression, scope)
    }
  }

  func value(_ expression: ODataExpression, _ scope: Scope) throws(AddressFault) -> EdmValue {
    try plain(run(expression, scope))
  }

  /// True, false, or nil for null.
  private func truth(_ expression: ODataExpression, _ scope: Scope) throws(AddressFault) -> Bool? {
    switch try value(expression, scope) {
    case .boolean(let truth): return truth
    case .null: return nil
    case let other:
      throw AddressFault(
        .typeMismatch, "\(other.text) is not a truth value", hint: "compare it with something")
    }
  }

  private func junction(
    _ parts: [ODataExpression], stopsAt end: Bool, _ scope: Scope
  ) throws(AddressFault) -> EdmValue {
    var sawNull = false
    for part in parts {
      let truth = try truth(part, scope)
      if truth == end { return .boolean(end) }
      if truth == nil { sawNull = true }
    }
    return sawNull ? .null : .boolean(!end)
  }

  private func compare(
    _ comparison: ODataComparison, _ left: ODataExpression, _ right: ODataExpression,
    _ scope: Scope
  ) throws(AddressFault) -> EdmValue {
    let first = try run(left, scope)
    let second = try run(right, scope)
    switch (first, second) {
    case (.entity(let a), .entity(let b)) where comparison == .equal || comparison == .notEqual:
      return .boolean((a.id.map { $0 == b.id } ?? (a == b)) == (comparison == .equal))
    case (.entity, .value(.null)), (.value(.null), .entity):
      return .boolean(comparison == .notEqual)
    default: break
    }
    let a = try plain(first)
    let b = try plain(second)
    switch comparison {
    case .equal: return .boolean(try isEqual(a, b))
    case .notEqual: return .boolean(try !isEqual(a, b))
    case .has:
      if a.isNull || b.isNull { return .null }
      return .boolean(try has(a, b))
    case .isIn:
      guard let members = b.collection else {
        if b.isNull { return .boolean(false) }
        throw AddressFault(.typeMismatch, "\"in\" needs a list", hint: "write (1,2) after it")
      }
      for member in members where try isEqual(a, member) { return .boolean(true) }
      return .boolean(false)
    default:
      if a.isNull || b.isNull { return .boolean(false) }
      guard let order = try order(a, b) else { return .boolean(false) }
      switch comparison {
      case .less: return .boolean(order < 0)
      case .lessOrEqual: return .boolean(order <= 0)
      case .greater: return .boolean(order > 0)
      default: return .boolean(order >= 0)
      }
    }
  }

  /// Whether an enumeration has all flags of another, by the numbers of the metadata, or by name.
  private func has(_ value: EdmValue, _ flags: EdmValue) throws(AddressFault) -> Bool {
    guard case .enumeration(_, let type) = value,
      let mine = self.flags(value, type), let others = self.flags(flags, type)
    else {
      throw AddressFault(
        .typeMismatch, "\"has\" needs an enumeration", hint: "write NS.Type'Member'")
    }
    if let a = mine.number, let b = others.number { return a & b == b }
    if others.names.isSubset(of: mine.names) { return true }
    if mine.isNamed, others.isNamed { return false }
    throw unknownMembers(value)
  }

  private func lambda(_ lambda: ODataLambda, _ scope: Scope) throws(AddressFault) -> EdmValue {
    let members: [Result]
    switch try walk(lambda.collection, scope) {
    case .entities(let entries): members = entries.map { .entity($0) }
    case .value(.collection(let values)): members = values.map { .value($0) }
    case .value(.null): members = []
    default:
      throw AddressFault(
        .typeMismatch, "\(lambda.quantifier.rawValue) needs a collection",
        hint: "name a collection before it")
    }
    guard let variable = lambda.variable, let predicate = lambda.predicate else {
      return .boolean(!members.isEmpty)
    }
    let end = lambda.quantifier == .any
    var sawNull = false
    for member in members {
      let inner = scope.inner()
      inner.variables[variable] = member
      let truth = try truth(predicate, inner)
      if truth == end { return .boolean(end) }
      if truth == nil { sawNull = true }
    }
    return sawNull ? .null : .boolean(!end)
  }
}
