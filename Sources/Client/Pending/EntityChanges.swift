/// What an import changed in what the app sees, per entity.
public struct EntityChanges: Sendable, Hashable {
  public let entity: String
  public var inserted: Int = 0
  public var updated: Int = 0
  public var deleted: Int = 0

  /// For the tests of an app's handler; Ferry makes its own.
  public init(entity: String, inserted: Int = 0, updated: Int = 0, deleted: Int = 0) {
    self.entity = entity
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }
}
