import FerryModel
import FerrySQLite

/// The state of one business object in the app's hands: its values, and where it comes from.
///
/// A value: changing it changes nothing but this copy until `create`, `update` or `save`. Generated
/// types keep everything here; an app rarely touches it. Where a transaction is undone, what was
/// saved in it is again what the app changed and did not save.
public struct Record: Sendable {
  /// What it shares with all that were read together with it.
  private let origin: RecordOrigin
  private enum Content {
    case values([Value])
    /// As it was read.
    case row(StoredRow)
  }

  /// The surrogate key, which never changes and never leaves the device; nil for a new object, and
  /// where the transaction that created it was undone.
  package var object: Int64? { undoneKeyIsTemporary == nil ? number : nil }
  /// The surrogate key as it was at the last load or save.
  private let number: Int64?
  private var content: Content
  /// What the values were at the last load or save; nil while they are the same.
  private var before: [Value]?
  private var state: RecordState
  /// What it was before each save in the transaction that is open; see `undone`.
  private var earlier: [EarlierRecord] = []
  /// What was read together with it, by relationship.
  package var prefetched: [String: Prefetched] = [:]

  package init(_ entity: Entity, store: Store) {
    origin = RecordOrigin(store.rows(of: entity), store, nil)
    number = nil
    content = .values(entity.attributes.map { $0.defaultValue ?? .null })
    state = RecordState()
  }

  package init(_ entity: Entity, store: Store, row: VisibleRow) {
    self.init(RecordOrigin(store.rows(of: entity), store, store.creations), row)
  }

  private init(_ origin: RecordOrigin, _ row: VisibleRow) {
    self.origin = origin
    number = row.object
    content = .values(row.values)
    state = RecordState(pending: row.pending, failed: row.failed, replay: row.replay)
  }

  /// A row with the columns of a visible one; its values are looked at when they are asked for.
  init(_ origin: RecordOrigin, _ row: StoredRow) {
    self.origin = origin
    content = .row(row)
    number = row.withColumn(at: 0) { if case .integer(let number) = $0 { number } else { nil } }
    state = RecordState(
      pending: row.withColumn(at: 1) { PendingChange($0) },
      failed: row.withColumn(at: 2) {
        if case .integer(let number) = $0 { number != 0 } else { false }
      },
      replay: row.withColumn(at: 3) { ReplayState($0) })
  }

  package var pending: PendingChange {
    get { now.pending }
    set { change { $0.pending = newValue } }
  }
  package var failed: Bool {
    get { now.failed }
    set { change { $0.failed = newValue } }
  }
  package var replay: ReplayState {
    get { now.replay }
    set { change { $0.replay = newValue } }
  }
  package var deleted: Bool {
    get { now.deleted }
    set { change { $0.deleted = newValue } }
  }

  private var now: RecordState { undone?.state ?? state }

  private mutating func change(_ body: (inout RecordState) -> Void) {
    var now = self.now
    body(&now)
    state = now
    earlier = []
  }

  /// What it was before the first save of it that was undone with its transaction: what was saved
  /// there is again what the app changed.
  private var undone: EarlierRecord? {
    earlier.isEmpty ? nil : earlier.first { $0.transaction.isUndone }
  }

  /// It is what a save in a transaction made of `old`.
  mutating func follows(_ old: Record, in transaction: Creations?) {
    guard let transaction else { return }
    earlier = old.earlier.filter { $0.transaction.root === transaction.root }
    if let first = earlier.firstIndex(where: { $0.transaction.isUndone }) {
      earlier.removeSubrange(first...)
    }
    guard earlier.last?.transaction !== transaction else { return }
    earlier.append(
      EarlierRecord(transaction: transaction, values: old.loaded, state: old.now))
  }

  /// What tells its object apart from those of other databases, and of a new one from other new ones.
  var place: (number: Int64?, owner: ObjectIdentifier) {
    (number, object == nil ? ObjectIdentifier(origin) : ObjectIdentifier(origin.store))
  }

  /// The same object with the same values in the same state; new ones have their values alone.
  func isSame(as other: Record) -> Bool {
    entity.name == other.entity.name && origin.store === other.origin.store
      && object == other.object && now == other.now && values == other.values
  }

  public var entity: Entity { origin.rows.entity }
  package var store: Store { origin.store }

  /// Whether its key is temporary, where the transaction that created it was undone; else nil.
  var undoneKeyIsTemporary: Bool? {
    guard let creations = origin.creations, let number else { return nil }
    return creations.undone(ObjectReference(entity.name, number))
  }

  /// In the order of the entity's attributes, each canonical.
  package var values: [Value] {
    get {
      switch content {
      case .values(let values): values
      case .row(let row): origin.rows.values(of: row)
      }
    }
    set {
      keepLoaded()
      content = .values(newValue)
    }
  }

  /// One of `values`.
  package func value(at position: Int) -> Value {
    switch content {
    case .values(let values): values[position]
    case .row(let row): origin.rows.value(at: position, of: row)
    }
  }

  /// The values at the last load or save.
  package var loaded: [Value] { undone?.values ?? before ?? values }

  /// Whether a value is another than at the last load or save.
  var isChanged: Bool { (undone?.values ?? before).map { $0 != values } ?? false }

  private mutating func keepLoaded() { if before == nil { before = values } }

  public func get<T: AttributeConvertible>(_ position: Int) -> T { T(value: value(at: position)) }

  /// A value that its type cannot hold (a decimal of more than 38 digits) is refused at save.
  public mutating func set<T: AttributeConvertible>(_ position: Int, _ value: T) {
    var values = values
    if before == nil { before = values }
    // Let go of, so that changing them copies nothing more.
    content = .values([])
    values[position] = value.value
    content = .values(values)
  }

  /// The business key; temporary while the business system has not given one.
  public var key: Key { Key(entity.key.map { value(at: $0) }) }

  /// The visible value of an attribute; nil when the entity has none of that name.
  public subscript(attribute: String) -> Value? {
    entity.position(of: attribute).map { value(at: $0) }
  }

  /// The same object under its generated type; nil for an object of another entity.
  public func `as`<Object: BusinessObject>(_ type: Object.Type) -> Object? {
    entity.name == Object.entity.name ? Object(record: self) : nil
  }
}

/// What the database says of an object besides its values.
private struct RecordState: Equatable {
  var pending: PendingChange = .none
  var failed: Bool = false
  var replay: ReplayState = .none
  var deleted: Bool = false
}

/// What a record was before a save that its transaction may yet undo.
private struct EarlierRecord {
  let transaction: Creations
  let values: [Value]
  let state: RecordState
}

/// Whose objects records are, and where they were read.
final class RecordOrigin: Sendable {
  let rows: Rows
  let store: Store
  /// What the transaction created that they were read in; nil outside of one.
  let creations: Creations?

  init(_ rows: Rows, _ store: Store, _ creations: Creations?) {
    self.rows = rows
    self.store = store
    self.creations = creations
  }
}
