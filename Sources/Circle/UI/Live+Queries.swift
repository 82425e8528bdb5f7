public import Ferry

extension Live {
  /// The objects that pass a test, or all; sorted by `order`.
  ///
  /// See `BusinessObject.live(where:orderBy:skip:take:prefetching:in:)`.
  public init<Object: BusinessObject>(
    _ type: Object.Type = Object.self, where test: TestOf<Object>? = nil,
    orderBy order: [SortCriteria] = [], skip: Int = 0, take: Int? = nil,
    prefetching paths: [any RelationshipPath<Object>] = [], in database: FerryDatabase? = nil
  ) where Value == [Object] {
    self.init(Object.query(test, order, skip, take), prefetching: paths, in: database)
  }

  /// The objects that a query from their entity finds.
  public init<Object: BusinessObject>(
    _ query: RowQuery, prefetching paths: [any RelationshipPath<Object>] = [],
    in database: FerryDatabase? = nil
  ) where Value == [Object] {
    let identity = LiveQueryIdentity(query: query, paths: paths.map(\.steps), isCount: false)
    self.init(
      LiveRequest(identity, initially: []) { Object.live(query, prefetching: paths, in: $0) },
      in: database)
  }

  /// The number of objects that pass a test; 0 before it was read.
  public init<Object: BusinessObject>(
    count type: Object.Type, where test: TestOf<Object>? = nil, in database: FerryDatabase? = nil
  ) where Value == Int {
    let identity = LiveQueryIdentity(
      query: Object.query(test, [], 0, nil), paths: [], isCount: true)
    self.init(
      LiveRequest(identity, initially: 0) { Object.liveCount(where: test, in: $0) }, in: database)
  }

  /// One object as it is now; nil when it is deleted or leaves the device. Before it was read, this is
  /// the copy that was given. For a new object that was not saved, the error is `objectNotSaved`.
  public init<Object: BusinessObject>(
    _ object: Object, prefetching paths: [any RelationshipPath<Object>] = [],
    in database: FerryDatabase? = nil
  ) where Value == Object? {
    self.init(
      LiveRequest(object.record.identity, initially: object) {
        object.live(prefetching: paths, in: $0)
      }, in: database)
  }

  /// Any other sequence of the database, such as `liveStatus` or the rows of a query.
  ///
  /// ```swift
  /// @Live("status", { $0.liveStatus }) var status = DatabaseStatus()
  /// ```
  /// A view that makes the property anew with another `identity` ends the old sequence and begins the
  /// new one. With an equal identity the old one goes on, so everything that `source` depends on must
  /// be part of it.
  public init<Source: AsyncSequence & SendableMetatype>(
    wrappedValue: Value, _ identity: some Hashable & Sendable,
    in database: FerryDatabase? = nil, _ source: @escaping @Sendable (FerryDatabase) -> Source
  )
  where
    Source.Element == Value, Source.Failure == FerryError, Source.AsyncIterator: SendableMetatype
  {
    self.init(LiveRequest(identity, initially: wrappedValue, source), in: database)
  }
}
