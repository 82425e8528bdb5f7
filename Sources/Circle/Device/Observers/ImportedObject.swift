import FerryModel

/// An object that an import brought, as it is on the device now.
public struct ImportedObject: Sendable {
  /// Name of the entity.
  public var entity: String { record.entity.name }
  /// The business key; a temporary one for a new object that has none yet.
  public var key: ObjectKey { record.key }
  /// Its values now, with a pending change on top if there is one.
  public let record: ObjectRecord

  /// For the tests of an app's handler; Ferry makes its own.
  public init(_ record: ObjectRecord) { self.record = record }

  /// The object as its generated type; nil if it is of another one.
  public func `as`<Object: BusinessObject>(_ type: Object.Type) -> Object? { record.as(type) }
}
