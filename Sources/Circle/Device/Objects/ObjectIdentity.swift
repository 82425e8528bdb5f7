import FerryModel

/// The identity of an object, independent of its values: lists of views use it to distinguish rows.
///
/// For a saved object it is the device's own key, which stays the same when the business key
/// changes or the saving transaction is undone. For a new object it is the copy in memory, until it
/// is saved. Do not use it after the database is closed.
public struct ObjectIdentity: Sendable, Hashable {
  private let entity: String
  private let number: Int64?
  /// The store of a saved object, the origin of a new one.
  private let owner: ObjectIdentifier

  fileprivate init(_ record: ObjectRecord) {
    entity = record.entity.name
    (number, owner) = record.place
  }
}

extension ObjectRecord {
  /// The identity of the object, for lists of types that are not `Identifiable` because their model
  /// has an attribute `id`: `id: \.record.identity`.
  public var identity: ObjectIdentity { ObjectIdentity(self) }
}

// Objects are values: two copies are equal when nothing about them differs, so that a view, a test
// and `removeDuplicates` see each change. `id` says whether they are the same object.

extension BusinessObject {
  /// Whether both copies are the same object of the same database, with the same values and state
  /// at the time of the copy. New objects are compared by their values alone. Undoing a transaction
  /// does not change the result.
  public static func == (left: Self, right: Self) -> Bool { left.record.isSame(as: right.record) }

  /// Hashes only the surrogate key, so the hash stays the same while values change; for a new
  /// object it hashes its values.
  public func hash(into hasher: inout Hasher) {
    record.hash(into: &hasher)
  }

  /// Entity, values and state, for the debugger and for logs of a test. It shows the user's data:
  /// `Booking(bookingID: 7, passenger: "Ada") update pending, refused`.
  public var debugDescription: String {
    let values = zip(Self.entity.attributes, record.values).map { attribute, value in
      "\(attribute.name): \(attribute.type.isBig && !value.isNull ? "…" : value.shown)"
    }
    return "\(Self.entity.name)(\(values.joined(separator: ", ")))\(stateShown)"
  }

  private var stateShown: String {
    var words: [String] = []
    if isNew {
      words.append("new")
    } else if isDeleted && !isPending {
      words.append("deleted")
    }
    if isPending { words.append("\(pendingChange.shown) pending") }
    if replayPending > 0 { words.append("submitted") }
    if replayFailed { words.append("refused") }
    if isDirty { words.append("changed and not saved") }
    return words.isEmpty ? "" : " " + words.joined(separator: ", ")
  }
}

extension BusinessObject where Self: Identifiable {
  /// The identity of the object. If the model has an attribute `id`, this is that attribute.
  public var id: ObjectIdentity { record.identity }
}

extension PendingChange {
  fileprivate var shown: String {
    switch self {
    case .none: "nothing"
    case .create: "create"
    case .update: "update"
    case .delete: "delete"
    case .parent: "a part"
    }
  }
}
