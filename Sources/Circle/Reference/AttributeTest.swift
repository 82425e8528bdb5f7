import Ferry

/// A test of one attribute by its name, with the reference's operators.
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
    let null: String? = nil
    let given: any AttributeConvertible = if let value { value } else { null }
    self.init(`operator`, given: "a value") { positive in
      switch positive {
      case .isNull: item.isNull
      case .equal: AttributeTest.equal(item, given)
      case .lessThan: AttributeTest.less(item, given)
      case .lessEqual: AttributeTest.lessEqual(item, given)
      case .greaterThan: AttributeTest.greater(item, given)
      case .greaterEqual: AttributeTest.greaterEqual(item, given)
      case .in: item.isIn(AttributeTest.elements(of: given) ?? [given])
      case .like, .match, .contains, .startsWith, .endsWith:
        if case .text(let text) = given.value, AttributeTest.elements(of: given) == nil {
          AttributeTest.test(of: item, positive, text)
        } else {
          .invalid(
            "\(attribute) is tested with \(`operator`), which takes a text, not "
              + given.value.shown,
            hint: "Give a text; numbers, dates and the like are compared with equal and its kin.")
        }
      default: nil
      }
    }
  }

  // A value of a type that is known only when it runs.

  private static func equal(_ item: SelectItem, _ value: some AttributeConvertible) -> TestCriteria
  { item == value }
  private static func less(_ item: SelectItem, _ value: some AttributeConvertible) -> TestCriteria {
    item < value
  }
  private static func lessEqual(
    _ item: SelectItem, _ value: some AttributeConvertible
  ) -> TestCriteria { item <= value }
  private static func greater(
    _ item: SelectItem, _ value: some AttributeConvertible
  ) -> TestCriteria { item > value }
  private static func greaterEqual(
    _ item: SelectItem, _ value: some AttributeConvertible
  ) -> TestCriteria { item >= value }

  /// Of a list; nil for one value, which bytes are.
  private static func elements(of value: any AttributeConvertible) -> [any AttributeConvertible]? {
    value is [UInt8] ? nil : value as? [any AttributeConvertible]
  }

  private static func test(
    of item: SelectItem, _ operator: Operator, _ text: String
  ) -> TestCriteria {
    switch `operator` {
    case .match: item.matches(text)
    case .contains: item.contains(text)
    case .startsWith: item.starts(with: text)
    case .endsWith: item.ends(with: text)
    default: item.like(text)
    }
  }

  /// Compares with another attribute of the query by `equal`, `less…` or `greater…`: the
  /// reference's Column.
  public init(_ attribute: String, _ operator: Operator, column: String) {
    let (item, other) = (SelectItem(attribute), SelectItem(column))
    self.init(`operator`, given: "another attribute") {
      switch $0 {
      case .equal: item == other
      case .lessThan: item < other
      case .lessEqual: item <= other
      case .greaterThan: item > other
      case .greaterEqual: item >= other
      default: nil
      }
    }
  }

  /// A test by `in` or `notIn` with a list of values.
  public init(_ attribute: String, _ operator: Operator, _ values: [any AttributeConvertible]) {
    self.init(`operator`, given: "a list of values") {
      $0 == .in ? SelectItem(attribute).isIn(values) : nil
    }
  }

  /// A test by `in` or `notIn` with the values that a query of one item returns.
  public init(_ attribute: String, _ operator: Operator, _ query: RowQuery) {
    self.init(`operator`, given: "an attribute and a query") {
      $0 == .in ? SelectItem(attribute).isIn(query) : nil
    }
  }

  /// A test by `exists` or `notExists`; the inner query may name aliases of the outer one.
  public init(_ operator: Operator, _ query: RowQuery) {
    self.init(`operator`, given: "a query alone") { $0 == .exists ? .exists(query) : nil }
  }

  /// `test` makes the positive tests; each negative one follows its positive one.
  private init(_ operator: Operator, given: String, _ test: (Operator) -> TestCriteria?) {
    if let made = test(`operator`) {
      criteria = made
    } else if let positive = `operator`.positive, let made = test(positive) {
      criteria = !made
    } else {
      criteria = .invalid(
        "the test \(`operator`) does not take \(given)", hint: `operator`.takes)
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
  fileprivate var takes: String {
    switch positive ?? self {
    case .isNull: "Give it nothing but the attribute."
    case .like, .match, .contains, .startsWith, .endsWith: "Give it a text."
    case .in: "Give it a list of values, or a query that selects one item."
    case .exists: "Give it a query and no attribute."
    default: "Give it a value, or another attribute by `column:`."
    }
  }
}
