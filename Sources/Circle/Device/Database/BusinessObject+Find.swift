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
    take: Int? = nil, prefetching paths: [any RelationshipPath<Self>] = [],
    in database: FerryDatabase
  ) async throws(FerryError) -> [Self] {
    try await find(query(test, order, skip, take), prefetching: paths, in: database)
  }

  /// The objects that a query finds, each once, even if a join gives several rows of one object.
  public static func find(
    _ query: RowQuery, prefetching paths: [any RelationshipPath<Self>] = [],
    in database: FerryDatabase
  ) async throws(FerryError) -> [Self] {
    let store = database.store
    return try await store.work.read { () throws(FerryError) -> [Self] in
      try query.objects(prefetching: paths, in: store)
    }
  }

  /// The first of the objects that pass a test, or of all; nil if there is none.
  public static func first(
    _ test: TestOf<Self>? = nil, orderBy order: [SortCriteria] = [],
    prefetching paths: [any RelationshipPath<Self>] = [], in database: FerryDatabase
  ) async throws(FerryError) -> Self? {
    try await find(query(test, order, 0, 1), prefetching: paths, in: database).first
  }

  /// How many objects pass a test; all, without a test.
  public static func count(
    _ test: TestOf<Self>? = nil, in database: FerryDatabase
  ) async throws(FerryError) -> Int {
    let (store, query) = (database.store, query(test, [], 0, nil))
    return try await store.work.read { () throws(FerryError) -> Int in try query.count(in: store) }
  }

  /// The object with this business key; nil if it is not on the device.
  ///
  /// A temporary key finds its object also after the business system assigned another one.
  public static func find(
    key: ObjectKey, prefetching paths: [any RelationshipPath<Self>] = [], in database: FerryDatabase
  ) async throws(FerryError) -> Self? {
    let store = database.store
    return try await store.work.read { () throws(FerryError) -> Self? in
      try Records(store).object(key: key, prefetching: paths)
    }
  }

  /// The object with this business key; `objectNotFound` if it is not on the device.
  public static func load(
    key: ObjectKey, prefetching paths: [any RelationshipPath<Self>] = [], in database: FerryDatabase
  ) async throws(FerryError) -> Self {
    try await database.store.work.read { () throws(FerryError) -> Self in
      try Self.load(key: key, prefetching: paths, in: database)
    }
  }

  /// The objects that a query of the model finds; generated code calls this.
  public static func query(
    _ rest: String, _ parameters: [AttributeValue], skip: Int = 0, take: Int? = nil,
    prefetching paths: [any RelationshipPath<Self>] = [], in database: FerryDatabase
  ) async throws(FerryError) -> [Self] {
    try await database.store.work.read { () throws(FerryError) -> [Self] in
      try Self.query(rest, parameters, skip: skip, take: take, prefetching: paths, in: database)
    }
  }
}

extension FerryDatabase {
  /// The rows that a query finds, read without blocking the caller.
  public func rows(_ query: RowQuery) async throws(FerryError) -> QueryResultSet {
    let store = store
    return try await store.work.read { () throws(FerryError) -> QueryResultSet in
      try query.rows(in: store)
    }
  }

  /// The rows that one SQL SELECT finds, with a value for each `?`; see `executeSQL`.
  public func rows(
    sql text: String, _ parameters: any AttributeConvertible...
  ) async throws(FerryError) -> QueryResultSet {
    let (store, values) = (store, parameters.map(\.value))
    return try await store.work.read { () throws(FerryError) -> QueryResultSet in
      try Records(store).rows(sql: text, values)
    }
  }

  /// Runs `body` in one transaction on a thread of Ferry's own: all of its changes are saved, or
  /// none if it throws.
  ///
  /// ```swift
  /// try await database.transaction {
  ///   for name in names {
  ///     var booking = Booking(passenger: name, in: database)
  ///     try booking.save()
  ///   }
  /// }
  /// ```
  /// `body` uses the synchronous forms and waits for nothing else. See the synchronous `transaction`
  /// for nesting, errors, and when the changes are sent. A task that is cancelled does not stop it.
  @discardableResult
  public func transaction<Result: Sendable>(
    submitting: Submitting? = nil, _ body: @Sendable () throws -> Result
  ) async throws -> Result {
    try await store.work.write { () throws -> Result in
      try self.transaction(submitting: submitting, body)
    }
  }

  /// The same for a body that throws Ferry's errors only: it begins with `() throws(FerryError) in`.
  @discardableResult
  public func transaction<Result: Sendable>(
    submitting: Submitting? = nil, _ body: @Sendable () throws(FerryError) -> Result
  ) async throws(FerryError) -> Result {
    try await store.work.write { () throws(FerryError) -> Result in
      try self.transaction(submitting: submitting, body)
    }
  }
}
