import FerryModel

/// The result of a query, now and after each change that may affect it.
/// ```swift
/// for try await orders in Order.live(where: Order.Attributes.city == "Berlin", in: database) {
///   show(orders)
/// }
/// ```
///
/// The first element is the present result. A further one comes after a commit (a save, an import)
/// that changed a row which matches the query's test before or after the change; rows of joined and
/// tested entities count too. Several commits while the app works with the last element become one
/// element. Each element is one snapshot, read on a thread of Ferry, never on the caller's.
///
/// It ends when the iterating task is cancelled, and when the database is closed. A deleted object
/// is not in the next element; saving a copy of it throws `objectNotFound`.
///
/// Cost: each change is compared with every live query in memory, and only affected queries run
/// again.
public struct LiveQuery<Element: Sendable>: AsyncSequence, Sendable {
  /// The error type of reading.
  public typealias Failure = FerryError

  private let live: LiveQueries
  private let dependencies: QueryDependencies
  private let beginsWithState: Bool
  private let read: @Sendable (RowChanges) throws(FerryError) -> Element

  package init(
    _ live: LiveQueries, _ dependencies: QueryDependencies, beginsWithState: Bool = true,
    _ read: @escaping @Sendable (RowChanges) throws(FerryError) -> Element
  ) {
    self.live = live
    self.dependencies = dependencies
    self.beginsWithState = beginsWithState
    self.read = read
  }

  /// Watches from now on.
  public func makeAsyncIterator() -> Iterator {
    let (number, signal) = live.add(dependencies, isRung: beginsWithState)
    return Iterator(live, number, signal, read)
  }

  /// Watches from its creation on.
  public final class Iterator: AsyncIteratorProtocol {
    private let live: LiveQueries
    private let read: @Sendable (RowChanges) throws(FerryError) -> Element
    private let number: Int
    private let signal: LiveSignal

    fileprivate init(
      _ live: LiveQueries, _ number: Int, _ signal: LiveSignal,
      _ read: @escaping @Sendable (RowChanges) throws(FerryError) -> Element
    ) {
      self.live = live
      self.number = number
      self.signal = signal
      self.read = read
    }

    deinit { live.remove(number) }

    public func next() async throws(FerryError) -> Element? { try await next(isolation: nil) }

    public func next(isolation actor: isolated (any Actor)?) async throws(FerryError) -> Element? {
      guard await signal.wait() else { return nil }
      let changes = signal.takeChanges()
      let read = self.read
      return try await live.read { () throws(FerryError) in try read(changes) }
    }
  }
}

extension BusinessObject {
  /// The objects that pass a test, or all, now and after each change; sorted by `order`.
  ///
  /// The objects of `prefetching` are read from the same snapshot, as for `findAll`; then every
  /// change of an entity on a path makes a further element.
  public static func live(
    where test: TestOf<Self>? = nil, orderBy order: [SortCriteria] = [], skip: Int = 0,
    take: Int? = nil, prefetching paths: [any RelationshipPath<Self>] = [],
    in database: FerryDatabase
  ) -> LiveQuery<[Self]> {
    live(query(test, order, skip, take), prefetching: paths, in: database)
  }

  /// The objects that a query from this entity finds, now and after each change.
  public static func live(
    _ query: RowQuery, prefetching paths: [any RelationshipPath<Self>] = [],
    in database: FerryDatabase
  ) -> LiveQuery<[Self]> {
    let store = database.store
    let dependencies = QueryDependencies(query, with: paths, store.model)
    return LiveQuery(database.live, dependencies) { _ throws(FerryError) in
      try query.objects(prefetching: paths, in: store)
    }
  }

  /// The number of objects that pass a test, now and after each change that may affect it.
  public static func liveCount(
    where test: TestOf<Self>? = nil, in database: FerryDatabase
  ) -> LiveQuery<Int> {
    let query = query(test, [], 0, nil)
    let store = database.store
    return LiveQuery(database.live, QueryDependencies(query, store.model)) {
      _ throws(FerryError) in try query.count(in: store)
    }
  }

  /// This object now and after each change; nil when it is deleted or leaves the device.
  ///
  /// Throws `objectNotSaved` when it is read, for a new object that was not saved or whose
  /// transaction was undone. For `prefetching` see the live query of several objects.
  public func live(
    prefetching paths: [any RelationshipPath<Self>] = [], in database: FerryDatabase
  ) -> LiveQuery<Self?> {
    let entity = Self.entity
    let store = database.store
    guard let object = record.object else {
      return LiveQuery(database.live, QueryDependencies(all: [], store.model)) {
        _ throws(FerryError) in
        throw FerryError(
          .objectNotSaved, "a \(entity.name) that was not saved cannot be watched",
          hint: "Call create first, then live again.", entity: entity.name)
      }
    }
    let query = Self.query(TestOf(.object(entity: entity.name, object)), [], 0, nil)
    let dependencies = QueryDependencies(query, with: paths, store.model)
    return LiveQuery(database.live, dependencies) { _ throws(FerryError) in
      guard paths.isEmpty else { return try query.objects(prefetching: paths, in: store).first }
      return try Records(store).of(entity, object: object).map(Self.init(record:))
    }
  }

  /// The changes of this entity's objects, commit by commit: the first element comes with the first
  /// change after the iteration began.
  public static func changes(in database: FerryDatabase) -> LiveQuery<ObjectChanges> {
    let store = database.store
    let dependencies = QueryDependencies(all: [entity.name], store.model)
    return LiveQuery(database.live, dependencies, beginsWithState: false) {
      changes throws(FerryError) in
      ObjectChanges(entity, changes.entities[entity.name])
    }
  }
}

extension FerryDatabase {
  /// The rows of a query, now and after each change that may affect them.
  public func live(_ query: RowQuery) -> LiveQuery<QueryResultSet> {
    let store = store
    return LiveQuery(live, QueryDependencies(query, store.model)) {
      _ throws(FerryError) in try query.rows(in: store)
    }
  }
}

/// The changes of one entity's visible objects in one or more commits.
public struct ObjectChanges: Sendable, Equatable {
  /// The changes in their order. Empty at the beginning, and if `isComplete` is false.
  public let changes: [ObjectChange]
  /// False if there were too many changes to list them: read the objects again.
  public let isComplete: Bool

  init(_ entity: Entity, _ extent: RowChanges.Extent?) {
    guard case .rows(let rows) = extent ?? .rows([]) else {
      (changes, isComplete) = ([], false)
      return
    }
    changes = rows.compactMap { ObjectChange(entity, $0) }
    isComplete = true
  }
}

/// One change of one visible object.
public struct ObjectChange: Sendable, Equatable {
  /// The kind of the change.
  public enum Kind: Sendable {
    /// It was not visible before.
    case inserted
    /// Values or the state are different.
    case updated
    /// It was deleted, or left the device.
    case deleted
  }

  /// Whether it appeared, changed, or disappeared.
  public let kind: Kind
  /// The business key after the change, if it was assigned by it.
  public let key: ObjectKey
  /// The device's own key of the object, which never changes.
  public let surrogateKey: Int64
  /// The names of the changed attributes; empty for an update of the state alone.
  public let attributes: [String]

  fileprivate init?(_ entity: Entity, _ row: RowChange) {
    guard let values = row.after ?? row.before else { return nil }
    kind = row.before == nil ? .inserted : row.after == nil ? .deleted : .updated
    key = entity.key(of: values)
    surrogateKey = row.object
    let before = row.before ?? []
    attributes =
      kind == .updated
      ? entity.attributes.indices.filter { before[$0] != values[$0] }
        .map { entity.attributes[$0].name } : []
  }
}
