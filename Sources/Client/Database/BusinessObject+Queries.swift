import FerryModel

extension BusinessObject {
  /// The objects that pass a test, or all, sorted as said and otherwise as they came.
  ///
  /// ```swift
  /// typealias A = Order.Attributes
  /// let orders = try Order.findAll(
  ///   where: A.total > 100 && A.city == "Berlin", orderBy: .descending(A.date), take: 20,
  ///   prefetching: [A.lines, A.lines.then(Line.Attributes.product)], in: database)
  /// ```
  /// Reads one snapshot and waits for nobody; inside a transaction it sees what that changed. What
  /// `prefetching` names is read with one statement for each step, of the same snapshot, and walking
  /// it from these objects reads nothing more.
  ///
  /// `invalidQuery` for a negative `skip` or `take`.
  public static func findAll(
    where test: TestOf<Self>? = nil, orderBy order: SortCriteria..., skip: Int = 0,
    take: Int? = nil, prefetching paths: [any RelationshipPath<Self>] = [], in database: Database
  ) throws(FerryError) -> [Self] {
    try findWithQuery(query(test, order, skip, take), prefetching: paths, in: database)
  }

  /// The same with an order that was put together before.
  public static func findAll(
    where test: TestOf<Self>? = nil, orderBy order: [SortCriteria], skip: Int = 0,
    take: Int? = nil, prefetching paths: [any RelationshipPath<Self>] = [], in database: Database
  ) throws(FerryError) -> [Self] {
    try findWithQuery(query(test, order, skip, take), prefetching: paths, in: database)
  }

  /// The first of the objects that pass a test, or of all; nil where none does.
  public static func findFirst(
    where test: TestOf<Self>? = nil, orderBy order: SortCriteria...,
    prefetching paths: [any RelationshipPath<Self>] = [], in database: Database
  ) throws(FerryError) -> Self? {
    try findWithQuery(query(test, order, 0, 1), prefetching: paths, in: database).first
  }

  /// The same with an order that was put together before.
  public static func findFirst(
    where test: TestOf<Self>? = nil, orderBy order: [SortCriteria],
    prefetching paths: [any RelationshipPath<Self>] = [], in database: Database
  ) throws(FerryError) -> Self? {
    try findWithQuery(query(test, order, 0, 1), prefetching: paths, in: database).first
  }

  /// The objects that a query gives, each once, however many rows its joins make of it. The query
  /// begins with this entity; what it selects does not matter. `prefetching` is as for `findAll`.
  public static func findWithQuery(
    _ query: Query, prefetching paths: [any RelationshipPath<Self>] = [], in database: Database
  ) throws(FerryError) -> [Self] {
    try database.store.objects(query, prefetching: paths)
  }

  /// How many objects pass a test; all, where none is given.
  public static func count(
    where test: TestOf<Self>? = nil, in database: Database
  ) throws(FerryError) -> Int {
    try database.store.count(query(test, [], 0, nil))
  }

  /// How many objects a query gives (the reference's getSize).
  public static func countWithQuery(
    _ query: Query, in database: Database
  ) throws(FerryError) -> Int {
    try database.store.count(query)
  }

  package static func query(
    _ test: TestOf<Self>?, _ order: [SortCriteria], _ skip: Int, _ take: Int?
  ) -> Query {
    var query = Query(from: Self.self)
    query.test = test?.criteria
    query.order = order
    query.skipped = skip
    query.taken = take
    return query
  }
}

extension Database {
  /// The rows that a query gives.
  public func executeQuery(_ query: Query) throws(FerryError) -> QueryResultSet {
    try store.rows(query)
  }

  /// The rows that a SQL text gives: one SELECT, over the entities' names, with a value for each
  /// `?`. It can read objects and nothing else, and write nothing.
  ///
  /// Decimals and unbounded integers are texts: they sort and compare as numbers with `COLLATE
  /// ferry_decimal`, and `ferry_sum` adds them without loss. Write values as parameters, not into
  /// the text: it is prepared once and kept.
  ///
  /// `invalidQuery` names what SQLite does not take.
  public func executeSQL(
    _ text: String, _ parameters: any AttributeConvertible...
  ) throws(FerryError) -> QueryResultSet { try executeSQL(text, values: parameters) }

  /// The same with values that were put together before, in the order of the `?`.
  public func executeSQL(
    _ text: String, values: [any AttributeConvertible]
  ) throws(FerryError) -> QueryResultSet { try store.rows(sql: text, values.map(\.value)) }
}
