import FerryModel

/// Reading without blocking the caller: the work runs on a thread of Ferry's own. Each call reads
/// one snapshot. `cancelled` if the task is cancelled before the reading begins.
extension BusinessObject {
  /// The objects that pass a test, or all; sorted by `order`.
  ///
  /// ```swift
  /// typealias A = Order.Attributes
  /// let orders = try await Order.find(
  ///   A.total > 100 && A.city == "Berlin", orderBy: [.descending(A.date)], take: 20, in: database)
  /// ```
  /// What `prefetching` names is read with one statement for each step; following it from these
  /// objects reads nothing more. `invalidQuery` for a negative `skip` or `take`.
  public static func find(
    _ test: TestOf<Self>? = nil, orderBy order: [SortCriteria] = [], skip: Int = 0,
    take: Int? = nil, prefetching paths: [any RelationshipPath<Self>] = [], in database: Database
  ) async throws(FerryError) -> [Self] {
    try await find(query(test, order, skip, take), prefetching: paths, in: database)
  }

  /// The objects that a query finds, each once, even if a join gives several rows of one object.
  public static func find(
    _ query: Query, prefetching paths: [any RelationshipPath<Self>] = [], in database: Database
  ) async throws(FerryError) -> [Self] {
    let store = database.store
    return try await store.work.read { () throws(FerryError) -> [Self] in
      try store.objects(query, prefetching: paths)
    }
  }

  /// The first of the objects that pass a test, or of all; nil if there is none.
  public static func first(
    _ test: TestOf<Self>? = nil, orderBy order: [SortCriteria] = [],
    prefetching paths: [any RelationshipPath<Self>] = [], in database: Database
  ) async throws(FerryError) -> Self? {
    try await find(query(test, order, 0, 1), prefetching: paths, in: database).first
  }
}

extension Database {
  /// The rows that a query finds, read without blocking the caller.
  public func rows(_ query: Query) async throws(FerryError) -> QueryResultSet {
    let store = store
    return try await store.work.read { () throws(FerryError) -> QueryResultSet in
      try store.rows(query)
    }
  }

  /// The rows that one SQL SELECT finds, with a value for each `?`; see `executeSQL`.
  public func rows(
    sql text: String, _ parameters: any AttributeConvertible...
  ) async throws(FerryError) -> QueryResultSet {
    let (store, values) = (store, parameters.map(\.value))
    return try await store.work.read { () throws(FerryError) -> QueryResultSet in
      try store.rows(sql: text, values)
    }
  }
}
