import FerryModel

extension Record {
  /// A new object of `database`, not yet saved.
  public init(_ entity: Entity, in database: Database) { self.init(entity, store: database.store) }
}

extension BusinessObject {
  /// The object with this business key; nil when it is not on the device.
  ///
  /// Generated types have the same with the key's own attributes: `Carrier.find("LH", in: database)`.
  /// A temporary key finds its object also after the business system gave it another one.
  public static func find(key: Key, in database: Database) throws(FerryError) -> Self? {
    try database.store.record(entity, key: key).map(Self.init(record:))
  }

  /// The object with this business key; `objectNotFound` when it is not on the device.
  public static func load(key: Key, in database: Database) throws(FerryError) -> Self {
    guard let object = try find(key: key, in: database) else {
      throw FerryError(
        .objectNotFound, "\(entity.name) \(key) is not on the device",
        hint: "It was deleted, or it is not among this user's data.", entity: entity.name)
    }
    return object
  }

  /// All objects that are visible, in the order in which they came; `take` limits their number.
  ///
  /// What `prefetching` names is read with one statement for each relationship, of the same snapshot,
  /// and walking it from these objects reads nothing more:
  /// `Order.findAll(in: database, prefetching: [Order.Attributes.lines])`.
  public static func findAll(
    in database: Database, skip: Int = 0, take: Int? = nil,
    prefetching paths: [any RelationshipPath<Self>] = []
  ) throws(FerryError) -> [Self] {
    try query("ORDER BY _id", [], in: database, skip: skip, take: take, prefetching: paths)
  }

  /// The object with this business key, as the reference calls it: `find` (facts/1.5).
  public static func findByPrimaryKey(
    _ key: Key, in database: Database
  ) throws(FerryError) -> Self? { try find(key: key, in: database) }

  /// The objects with a change of their own that waits to be replayed or answered, in the order of
  /// their surrogate keys; with a `change`, those only whose pending change it is (facts/1.5).
  ///
  /// Pending deletes are among them, though no query sees them: `isDeleted` tells, and
  /// `cancelPending` brings them back.
  public static func getPendingObjects(
    _ change: PendingChange? = nil, in database: Database, skip: Int = 0, take: Int? = nil
  ) throws(FerryError) -> [Self] {
    try database.store.pendingRecords(entity, change, .all, skip: skip, take: take)
      .map(Self.init(record:))
  }

  /// How many objects have a pending change of their own.
  public static func countPendingObjects(
    _ change: PendingChange? = nil, in database: Database
  ) throws(FerryError) -> Int { try database.store.pendingCount(entity, change, .all) }

  /// The objects whose change was submitted and is not answered (facts/1.5).
  public static func getReplayPendingObjects(
    in database: Database, skip: Int = 0, take: Int? = nil
  ) throws(FerryError) -> [Self] {
    try database.store.pendingRecords(entity, nil, .replaying, skip: skip, take: take)
      .map(Self.init(record:))
  }

  /// How many objects have a change that was submitted and is not answered (facts/1.5).
  public static func countReplayPendingObjects(in database: Database) throws(FerryError) -> Int {
    try database.store.pendingCount(entity, nil, .replaying)
  }

  /// The objects that a query of the model finds, with what `paths` lead to; what generated code
  /// calls.
  public static func query(
    _ rest: String, _ parameters: [Value], in database: Database, skip: Int = 0, take: Int? = nil,
    prefetching paths: [any RelationshipPath<Self>] = []
  ) throws(FerryError) -> [Self] {
    let count = parameters.count
    let rest = "\(rest) LIMIT ?\(count + 1) OFFSET ?\(count + 2)"
    let values = parameters + [.integer(Int64(take ?? -1)), .integer(Int64(skip))]
    return try database.store.objects(rest, values, prefetching: paths)
  }

  /// How many objects are visible.
  public static func count(in database: Database) throws(FerryError) -> Int {
    try database.store.count(entity)
  }

  /// Does what `submitPending` does for every pending object of this type (sync/P3).
  ///
  /// What cannot be sent stays pending with what is replayed as one with it, and holds up nothing
  /// else: when everything else is submitted, the first reason is thrown as `invalidChange`, which
  /// names entity and attribute and says how many objects stay. It is done in transactions of a
  /// thousand objects; an error of the disk ends it after those that were.
  public static func submitPendingOperations(in database: Database) throws(FerryError) {
    try database.store.submitAll(entity)
  }

  /// Does what `cancelPending` does for every pending object of this type (sync/P20), in
  /// transactions of a thousand objects; an error of the disk ends it after those that were.
  public static func cancelPendingOperations(in database: Database) throws(FerryError) {
    try database.store.cancelAll(entity)
  }
}
