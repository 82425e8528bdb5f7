import FerryOData

/// A condition or a computed value, as `$filter`, `$orderby`, `$compute` and aliases hold it.
///
/// Parentheses are not kept; the writer sets them where precedence asks for them.
public indirect enum ODataExpression: Sendable, Hashable {
  case literal(EdmValue)
  /// Properties, navigation, types and functions: `Address/City`, `$it`, `@p`.
  case path(ODataPath)
  /// `('a','b')`; only to the right of `in`
  case list([ODataExpression])
  /// `["a",1]` of V4
  case array([ODataExpression])
  /// `{"A":1}` of V4
  case object([ODataNamedValue])
  case not(ODataExpression)
  case negate(ODataExpression)
  /// Two or more that must all hold.
  case and([ODataExpression])
  /// Two or more of which one must hold.
  case or([ODataExpression])
  case compare(ODataComparison, ODataExpression, ODataExpression)
  case arithmetic(ODataArithmetic, ODataExpression, ODataExpression)
  case call(ODataFunction, [ODataExpression])
  /// The value, or nil for the entry itself, as another type.
  case cast(ODataExpression?, EdmTypeReference)
  /// Whether the value, or nil for the entry itself, is of a type.
  case isOf(ODataExpression?, EdmTypeReference)
  /// `case(a:1,b:2)`: the value of the first condition that holds, else null.
  case choice([ODataChoice])
  /// `Lines/any(x:…)`
  case lambda(ODataLambda)
}

/// A comparison.
public enum ODataComparison: String, Sendable, Hashable, CaseIterable {
  case equal = "eq"
  case notEqual = "ne"
  case less = "lt"
  case lessOrEqual = "le"
  case greater = "gt"
  case greaterOrEqual = "ge"
  /// Whether an enumeration has all these flags.
  case has = "has"
  /// Whether a value is a member of a list or collection.
  case isIn = "in"
}

/// A calculation.
public enum ODataArithmetic: String, Sendable, Hashable, CaseIterable {
  case add = "add"
  case subtract = "sub"
  case multiply = "mul"
  /// Whole numbers stay whole.
  case divide = "div"
  /// Whole numbers are divided as decimals.
  case divideBy = "divby"
  case modulo = "mod"
}

/// One arm of a `case`.
public struct ODataChoice: Sendable, Hashable {
  public var condition: ODataExpression
  public var value: ODataExpression

  public init(when condition: ODataExpression, then value: ODataExpression) {
    self.condition = condition
    self.value = value
  }
}

/// A question to the members of a collection.
public struct ODataLambda: Sendable, Hashable {
  /// Whether one member is enough, or all must hold.
  public enum Quantifier: String, Sendable, Hashable { case any, all }

  public var quantifier: Quantifier
  public var collection: ODataPath
  /// The name of the member inside the predicate; nil for `any()`, which asks for any member.
  public var variable: String?
  public var predicate: ODataExpression?

  public init(
    _ quantifier: Quantifier, of collection: ODataPath, variable: String? = nil,
    predicate: ODataExpression? = nil
  ) {
    self.quantifier = quantifier
    self.collection = collection
    self.variable = variable
    self.predicate = predicate
  }
}

/// A way from the entry, a variable or the service to a value.
public struct ODataPath: Sendable, Hashable {
  /// Where a path begins.
  public enum Start: Sendable, Hashable {
    /// With its first step: a property of the entry, or the variable of a lambda.
    case entry
    /// `$it`
    case it
    /// `$this`
    case this
    /// `$root`
    case root
    /// `@name`, a parameter alias
    case alias(String)
  }

  /// One step of a path.
  public enum Step: Sendable, Hashable {
    /// A property, navigation property, function, type or variable; qualified with a dot.
    case name(String)
    /// A key, or the parameters of a function.
    case predicate(ODataPredicate)
    /// `$count`, with `$filter` and `$search` of 4.01
    case count(ODataQueryOptions)
    /// `$filter(…)`
    case filter(ODataExpression)
    /// `@Term`, with namespace and qualifier where there are any
    case annotation(String)
    /// `$value`
    case value
  }

  public var start: Start
  public var steps: [Step]
  /// Of the steps, where they were parsed.
  public var columns: ODataColumns

  public init(_ start: Start = .entry, _ steps: [Step], columns: ODataColumns = ODataColumns()) {
    self.start = start
    self.steps = steps
    self.columns = columns
  }

  /// A path of names separated by `/`.
  public init(_ names: String) {
    self.init(.entry, names.split(separator: "/").map { .name(String($0)) })
  }

  /// The names of a path that has nothing else; nil for any other.
  public var names: [String]? {
    guard start == .entry else { return nil }
    var names: [String] = []
    for step in steps {
      guard case .name(let name) = step else { return nil }
      names.append(name)
    }
    return names
  }
}
