import FerryModel

/// Which object it is, whatever its values are: what the lists of views tell rows apart by.
///
/// Of a saved object it is the device's own key, which outlives the business key, and stays where the
/// transaction that saved it is undone; of a new one the copy in memory, until it is saved. It says
/// nothing after the database is closed.
public struct ObjectIdentity: Sendable, Hashable {
  private let entity: String
  private let number: Int64?
  /// The store of a saved object, the origin of a new one.
  private let owner: ObjectIdentifier

  fileprivate init(_ record: Record) {
    entity = record.entity.name
    (number, owner) = record.place
  }
}

extension Record {
  /// Which object it is, for lists of types that are not `Identifiable`, as their model has an `id` of
  /// its own: `id: \.record.identity`.
  public var identity: ObjectIdentity { ObjectIdentity(self) }
}

// Objects are values: two copies are equal when nothing about them differs, so that a view, a test
// and `removeDuplicates` see each change. `id` says whether they are the same object.

extension BusinessObject {
  /// Whether both are the same object of the same database with the same values and the same state,
  /// as their copies were made. Of new objects the values alone count. A transaction that is undone
  /// makes no equal copies unequal, and none unequal equal.
  public static func == (left: Self, right: Self) -> Bool { left.record.isSame(as: right.record) }

  /// Of the surrogate key alone, so that it stays while values change; of a new object its values.
  public func hash(into hasher: inout Hasher) {
    record.hash(into: &hasher)
  }

  /// Entity, values and state, for the debugger and for logs of a test; it shows what the user
  /// entered. `Booking(bookingID: 7, passenger: "Ada") update pending, refused`.
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
  /// Which object it is. Where the model has an attribute `id`, this is that attribute.
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
