import FerryOData

/// Turns an expression into something else from the inside out: text of SQL, a predicate of a
/// database, a value.
///
/// Each method is given what was made of the parts. It throws what it cannot say, best
/// `ODataError(.notOffered, …)`, so that the caller can answer with 501.
public protocol ODataExpressionVisitor {
  /// What a visit makes of an expression, such as text of SQL.
  associatedtype Output

  /// A constant, which has no parts.
  mutating func literal(_ value: EdmValue) throws(ODataError) -> Output
  /// A path; what stands inside its predicates and filters is not visited before.
  mutating func path(_ path: ODataPath) throws(ODataError) -> Output
  /// A condition that must not hold.
  mutating func not(_ inner: Output) throws(ODataError) -> Output
  /// A number with the other sign.
  mutating func negate(_ inner: Output) throws(ODataError) -> Output
  /// Two or more conditions that must all hold.
  mutating func and(_ parts: [Output]) throws(ODataError) -> Output
  /// Two or more conditions of which one must hold.
  mutating func or(_ parts: [Output]) throws(ODataError) -> Output
  /// The left side was visited before the right one.
  mutating func compare(
    _ comparison: ODataComparison, _ left: Output, _ right: Output
  ) throws(ODataError) -> Output
  /// The left side was visited before the right one.
  mutating func arithmetic(
    _ operation: ODataArithmetic, _ left: Output, _ right: Output
  ) throws(ODataError) -> Output
  /// The arguments come in the order of the address.
  mutating func call(_ function: ODataFunction, _ arguments: [Output]) throws(ODataError) -> Output
  /// The list behind `in`.
  mutating func list(_ items: [Output]) throws(ODataError) -> Output
  /// `["a",1]` of V4, in order.
  mutating func array(_ items: [Output]) throws(ODataError) -> Output
  /// `{"A":1}` of V4, with members in order.
  mutating func object(_ members: [(name: String, value: Output)]) throws(ODataError) -> Output
  /// The value is nil for the entry itself.
  mutating func cast(_ value: Output?, _ type: EdmTypeReference) throws(ODataError) -> Output
  /// The value is nil for the entry itself.
  mutating func isOf(_ value: Output?, _ type: EdmTypeReference) throws(ODataError) -> Output
  /// The arms of `case(…)`, in order.
  mutating func choice(
    _ choices: [(condition: Output, value: Output)]
  ) throws(ODataError) -> Output
  /// Before the predicate of a lambda is visited: its variable begins to have a meaning.
  mutating func enter(_ lambda: ODataLambda) throws(ODataError)
  /// The predicate is nil for `any()`. The variable has no meaning any more.
  mutating func lambda(_ lambda: ODataLambda, _ predicate: Output?) throws(ODataError) -> Output
}

extension ODataExpression {
  /// Visits the parts, then the whole. The stack is that of the depth of the expression.
  public func accept<Visitor: ODataExpressionVisitor>(
    _ visitor: inout Visitor
  ) throws(ODataError) -> Visitor.Output {
    switch self {
    case .literal(let value): return try visitor.literal(value)
    case .path(let path): return try visitor.path(path)
    case .not(let inner): return try visitor.not(inner.accept(&visitor))
    case .negate(let inner): return try visitor.negate(inner.accept(&visitor))
    case .and(let parts): return try visitor.and(Self.all(parts, &visitor))
    case .or(let parts): return try visitor.or(Self.all(parts, &visitor))
    case .list(let items): return try visitor.list(Self.all(items, &visitor))
    case .array(let items): return try visitor.array(Self.all(items, &visitor))
    case .call(let function, let arguments):
      return try visitor.call(function, Self.all(arguments, &visitor))
    case .compare(let comparison, let left, let right):
      let first = try left.accept(&visitor)
      return try visitor.compare(comparison, first, right.accept(&visitor))
    case .arithmetic(let operation, let left, let right):
      let first = try left.accept(&visitor)
      return try visitor.arithmetic(operation, first, right.accept(&visitor))
    case .cast(let value, let type):
      return try visitor.cast(value?.accept(&visitor), type)
    case .isOf(let value, let type):
      return try visitor.isOf(value?.accept(&visitor), type)
    case .object, .choice, .lambda: return try acceptRest(&visitor)
    }
  }

  private func acceptRest<Visitor: ODataExpressionVisitor>(
    _ visitor: inout Visitor
  ) throws(ODataError) -> Visitor.Output {
    switch self {
    case .object(let members):
      var made: [(name: String, value: Visitor.Output)] = []
      for member in members { made.append((member.name, try member.value.accept(&visitor))) }
      return try visitor.object(made)
    case .choice(let choices):
      var made: [(condition: Visitor.Output, value: Visitor.Output)] = []
      for choice in choices {
        let condition = try choice.condition.accept(&visitor)
        made.append((condition, try choice.value.accept(&visitor)))
      }
      return try visitor.choice(made)
    case .lambda(let lambda):
      guard let predicate = lambda.predicate else { return try visitor.lambda(lambda, nil) }
      try visitor.enter(lambda)
      return try visitor.lambda(lambda, predicate.accept(&visitor))
    default: return try accept(&visitor)
    }
  }

  private static func all<Visitor: ODataExpressionVisitor>(
    _ parts: [ODataExpression], _ visitor: inout Visitor
  ) throws(ODataError) -> [Visitor.Output] {
    var made: [Visitor.Output] = []
    for part in parts { made.append(try part.accept(&visitor)) }
    return made
  }
}
