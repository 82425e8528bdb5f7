import FerryOData

/// A condition or a computed value, as `$filter`, `$orderby`, `$compute` and aliases hold it.
///
/// Parentheses are not kept; the writer sets them where precedence asks for them.
public indirect enum ODataExpression: Sendable, Hashable {
  /// A constant, such as `5`, `'Rome'` or `null`.
  case literal(EdmValue)
  /// Properties, navigation, types and functions: `Address/City`, `$it`, `@p`.
  case path(ODataPath)
  /// `('a','b')`; only to the right of `in`
  case list([ODataExpression])
  /// `["a",1]` of V4
  case array([ODataExpression])
  /// `{"A":1}` of V4
  case object([ODataNamedValue])
  /// A condition that must not hold.
  case not(ODataExpression)
  /// A number with the other sign.
  case negate(ODataExpression)
  /// Two or more that must all hold.
  case and([ODataExpression])
  /// Two or more of which one must hold.
  case or([ODataExpression])
  /// The operator, then its left and right side.
  case compare(ODataComparison, ODataExpression, ODataExpression)
  /// The operator, then its left and right side.
  case arithmetic(ODataArithmetic, ODataExpression, ODataExpression)
  /// A standard function with its arguments, such as `length(Name)`.
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
  /// True for two nulls.
  case equal = "eq"
  /// False for two nulls.
  case notEqual = "ne"
  /// False where a side is null.
  case less = "lt"
  /// As `less`, but true for equal values.
  case lessOrEqual = "le"
  /// False where a side is null.
  case greater = "gt"
  /// As `greater`, but true for equal values.
  case greaterOrEqual = "ge"
  /// Whether an enumeration has all these flags.
  case has = "has"
  /// Whether a value is a member of a list or collection.
  case isIn = "in"
}

/// A calculation.
public enum ODataArithmetic: String, Sendable, Hashable, CaseIterable {
  /// Null where a side is null, as for all of these.
  case add = "add"
  /// The right side is taken from the left one.
  case subtract = "sub"
  /// Exact for whole numbers and decimals.
  case multiply = "mul"
  /// Whole numbers stay whole.
  case divide = "div"
  /// Whole numbers are divided as decimals.
  case divideBy = "divby"
  /// What remains after `div`.
  case modulo = "mod"
}

/// One arm of a `case`.
public struct ODataChoice: Sendable, Hashable {
  /// Tried after those of earlier arms.
  public var condition: ODataExpression
  /// Computed only for the first condition that holds.
  public var value: ODataExpression

  /// One `condition:value` of `case(…)`.
  public init(when condition: ODataExpression, then value: ODataExpression) {
    self.condition = condition
    self.value = value
  }
}

/// A question to the members of a collection.
public struct ODataLambda: Sendable, Hashable {
  /// Whether one member is enough, or all must hold.
  public enum Quantifier: String, Sendable, Hashable {
    /// One member is enough; false for an empty collection.
    case any
    /// Each member must hold; true for an empty collection.
    case all
  }

  /// The word behind the collection's slash.
  public var quantifier: Quantifier
  /// A navigation or collection property, such as `Lines`.
  public var collection: ODataPath
  /// The name of the member inside the predicate; nil for `any()`, which asks for any member.
  public var variable: String?
  /// What a member must fulfil; nil for `any()`.
  public var predicate: ODataExpression?

  /// Without a predicate it is `any()`: the collection is not empty.
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

  /// What the first step belongs to.
  public var start: Start
  /// In order; empty for `$it`, `$this` or an alias alone.
  public var steps: [Step]
  /// Of the steps, where they were parsed.
  public var columns: ODataColumns

  /// From the entry unless another start is given.
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
