import FerryModel

/// The state of one business object in the app's hands: its values, and where it comes from.
///
/// A value: changing it changes nothing but this copy until `create`, `update` or `save`. Generated
/// types keep everything here; an app rarely touches it.
public struct Record: Sendable {
  public let entity: Entity
  package let store: Store
  /// The surrogate key, which never changes and never leaves the device; nil for a new object.
  package var object: Int64?
  /// In the order of the entity's attributes, each canonical.
  package var values: [Value]
  /// The values at the last load or save.
  package var loaded: [Value]
  package var pending: PendingChange
  package var failed: Bool
  package var replay: ReplayState
  package var deleted: Bool
  /// What was read together with it, by relationship.
  package var prefetched: [String: [Record]] = [:]

  package init(_ entity: Entity, store: Store) {
    self.entity = entity
    self.store = store
    values = entity.attributes.map { $0.defaultValue ?? .null }
    loaded = values
    pending = .none
    failed = false
    replay = .none
    deleted = false
  }

  package init(_ entity: Entity, store: Store, row: VisibleRow) {
    self.entity = entity
    self.store = store
    object = row.object
    values = row.values
    loaded = row.values
    pending = PendingChange(rawValue: row.pending) ?? .none
    failed = row.failed
    replay = row.replay
    deleted = false
  }

  public func get<T: AttributeConvertible>(_ position: Int) -> T { T(value: values[position]) }

  /// A value that its type cannot hold (a decimal of more than 38 digits) is refused at save.
  public mutating func set<T: AttributeConvertible>(_ position: Int, _ value: T) {
    values[position] = value.value
  }

  /// The business key; temporary while the business system has not given one.
  public var key: Key { entity.key(of: values) }

  /// The visible value of an attribute; nil when the entity has none of that name.
  public subscript(attribute: String) -> Value? {
    entity.position(of: attribute).map { values[$0] }
  }

  /// The same object under its generated type; nil for an object of another entity.
  public func `as`<Object: BusinessObject>(_ type: Object.Type) -> Object? {
    entity.name == Object.entity.name ? Object(record: self) : nil
  }
}

/// What waits to be replayed for an object (the reference's pendingChange, facts/1.3).
public enum PendingChange: String, Sendable, Hashable {
  case none = "N"
  case create = "C"
  case update = "U"
  case delete = "D"
  /// Nothing of its own, but something that it owns is pending.
  case parent = "P"
}
