import FerryModel

/// An object of the business system: its entity and business key.
public struct ObjectName: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let entity: String
  public let key: ObjectKey

  public init(entity: String, key: ObjectKey) {
    self.entity = entity
    self.key = key
  }

  public static func < (left: ObjectName, right: ObjectName) -> Bool {
    (left.entity, left.key) < (right.entity, right.key)
  }

  public var description: String { "\(entity) \(key)" }
}
