import FerryModel

extension ObjectRecord {
  /// A new object, not yet saved. Without a database it becomes an object of the database that saves
  /// it: `database.save(&object)`.
  public init(_ entity: Entity, in database: FerryDatabase? = nil) {
    self.init(entity, store: database?.store)
  }
}

extension BusinessObject {
  /// The object with this business key; nil if it is not on the device.
  ///
  /// Generated types have the same method with the key's own attributes: `Carrier.find("LH", in:
  /// database)`. A temporary key still finds its object after the business system assigned another
  /// one. For `prefetching` see `findAll`.
  public static func find(
    key: ObjectKey, prefetching paths: [any RelationshipPath<Self>] = [], in database: FerryDatabase
  ) throws(FerryError) -> Self? {
    try Records(database.store).object(key: key, prefetching: paths)
  }

  /// The object with this business key; throws `objectNotFound` if it is not on the device.
  public static func load(
    key: ObjectKey, prefetching paths: [any RelationshipPath<Self>] = [], in database: FerryDatabase
  ) throws(FerryError) -> Self {
    guard let object = try find(key: key, prefetching: paths, in: database) else {
      throw FerryError(
        .objectNotFound, "\(entity.name) \(key) is not on the device",
        hint: "It was deleted, or it is not among this user's data.", entity: entity.name)
    }
    return object
  }

  /// The objects with a pending change of their own, in the order of their surrogate keys; with a
  /// `change`, only those with this pending change.
  ///
  /// Objects with a pending delete are included, although no query returns them: their `isDeleted`
  /// is true, and `cancelPending` restores them. A negative `skip` or `take` is `invalidQuery`.
  public static func pendingObjects(
    _ change: PendingChange? = nil, skip: Int = 0, take: Int? = nil, in database: FerryDatabase
  ) throws(FerryError) -> [Self] {
    try PendingObjects(database.store).all(entity, change, .all, skip: skip, take: take)
      .map(Self.init(record:))
  }

  /// How many objects have a pending change of their own.
  public static func pendingCount(
    _ change: PendingChange? = nil, in database: FerryDatabase
  ) throws(FerryError) -> Int { try PendingObjects(database.store).count(entity, change, .all) }

  /// The objects whose change was submitted and is not answered.
  public static func submittedObjects(
    skip: Int = 0, take: Int? = nil, in database: FerryDatabase
  ) throws(FerryError) -> [Self] {
    try PendingObjects(database.store).all(entity, nil, .replaying, skip: skip, take: take)
      .map(Self.init(record:))
  }

  /// The number of objects whose change was submitted and is not answered.
  public static func submittedCount(in database: FerryDatabase) throws(FerryError) -> Int {
    try PendingObjects(database.store).count(entity, nil, .replaying)
  }

  /// The objects that a query of the model finds, with the objects that `paths` lead to; generated
  /// code calls this.
  public static func query(
    _ rest: String, _ parameters: [AttributeValue], skip: Int = 0, take: Int? = nil,
    prefetching paths: [any RelationshipPath<Self>] = [], in database: FerryDatabase
  ) throws(FerryError) -> [Self] {
    try RowQuery.checkPage(skip: skip, take: take)
    let count = parameters.count
    let rest = "\(rest) LIMIT ?\(count + 1) OFFSET ?\(count + 2)"
    let values = parameters + [.integer(Int64(take ?? -1)), .integer(Int64(skip))]
    return try Records(database.store).objects(rest, values, prefetching: paths)
  }

  /// Submits the pending change of every object of this type, as `submitPending` does.
  ///
  /// What cannot be sent stays pending with what is replayed as one with it, and holds up nothing
  /// else: when everything else is submitted, the first reason is thrown (`tooLarge`,
  /// `invalidReference` or `notDownloaded`), which names entity and attribute and says how many objects stay. It is done in transactions of a
  /// thousand objects; an error of the disk ends it after those that were.
  public static func submitPendingOperations(in database: FerryDatabase) throws(FerryError) {
    try Outbox(database.store).submitAll(entity)
  }

  /// Cancels the pending change of every object of this type, as `cancelPending` does, in
  /// transactions of a thousand objects. After an error of the disk the finished transactions stay
  /// cancelled.
  public static func cancelPendingOperations(in database: FerryDatabase) throws(FerryError) {
    try Outbox(database.store).cancelAll(entity)
  }
}
