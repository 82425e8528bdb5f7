import FerryModel

/// The condition of a query: a row passes it or does not.
///
/// Nil is a value like any other, as in Swift: `city != "Berlin"` is true without a city, and every
/// comparison with less or greater is false for nil. So a test is true or false, and `!` is its
/// opposite.
public struct TestCriteria: QueryTest, Hashable {
  package indirect enum Content: Sendable, Hashable {
    case constant(Bool)
    case compare(SelectItem, Comparison, Operand)
    /// SQL's LIKE with `\` before what is meant literally.
    case like(SelectItem, String)
    case inList(SelectItem, [Value])
    case inQuery(SelectItem, Query)
    /// A test of texts that was given another value, which the query says when it runs.
    case unfit(SelectItem, AttributeTest.Operator, Value)
    /// An operator that was given something of another kind, named here; the query says so when it
    /// runs.
    case unsuited(AttributeTest.Operator, given: String)
    case exists(Query)
    /// There is an object at the other end of a relationship of `entity` that passes the test.
    case related(entity: String, relationship: String, inverse: String?, target: String, Content)
    /// Words, in the attributes of the entity that the model marks for full-text search.
    case fullText(entity: String, String)
    /// Words, in this one attribute, which the model must mark.
    case match(SelectItem, String)
    /// The object with this surrogate key.
    case object(entity: String, Int64)
    case pending(EntityFilter)
    case and([Content])
    case or([Content])
    case not(Content)
  }

  package enum Comparison: String, Sendable, Hashable {
    case equal = "="
    case less = "<"
    case lessEqual = "<="
    case greater = ">"
    case greaterEqual = ">="
  }

  package enum Operand: Sendable, Hashable {
    case value(Value)
    case item(SelectItem)
  }

  package let content: Content

  package init(_ content: Content) { self.content = content }

  public var criteria: TestCriteria { self }
}

/// A type that `where` and `having` of a query accept.
public protocol QueryTest: Sendable {
  var criteria: TestCriteria { get }
}

/// A test of one entity's objects: `Order.Attributes.total > 100`.
///
/// A test of another entity's attributes has another type and does not compile in its place.
public struct TestOf<Object: BusinessObject>: QueryTest, Hashable {
  public let criteria: TestCriteria

  package init(_ content: TestCriteria.Content) { criteria = TestCriteria(content) }

  /// The objects that pass `test`, which was written for rows of any kind. A name that the entity
  /// does not have is an error when the query runs.
  public init(_ test: some QueryTest) { criteria = test.criteria }

  public static func && (left: Self, right: Self) -> Self {
    Self(.and([left.criteria.content, right.criteria.content]))
  }

  public static func || (left: Self, right: Self) -> Self {
    Self(.or([left.criteria.content, right.criteria.content]))
  }

  public static prefix func ! (test: Self) -> Self { Self(.not(test.criteria.content)) }
}

extension TestCriteria {
  public static func && (left: Self, right: some QueryTest) -> Self {
    Self(.and([left.content, right.criteria.content]))
  }

  public static func || (left: Self, right: some QueryTest) -> Self {
    Self(.or([left.content, right.criteria.content]))
  }

  public static prefix func ! (test: Self) -> Self { Self(.not(test.content)) }
}

/// A test of one attribute by its name, as in the reference.
///
/// ```swift
/// AttributeTest("city", .equal, "Berlin")
/// AttributeTest("customerID", .in, Query(from: Customer.self).select("id"))
/// ```
/// Names and types are checked when the query runs: `invalidQuery` says what is wrong.
public struct AttributeTest: QueryTest, Hashable {
  /// The operators, with the reference's numbers.
  public enum Operator: Int, Sendable, Hashable, CaseIterable {
    case isNull = 1
    case notNull
    case equal
    case notEqual
    case like
    case notLike
    /// Contains words; only for an attribute that the model marks for full-text search.
    case match
    case notMatch
    case lessThan
    case lessEqual
    case greaterThan
    case greaterEqual
    case contains
    case notContains
    case startsWith
    case notStartsWith
    case endsWith
    case notEndsWith
    case `in`
    case notIn
    case exists
    case notExists
  }

  public let criteria: TestCriteria

  /// A test with one value; `nil` for an operator without a value. For `in` and `notIn` pass a
  /// list; for a query there is another initializer.
  ///
  /// `like`, `match`, `contains`, `startsWith`, `endsWith` and their opposites need a text. For
  /// another value, or none, the query throws `invalidQuery`, as for every operator with a wrong
  /// kind of value.
  public init(
    _ attribute: String, _ operator: Operator, _ value: (any AttributeConvertible)? = nil
  ) {
    let item = SelectItem(attribute)
    let list = (value as? any ElementsConvertible)?.elements
    let value = value?.value ?? .null
    self.init(`operator`, given: "a value") {
      switch $0 {
      case .isNull: .compare(item, .equal, .value(.null))
      case .equal: .compare(item, .equal, .value(value))
      case .lessThan: .compare(item, .less, .value(value))
      case .lessEqual: .compare(item, .lessEqual, .value(value))
      case .greaterThan: .compare(item, .greater, .value(value))
      case .greaterEqual: .compare(item, .greaterEqual, .value(value))
      case .in: .inList(item, list ?? [value])
      case .like, .match, .contains, .startsWith, .endsWith:
        if case .text(let text) = value, list == nil {
          AttributeTest.test(of: item, $0, text)
        } else {
          .unfit(item, `operator`, value)
        }
      default: nil
      }
    }
  }

