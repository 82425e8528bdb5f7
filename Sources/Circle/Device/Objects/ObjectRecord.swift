import FerryModel
import FerrySQLite
import Synchronization

/// The values of one business object in the app, and the row that they come from.
///
/// A value: changing it changes only this copy, until `create`, `update` or `save`. Generated types
/// store everything here; an app rarely uses it. If a transaction is undone, its effect on the copy
/// is undone too: values that it saved count as changed and not saved, and an object that it
/// cancelled or deleted is visible again.
public struct ObjectRecord: Sendable {
  /// What it shares with all that were read together with it.
  private(set) var origin: RecordOrigin
  private enum Content {
    case values([AttributeValue])
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
  private var before: [AttributeValue]?
  private var state: RecordState
  /// What it was before the transaction that is open, and its savepoints, changed it; see `undone`.
  private var earlier: [EarlierRecord] = []
  /// What was read together with it, by relationship.
  package var prefetched: [String: Prefetched] = [:]

  package init(_ entity: Entity, store: Store?) {
    origin = RecordOrigin(entity, of: store)
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
    settle()
    body(&state)
  }

  /// What it was before the first change of it that was undone with its transaction.
  private var undone: EarlierRecord? {
    earlier.isEmpty ? nil : earlier.first { $0.transaction.isUndone }
  }

  /// What was undone stays so from here on, whatever it is changed to.
  private mutating func settle() {
    guard let first = earlier.firstIndex(where: { $0.transaction.isUndone }) else { return }
    let undone = earlier[first]
    content = .values(undone.shown(for: stored))
    before = undone.values
    state = undone.state
    earlier.removeSubrange(first...)
  }

  /// It is what the transaction that is open made of `old`, by a save, a cancel or a submit, or what
  /// was read in it, where what `old` had unsaved was `dropped`.
  mutating func follows(_ old: ObjectRecord, in transaction: Creations?, dropped: Bool = false) {
    guard let transaction else { return }
    var old = old
    old.settle()
    let now = stored
    var last = dropped ? old.loaded : old.stored
    // A key that was made for it is its own: others may refer to it.
    for position in entity.key { last[position] = now[position] }
    earlier = old.earlier.filter { $0.transaction.root === transaction.root }
    for index in earlier.indices { earlier[index].follow(from: last, to: now) }
    guard earlier.last?.transaction !== transaction else { return }
    earlier.append(
      EarlierRecord(
        transaction: transaction, values: old.loaded, state: old.state, shown: last, after: now))
  }

  /// What tells its object apart from those of other databases, and of a new one from other new ones.
  var place: (number: Int64?, owner: ObjectIdentifier) {
    (
      number,
      (number == nil ? nil : origin.store.map(ObjectIdentifier.init)) ?? ObjectIdentifier(origin)
    )
  }

  // Sets, dictionaries and the lists of views keep copies by what follows: a transaction that is
  // undone later changes none of it.

  /// The same object with the same values in the same state, as they were at the last load, save or
  /// change of this copy; new ones have their values alone.
  func isSame(as other: ObjectRecord) -> Bool {
    entity.name == other.entity.name && origin.store === other.origin.store
      && number == other.number && state == other.state && stored == other.stored
  }

  func hash(into hasher: inout Hasher) {
    if let number { hasher.combine(number) } else { hasher.combine(stored) }
  }

  public var entity: Entity { origin.entity }

  /// Errors: `wrongState` for a new object that was made without a database.
  package var store: Store {
    get throws(FerryError) {
      if let store = origin.store { return store }
      throw FerryError(
        .wrongState, "this \(entity.name) was made without a database",
        hint:
          "Save it with its database: try database.save(&object). Or make it with in: database.",
        entity: entity.name)
    }
  }

  func isIn(_ store: Store) -> Bool { origin.store === store }

  /// Whether it was made without a database, and is in none yet.
  var isDetached: Bool { origin.store == nil }

  /// A new object that was made without a database becomes one of this.
  mutating func attach(to store: Store) { origin = origin.attached(to: store) }

  /// Whether its key is temporary, where the transaction that created it was undone; else nil.
  var undoneKeyIsTemporary: Bool? {
    guard let creations = origin.creations, let number else { return nil }
    return creations.undone(LocalObject(entity.name, number))
  }

