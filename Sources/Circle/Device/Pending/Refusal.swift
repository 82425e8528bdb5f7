import FerryModel
import FerryWire

/// Why the business system refused a change.
public struct Refusal: Sendable, Hashable {
  /// A status code of HTTP: 403 not allowed, 404 no such object, 412 a rule or a conflict, 422
  /// invalid, 424 a change before this one was refused, 500 anything else.
  public var code: Int
  /// The business system's own sentence, to be shown.
  public var message: String
  /// The attribute it is about, if it is about one.
  public var attribute: String?
  /// The attributes that somebody else changed, too, in the order of the model.
  public var conflicts: [Conflict]
  /// The first of them. Set if somebody else changed the same attribute.
  public var conflict: Conflict? { conflicts.first }
  /// The name of the database's constraint that the change broke, such as
  /// `visit_ends_after_start`. With it an app can show a sentence of its own in place of `message`.
  ///
  /// PostgreSQL names every check, unique and foreign key constraint, SQLite only checks that were
  /// declared with `CONSTRAINT name`. Nil where the database names none, and from older servers.
  public var constraint: String?
  /// What a rule of the business says beside `message`: the DETAIL of PostgreSQL's `RAISE`.
  public var detail: String?
  /// What a rule of the business advises the user to do: the HINT of PostgreSQL's `RAISE`.
  public var hint: String?

  /// For tests of an app's own code; Ferry makes its own.
  public init(
    code: Int, message: String, attribute: String? = nil, conflict: Conflict? = nil,
    conflicts: [Conflict] = [], constraint: String? = nil, detail: String? = nil,
    hint: String? = nil
  ) {
    self.code = code
    self.message = message
    self.attribute = attribute
    self.conflicts = conflict.map { [$0] } ?? conflicts
    self.constraint = constraint
    self.detail = detail
    self.hint = hint
  }

  /// From the log records of a refused change. Conflicts come first, because the app can ask the
  /// user about them; otherwise the last error counts. There is one record for each conflict.
  package init(_ records: [LogRecord], of object: ObjectRecord?) {
    let all = records.filter { $0.attribute != nil && $0.currentValue != nil }
    // An earlier form of the change may have left others.
    let conflicts = all.filter { $0.requestID == all.last?.requestID }
    let errors = records.filter { $0.level == .error || $0.level == .fatal }
    guard let reason = conflicts.first ?? errors.last ?? records.last else {
      self.init(code: 500, message: "The change was refused.")
      return
    }
    self.init(
      code: reason.code,
      message: conflicts.isEmpty
        ? reason.message : conflicts.map(\.message).joined(separator: " "),
      attribute: reason.attribute,
      conflicts: conflicts.compactMap { record in
        guard let attribute = record.attribute, let theirs = record.currentValue else {
          return nil
        }
        return Conflict(
          attribute: attribute, mine: object?[attribute] ?? .null, theirs: theirs)
      }, constraint: reason.constraint, detail: reason.detail, hint: reason.hint)
  }

  /// Why the pending change of an object was refused; without words where nothing is known.
  package init(of record: ObjectRecord?) {
    guard let record, let object = record.object else {
      self.init([], of: nil)
      return
    }
    // An answer is reported all the same where the disk cannot be read.
    self.init((try? LogRecords(record.store).of(record.entity, object)) ?? [], of: record)
  }
}

/// The user and somebody else changed the same attribute of one object.
///
/// To keep the user's value, save the object again. To take the other value, cancel the change.
public struct Conflict: Sendable, Hashable {
  /// The attribute's name.
  public var attribute: String
  /// The value of this device's change.
  public var mine: AttributeValue
  /// The value that the business system has.
  public var theirs: AttributeValue

  /// For tests of an app's own code; Ferry makes its own.
  public init(attribute: String, mine: AttributeValue, theirs: AttributeValue) {
    self.attribute = attribute
    self.mine = mine
    self.theirs = theirs
  }
}
