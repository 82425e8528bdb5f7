import FerryModel

/// A query of the local database: entities, conditions, items and order.
///
/// A value; each call returns a changed copy. Names in texts are checked when the query runs:
/// `invalidQuery` says which name is wrong and which name is similar.
/// ```swift
/// let query = Query(from: Order.self)
///   .join(Order.Attributes.customer)
///   .select(Customer.Attributes.city, .sum(Order.Attributes.total).as("total"))
///   .groupBy(Customer.Attributes.city)
///   .having(.sum(Order.Attributes.total) > 1000)
///   .orderBy(.descending("total"))
/// for row in try database.executeQuery(query) { … }
/// ```
public struct RowQuery: Sendable, Hashable {
  package struct Source: Sendable, Hashable {
    package indirect enum Content: Sendable, Hashable {
      case entity(String)
      case query(RowQuery)
    }
    package let content: Content
    package let alias: String
  }

  package struct Join: Sendable, Hashable {
    package indirect enum Condition: Sendable, Hashable {
      case relationship(
        entity: String, source: String?, name: String, inverse: String?)
      case test(TestCriteria)
    }
    package let source: Source
    package let isOuter: Bool
    package let condition: Condition
  }

  package enum Composition: String, Sendable, Hashable {
    case union = "UNION"
    case unionAll = "UNION ALL"
    case except = "EXCEPT"
    case intersect = "INTERSECT"
  }

  package struct Part: Sendable, Hashable {
    package let composition: Composition
    package let query: RowQuery
  }

  package let source: Source
  package var items: [SelectItem] = []
  package var joins: [Join] = []
  package var test: TestCriteria?
  package var groups: [SelectItem] = []
  package var groupTest: TestCriteria?
  package var order: [SortCriteria] = []
  package var isDistinct = false
  package var skipped = 0
  package var taken: Int?
  package var filter: EntityFilter?
  package var parts: [Part] = []

  /// All rows of one entity; `alias` is needed where the query has the entity twice.
  public init<Object: BusinessObject>(from type: Object.Type, as alias: String? = nil) {
    self.init(from: Object.entity.name, as: alias)
  }

  public init(from entity: String, as alias: String? = nil) {
    source = Source(content: .entity(entity), alias: alias ?? entity)
  }

  /// The rows of another query; `alias` names them: `t.total`.
  public init(fromQuery query: RowQuery, as alias: String) {
    source = Source(content: .query(query), alias: alias)
  }

  /// The items of the rows; without it every attribute of the first entity.
  public func select<each Item: Selectable>(_ items: repeat each Item) -> RowQuery {
    var query = self
    repeat query.items.append((each items).item)
    return query
  }

  /// The same as a text in the reference's form: `"a.city, sum(b.total) total"`.
  public func select(_ items: String) -> RowQuery {
    with { query in
      query.items += items.split(separator: ",").map {
        SelectItem(reading: $0.split(separator: " ").joined(separator: " "))
      }
    }
  }

  /// Adds the objects of a relationship, one row for each pair.
  ///
  /// `source` is the alias of the relationship's own entity if the query has it twice. An outer
  /// join keeps rows without an object in the relationship.
  public func join<Object, Target>(
    _ relationship: RelationshipOf<Object, Target>, as alias: String? = nil,
    of source: String? = nil, outer: Bool = false
  ) -> RowQuery {
    let target = Target.entity.name
    return with {
      $0.joins.append(
        Join(
          source: Source(content: .entity(target), alias: alias ?? target), isOuter: outer,
          condition: .relationship(
            entity: Object.entity.name, source: source, name: relationship.name,
            inverse: relationship.inverse)))
    }
  }

  /// Adds another entity where two attributes are equal: `join("Customer", as: "c", "c.id",
  /// "Order.customerID")`.
  public func join(
    _ entity: String, as alias: String? = nil, _ left: String, _ right: String, outer: Bool = false
  ) -> RowQuery {
    let test = TestCriteria(.compare(SelectItem(left), .equal, .item(SelectItem(right))))
    return with {
      $0.joins.append(
        Join(
          source: Source(content: .entity(entity), alias: alias ?? entity), isOuter: outer,
          condition: .test(test)))
    }
  }

  /// Only rows that pass the test; with several calls, all tests.
  public func `where`(_ test: some QueryTest) -> RowQuery {
    with { $0.test = $0.test.map { known in known && test } ?? test.criteria }
  }

  /// Groups the rows that are equal in these items into one row.
  public func groupBy<each Item: Selectable>(_ items: repeat each Item) -> RowQuery {
    var query = self
    repeat query.groups.append((each items).item)
    return query
  }

  /// Only groups that pass the test; with several calls, all tests.
  public func having(_ test: some QueryTest) -> RowQuery {
    with { $0.groupTest = $0.groupTest.map { known in known && test } ?? test.criteria }
  }

  /// Sorts by the first criterion, then by the next; further calls add criteria (the reference's
  /// thenBy).
  public func orderBy(_ order: SortCriteria...) -> RowQuery { orderBy(order) }

  /// The same with an array of criteria.
  public func orderBy(_ order: [SortCriteria]) -> RowQuery { with { $0.order += order } }

  /// Returns equal rows once.
  public func distinct() -> RowQuery { with { $0.isDistinct = true } }

  /// Leaves out the first rows. Without an order, objects come in the order in which they were
  /// stored. The query throws `invalidQuery` for a negative number.
  public func skip(_ count: Int) -> RowQuery { with { $0.skipped = count } }

  /// At most this number of rows. The query throws `invalidQuery` for a negative number.
  public func take(_ count: Int) -> RowQuery { with { $0.taken = count } }

  /// Only objects in this state.
  public func entityFilter(_ filter: EntityFilter) -> RowQuery { with { $0.filter = filter } }

  /// The rows of both queries, equal ones once. Set order, skip and take on this query, not on the
  /// other; they name items, such as `.ascending("total")`.
  public func union(_ other: RowQuery) -> RowQuery { with(.union, other) }
  /// The rows of both queries.
  public func unionAll(_ other: RowQuery) -> RowQuery { with(.unionAll, other) }
  /// The rows of this query that the other one does not return.
  public func except(_ other: RowQuery) -> RowQuery { with(.except, other) }
  /// The rows that both queries return.
  public func intersect(_ other: RowQuery) -> RowQuery { with(.intersect, other) }

  private func with(_ change: (inout RowQuery) -> Void) -> RowQuery {
    var query = self
    change(&query)
    return query
  }

  private func with(_ composition: Composition, _ other: RowQuery) -> RowQuery {
    with { $0.parts.append(Part(composition: composition, query: other)) }
  }
}
