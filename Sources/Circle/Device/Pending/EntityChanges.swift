/// What an import changed in what the app sees, per entity.
public struct EntityChanges: Sendable, Hashable {
  /// Its name in the model.
  public let entity: String
  /// How many objects appeared.
  public var inserted: Int = 0
  /// How many objects have other values.
  public var updated: Int = 0
  /// How many objects are no longer on the device.
  public var deleted: Int = 0

  /// For the tests of an app's handler; Ferry makes its own.
  public init(entity: String, inserted: Int = 0, updated: Int = 0, deleted: Int = 0) {
    self.entity = entity
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }
}
