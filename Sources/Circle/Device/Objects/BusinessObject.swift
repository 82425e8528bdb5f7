import FerryModel

/// A mobile business object: a value with the attributes of one entity, generated from the model.
///
/// Reading attributes never waits. `save` and `delete` change the local database in one transaction
/// and leave the object *pending*. The change is sent as soon as there is a connection, unless the app
/// saves it `.later` or collects its changes: see `FerryDatabase.submitsAutomatically`.
///
/// ```swift
/// let booking = try await database.save(Booking(passenger: "Ada"))
/// ```
///
/// Two copies are equal if object, values and state are equal. Generated types are `Identifiable`
/// by the device's own key, which stays the same when the business system assigns another business
/// key. A type whose model has an attribute `id` is an exception. It is `Identifiable` by that
/// attribute if `id` is the key and the app gives it; otherwise it is not `Identifiable`, and lists
/// use `id: \.record.identity`.
public protocol BusinessObject: Sendable, Hashable, CustomDebugStringConvertible {
  static var entity: Entity { get }
  var record: ObjectRecord { get set }
  init(record: ObjectRecord)
}

extension BusinessObject {
  /// Whether the object exists only in memory: it was neither created nor loaded, or the
  /// transaction that created it was undone.
  public var isNew: Bool { record.object == nil && !record.deleted }
  /// Whether the copy has changes in memory that are not saved, or whose transaction was undone.
  public var isDirty: Bool { !isNew && record.isChanged }
  /// Whether the object was deleted here; true also if the delete left nothing to send.
  public var isDeleted: Bool { record.deleted }
  /// Whether its create is pending: not submitted, on its way, or refused.
  public var isCreated: Bool { pendingChange == .create }
  /// Whether an update of it is pending: not submitted, on its way, or refused.
  public var isUpdated: Bool { pendingChange == .update }
  /// Whether a change of it or of its parts waits to be submitted, replayed or answered.
  public var isPending: Bool { pendingChange != .none }
  public var pendingChange: PendingChange { isNew ? .none : record.pending }
  /// Whether the last replay was refused; `logRecords` have the reason.
  public var replayFailed: Bool { record.failed }
  /// A counter of local changes and submits; 0 if nothing is pending. Like the whole object it has
  /// the state of the last load or save.
  public var replayCounter: Int64 { record.replay.counter }
  /// `replayCounter` at the time of the submit, until the answer is here; else 0.
  public var replayPending: Int64 { record.replay.pending }
  /// `replayCounter` at the time of the refusal; else 0.
  public var replayFailure: Int64 { record.replay.failure }
  /// The device's own key of the object; it stays the same when the business key changes.
  public var surrogateKey: Int64? { record.object }

  /// Copies every attribute of `other` except the key and big values; nothing is saved yet.
  public mutating func copyAll(from other: Self) {
    var values = record.values
    for position in values.indices
    where !Self.entity.key.contains(position) && !Self.entity.attributes[position].type.isBig {
      values[position] = other.record.value(at: position)
    }
    record.values = values
  }
}
