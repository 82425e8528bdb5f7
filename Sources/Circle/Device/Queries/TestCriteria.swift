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
    case inList(SelectItem, [AttributeValue])
    case inQuery(SelectItem, RowQuery)
    /// A test that cannot be; the query says so when it runs.
    case invalid(String, hint: String)
    case exists(RowQuery)
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
    case value(AttributeValue)
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
  /// The same test for rows of any kind.
  public let criteria: TestCriteria

  package init(_ content: TestCriteria.Content) { criteria = TestCriteria(content) }

  /// The objects that pass `test`, which was written for rows of any kind. A name that the entity
  /// does not have is an error when the query runs.
  public init(_ test: some QueryTest) { criteria = test.criteria }

  /// Passes what both tests pass.
  public static func && (left: Self, right: Self) -> Self {
    Self(.and([left.criteria.content, right.criteria.content]))
  }

  /// Passes what one of the tests passes, or both.
  public static func || (left: Self, right: Self) -> Self {
    Self(.or([left.criteria.content, right.criteria.content]))
  }

  /// Passes what the test does not pass; null is neither.
  public static prefix func ! (test: Self) -> Self { Self(.not(test.criteria.content)) }
}

extension TestCriteria {
  /// Passes what both tests pass.
  public static func && (left: Self, right: some QueryTest) -> Self {
    Self(.and([left.content, right.criteria.content]))
  }

  /// Passes what one of the tests passes, or both.
  public static func || (left: Self, right: some QueryTest) -> Self {
    Self(.or([left.content, right.criteria.content]))
  }

  /// Passes what the test does not pass; null is neither.
  public static prefix func ! (test: Self) -> Self { Self(.not(test.content)) }
}

/// A condition on the state of objects, as in the reference; with several options, all must be
/// true.
public struct EntityFilter: OptionSet, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Has a change of its own, or of a part, that was not accepted.
  public static let pending = EntityFilter(rawValue: 1)
  /// Is as the business system has it.
  public static let notPending = EntityFilter(rawValue: 2)
  /// Its create was not accepted yet.
  public static let created = EntityFilter(rawValue: 4)
  /// The business system has it.
  public static let notCreated = EntityFilter(rawValue: 8)
  /// An update of it was not accepted yet.
  public static let updated = EntityFilter(rawValue: 16)
  /// No update of it waits.
  public static let notUpdated = EntityFilter(rawValue: 32)
  /// Matches no object: an object with a pending delete is not visible.
  public static let deleted = EntityFilter(rawValue: 64)
  /// Every visible object: a deleted one is hidden.
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