  /// In the order of the entity's attributes, each canonical.
  package var values: [AttributeValue] {
    get { undone?.shown(for: stored) ?? stored }
    set {
      settle()
      keepLoaded()
      content = .values(newValue)
    }
  }

  /// The values, whatever was undone.
  private var stored: [AttributeValue] {
    switch content {
    case .values(let values): values
    case .row(let row): origin.known.values(of: row)
    }
  }

  /// One of `values`.
  package func value(at position: Int) -> AttributeValue {
    let value =
      switch content {
      case .values(let values): values[position]
      case .row(let row): origin.known.value(at: position, of: row)
      }
    return undone?.shown(for: value, at: position) ?? value
  }

  /// The values at the last load or save.
  package var loaded: [AttributeValue] { undone?.values ?? before ?? values }

  /// Whether a value is another than at the last load or save.
  var isChanged: Bool { (undone?.values ?? before).map { $0 != values } ?? false }

  private mutating func keepLoaded() { if before == nil { before = stored } }

  public func get<T: AttributeConvertible>(_ position: Int) -> T { T(value: value(at: position)) }

  /// A value that its type cannot hold (a decimal of more than 38 digits) is refused at save.
  public mutating func set<T: AttributeConvertible>(_ position: Int, _ value: T) {
    if !earlier.isEmpty { settle() }
    var values = stored
    if before == nil { before = values }
    // Let go of, so that changing them copies nothing more.
    content = .values([])
    values[position] = value.value
    content = .values(values)
  }

  /// The business key; temporary until the business system has given one.
  public var key: ObjectKey { ObjectKey(entity.key.map { value(at: $0) }) }

  /// The visible value of an attribute; nil if the entity has no attribute with this name.
  public subscript(attribute: String) -> AttributeValue? {
    entity.position(of: attribute).map { value(at: $0) }
  }

  /// The same object as its generated type; nil for an object of another entity.
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

/// What a record was before a transaction changed it that may yet be undone.
private struct EarlierRecord {
  let transaction: Creations
  /// At its last load or save.
  let values: [AttributeValue]
  let state: RecordState
  /// What it showed, unsaved values among them.
  private(set) var shown: [AttributeValue]
  /// What it showed after the transaction changed it.
  private var after: [AttributeValue]

  init(
    transaction: Creations, values: [AttributeValue], state: RecordState, shown: [AttributeValue],
    after: [AttributeValue]
  ) {
    self.transaction = transaction
    self.values = values
    self.state = state
    self.shown = shown
    self.after = after
  }

  /// What it shows where the transaction is undone: what it did before, and what the app set since.
  func shown(for value: AttributeValue, at position: Int) -> AttributeValue {
    value == after[position] ? shown[position] : value
  }

  func shown(for values: [AttributeValue]) -> [AttributeValue] {
    values.indices.map { shown(for: values[$0], at: $0) }
  }

  /// The transaction changed it again.
  mutating func follow(from old: [AttributeValue], to new: [AttributeValue]) {
    shown = shown(for: old)
    after = new
  }
}

/// Whose objects records are, and where they were read.
final class RecordOrigin: Sendable {
  let entity: Entity
  private let rows: Rows?
  /// Nil of a new object that was made without a database.
  let store: Store?
  /// What the transaction created that they were read in; nil outside of one.
  let creations: Creations?
  /// Of a new object: what an asynchronous save made of it.
  let created = Mutex<CreatedCopy?>(nil)
  /// Of one without a database: what its copies have in the database that took one of them last.
  private let attached = Mutex<RecordOrigin?>(nil)

  /// Of a new object.
  init(_ entity: Entity, of store: Store?) {
    self.entity = entity
    self.store = store
    rows = nil
    creations = nil
  }

  init(_ rows: Rows, _ store: Store, _ creations: Creations?) {
    entity = rows.entity
    self.rows = rows
    self.store = store
    self.creations = creations
  }

  /// How the rows of a query are read.
  var known: Rows {
    guard let rows else { preconditionFailure("a new \(entity.name) has no row to read") }
    return rows
  }

  /// One origin for all copies, so that a copy that is saved again updates what the first one created.
  func attached(to store: Store) -> RecordOrigin {
    attached.withLock { attached in
      if let attached, attached.store === store { return attached }
      let new = RecordOrigin(entity, of: store)
      attached = new
      return new
    }
  }
}
