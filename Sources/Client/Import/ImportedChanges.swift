import FerryModel

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

/// What an import did: handed to the observers once the database shows it.
package struct ImportedChanges {
  package let group: String
  package let version: Int64
  package var entities: [EntityChanges]
  /// Answers that the device keeps now; the server may empty them.
  package let confirmed: [OperationID]
  /// How operations of this device ended.
  package let answered: [AnsweredOperation]
  /// Partitions came anew from their start.
  package let isReset: Bool
}
