import FerryModel

/// An object with an answered operation.
public struct ReplayedObject: Sendable {
  /// Name of the entity.
  public let entity: String
  /// The object's key at the time of the answer.
  public let key: ObjectKey
  public let operation: OperationKind
  /// The object now; nil if it was deleted, as after an accepted delete.
  public let record: ObjectRecord?

  /// For the tests of an app's handler; Ferry makes its own.
  public init(entity: String, key: ObjectKey, operation: OperationKind, record: ObjectRecord?) {
    self.entity = entity
    self.key = key
    self.operation = operation
    self.record = record
  }

  /// The same, made from an object: `handler.handle(.refused(ReplayedObject(booking, .create)))`.
  public init(_ object: some BusinessObject, _ operation: OperationKind) {
    self.init(
      entity: object.record.entity.name, key: object.record.key, operation: operation,
      record: object.record)
  }

  /// The object as its generated type.
  public func `as`<Object: BusinessObject>(_ type: Object.Type) -> Object? { record?.as(type) }
}
