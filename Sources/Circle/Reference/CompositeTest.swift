import Ferry

/// A combination of several tests, with the reference's operators.
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
    criteria =
      switch `operator` {
      case .not: !.any(tests)
      case .and: .all(tests)
      case .or: .any(tests)
      }
  }
}
