import FerryModel

extension BusinessObject {
  /// The objects that pass a test, or all; sorted by `order`, or else in the order in which they
  /// were stored.
  /// ```swift
  /// typealias A = Order.Attributes
  /// let orders = try Order.findAll(
  ///   where: A.total > 100 && A.city == "Berlin", orderBy: [.descending(A.date)], take: 20,
  ///   prefetching: [A.lines, A.lines.then(Line.Attributes.product)], in: database)
  /// ```
  ///
  /// Reads one snapshot and never waits; inside a transaction it sees the transaction's changes.
  /// The objects of `prefetching` are read from the same snapshot, with one statement for each
  /// step; following these relationships later reads nothing more.
  ///
  /// `invalidQuery` for a negative `skip` or `take`.
  public static func findAll(
    where test: TestOf<Self>? = nil, orderBy order: [SortCriteria] = [], skip: Int = 0,
    take: Int? = nil, prefetching paths: [any RelationshipPath<Self>] = [],
    in database: FerryDatabase
  ) throws(FerryError) -> [Self] {
    try findAll(query(test, order, skip, take), prefetching: paths, in: database)
  }

  /// The first of the objects that pass a test, or of all; nil if there is none.
  public static func findFirst(
    where test: TestOf<Self>? = nil, orderBy order: [SortCriteria] = [],
    prefetching paths: [any RelationshipPath<Self>] = [], in database: FerryDatabase
  ) throws(FerryError) -> Self? {
    try findAll(query(test, order, 0, 1), prefetching: paths, in: database).first
  }

  /// The objects that a query finds, each once, even if a join gives several rows of one object.
  /// The query must begin with this entity; its selection has no effect. For `prefetching` see
  /// `findAll`.
  public static func findAll(
    _ query: RowQuery, prefetching paths: [any RelationshipPath<Self>] = [],
    in database: FerryDatabase
  ) throws(FerryError) -> [Self] {
    try query.objects(prefetching: paths, in: database.store)
  }

  /// The number of objects that pass a test; of all objects without a test.
  public static func count(
    where test: TestOf<Self>? = nil, in database: FerryDatabase
  ) throws(FerryError) -> Int {
    try query(test, [], 0, nil).count(in: database.store)
  }

  /// The number of objects that a query finds.
  public static func count(
    _ query: RowQuery, in database: FerryDatabase
  ) throws(FerryError) -> Int {
    try query.count(in: database.store)
  }

  package static func query(
    _ test: TestOf<Self>?, _ order: [SortCriteria], _ skip: Int, _ take: Int?
  ) -> RowQuery {
    var query = RowQuery(from: Self.self)
    query.test = test?.criteria
    query.order = order
    query.skipped = skip
    query.taken = take
    return query
  }
}

extension FerryDatabase {
  /// The rows that a query gives.
  public func executeQuery(_ query: RowQuery) throws(FerryError) -> QueryResultSet {
    try query.rows(in: store)
  }

  /// The rows of a SQL text: one SELECT over the entities' names, with a value for each `?`. It can
  /// only read, and only objects.
  ///
  /// Decimals and unbounded integers are texts: they sort and compare as numbers with `COLLATE
  /// ferry_decimal`, and `ferry_sum` adds them without loss. Pass values as parameters, do not
  /// write them into the text: the statement is prepared once and reused.
  ///
  /// `invalidQuery` names the part that SQLite does not accept.
  public func executeSQL(
    _ text: String, _ parameters: any AttributeConvertible...
  ) throws(FerryError) -> QueryResultSet { try executeSQL(text, values: parameters) }

  /// The same with an array of values, in the order of the `?`.
  public func executeSQL(
    _ text: String, values: [any AttributeConvertible]
  ) throws(FerryError) -> QueryResultSet { try Records(store).rows(sql: text, values.map(\.value)) }
}