  private static func test(
    of item: SelectItem, _ operator: Operator, _ text: String
  ) -> TestCriteria.Content {
    let literal = TestCriteria.literal(text)
    return switch `operator` {
    case .match: .match(item, text)
    case .contains: .like(item, "%\(literal)%")
    case .startsWith: .like(item, "\(literal)%")
    case .endsWith: .like(item, "%\(literal)")
    default: .like(item, text)
    }
  }

  /// Compares with another attribute of the query by `equal`, `less…` or `greater…`: the
  /// reference's Column.
  public init(_ attribute: String, _ operator: Operator, column: String) {
    let item = SelectItem(attribute)
    let other = TestCriteria.Operand.item(SelectItem(column))
    self.init(`operator`, given: "another attribute") {
      switch $0 {
      case .equal: .compare(item, .equal, other)
      case .lessThan: .compare(item, .less, other)
      case .lessEqual: .compare(item, .lessEqual, other)
      case .greaterThan: .compare(item, .greater, other)
      case .greaterEqual: .compare(item, .greaterEqual, other)
      default: nil
      }
    }
  }

  /// A test by `in` or `notIn` with a list of values.
  public init(_ attribute: String, _ operator: Operator, _ values: [any AttributeConvertible]) {
    self.init(`operator`, given: "a list of values") {
      $0 == .in ? .inList(SelectItem(attribute), values.map(\.value)) : nil
    }
  }

  /// A test by `in` or `notIn` with the values that a query of one item returns.
  public init(_ attribute: String, _ operator: Operator, _ query: Query) {
    self.init(`operator`, given: "an attribute and a query") {
      $0 == .in ? .inQuery(SelectItem(attribute), query) : nil
    }
  }

  /// A test by `exists` or `notExists`; the inner query may name aliases of the outer one.
  public init(_ operator: Operator, _ query: Query) {
    self.init(`operator`, given: "a query alone") { $0 == .exists ? .exists(query) : nil }
  }

  /// `test` makes the positive tests; each negative one follows its positive one.
  private init(
    _ operator: Operator, given: String, _ test: (Operator) -> TestCriteria.Content?
  ) {
    if let content = test(`operator`) {
      criteria = TestCriteria(content)
    } else if let positive = `operator`.positive, let content = test(positive) {
      criteria = TestCriteria(.not(content))
    } else {
      criteria = TestCriteria(.unsuited(`operator`, given: given))
    }
  }
}

extension AttributeTest.Operator {
  /// What this one is the opposite of.
  fileprivate var positive: Self? {
    switch self {
    case .notNull: .isNull
    case .notEqual: .equal
    case .notLike: .like
    case .notMatch: .match
    case .notContains: .contains
    case .notStartsWith: .startsWith
    case .notEndsWith: .endsWith
    case .notIn: .in
    case .notExists: .exists
    default: nil
    }
  }

  /// What it takes, for who gave it something else.
  var takes: String {
    switch positive ?? self {
    case .isNull: "Give it nothing but the attribute."
    case .like, .match, .contains, .startsWith, .endsWith: "Give it a text."
    case .in: "Give it a list of values, or a query that selects one item."
    case .exists: "Give it a query and no attribute."
    default: "Give it a value, or another attribute by `column:`."
    }
  }
}

/// A combination of several tests, as in the reference.
public struct CompositeTest: QueryTest, Hashable {
  /// The operators, with the reference's numbers.
  public enum Operator: Int, Sendable, Hashable, CaseIterable {
    case not = 1
    case and
    case or
  }

  public let criteria: TestCriteria

  /// `not` is true if none of the tests is true; without tests `and` is true, and `or` is false.
  public init(_ operator: Operator, _ tests: [any QueryTest]) {
    let contents = tests.map(\.criteria.content)
    switch `operator` {
    case .not: criteria = TestCriteria(.not(.or(contents)))
    case .and: criteria = TestCriteria(.and(contents))
    case .or: criteria = TestCriteria(.or(contents))
    }
  }
}

/// A condition on the state of objects, as in the reference; with several options, all must be
/// true.
public struct EntityFilter: OptionSet, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }

  public static let pending = EntityFilter(rawValue: 1)
  public static let notPending = EntityFilter(rawValue: 2)
  public static let created = EntityFilter(rawValue: 4)
  public static let notCreated = EntityFilter(rawValue: 8)
  public static let updated = EntityFilter(rawValue: 16)
  public static let notUpdated = EntityFilter(rawValue: 32)
  /// Matches no object: an object with a pending delete is not visible.
  public static let deleted = EntityFilter(rawValue: 64)
  public static let notDeleted = EntityFilter(rawValue: 128)
  /// The reference's constant for all objects.
  public static let all = EntityFilter(rawValue: 217_483_647)
}

extension TestCriteria {
  /// A text for `like` in which nothing has a meaning of its own.
  static func literal(_ text: String) -> String {
    var literal = ""
    for scalar in text.unicodeScalars {
      if scalar == "%" || scalar == "_" || scalar == "\\" { literal.append("\\") }
      literal.unicodeScalars.append(scalar)
    }
    return literal
  }
}
