import Ferry

extension BusinessObject {
  /// `find(key:in:)` under the reference's name: nil if the object is not on the device.
  public static func findByPrimaryKey(
    _ key: ObjectKey, in database: FerryDatabase
  ) throws(FerryError) -> Self? { try find(key: key, in: database) }

  /// `findAll(_:prefetching:in:)` under the reference's name: each object once, also where a join
  /// gives several rows of it. The query must begin with this entity.
  public static func findWithQuery(
    _ query: RowQuery, prefetching paths: [any RelationshipPath<Self>] = [],
    in database: FerryDatabase
  ) throws(FerryError) -> [Self] { try findAll(query, prefetching: paths, in: database) }

  /// `count(_:in:)` under the reference's name, which also has `getSize` for it.
  public static func countWithQuery(
    _ query: RowQuery, in database: FerryDatabase
  ) throws(FerryError) -> Int { try count(query, in: database) }

  /// `pendingObjects(_:skip:take:in:)` under the reference's name; those with a pending delete are
  /// included.
  public static func getPendingObjects(
    _ change: PendingChange? = nil, skip: Int = 0, take: Int? = nil, in database: FerryDatabase
  ) throws(FerryError) -> [Self] {
    try pendingObjects(change, skip: skip, take: take, in: database)
  }

  /// `pendingCount(_:in:)` under the reference's name.
  public static func countPendingObjects(
    _ change: PendingChange? = nil, in database: FerryDatabase
  ) throws(FerryError) -> Int { try pendingCount(change, in: database) }

  /// `submittedObjects(skip:take:in:)` under the reference's name: what is on its way.
  public static func getReplayPendingObjects(
    skip: Int = 0, take: Int? = nil, in database: FerryDatabase
  ) throws(FerryError) -> [Self] { try submittedObjects(skip: skip, take: take, in: database) }

  /// `submittedCount(in:)` under the reference's name.
  public static func countReplayPendingObjects(in database: FerryDatabase) throws(FerryError) -> Int
  {
    try submittedCount(in: database)
  }
}
