import FerryModel

/// An object of the business system: its entity and business key.
package struct ObjectName: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let entity: String
  package let key: ObjectKey

  package init(entity: String, key: ObjectKey) {
    self.entity = entity
    self.key = key
  }

  package static func < (left: ObjectName, right: ObjectName) -> Bool {
    (left.entity, left.key) < (right.entity, right.key)
  }

  package var description: String { "\(entity) \(key)" }
}
