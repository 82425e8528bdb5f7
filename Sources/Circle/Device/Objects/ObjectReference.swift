import FerryModel

/// An object by entity and key, as events name it.
///
/// `as(_:in:)` reads it. The key is the one at the time of the event: a temporary key still finds its
/// object after the business system assigned another one.
public struct ObjectReference: Sendable, Hashable {
  /// Name of the entity.
  public var entity: String
  /// The object's key.
  public var key: ObjectKey

  /// For tests of an app's own code; Ferry makes its own.
  public init(entity: String, key: ObjectKey) {
    self.entity = entity
    self.key = key
  }

  /// A reference to an object at hand.
  public init(_ object: some BusinessObject) {
    self.init(entity: object.record.entity.name, key: object.record.key)
  }
}
