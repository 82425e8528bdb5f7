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
  /// Set if somebody else changed the same attribute.
  public var conflict: Conflict?

  /// For tests of an app's own code; Ferry makes its own.
  public init(
    code: Int, message: String, attribute: String? = nil, conflict: Conflict? = nil
  ) {
    self.code = code
    self.message = message
    self.attribute = attribute
    self.conflict = conflict
  }

  /// From the log records of a refused change. A conflict comes first, because the app can ask the
  /// user about it; otherwise the last error counts.
  package init(_ records: [LogRecord], of object: ObjectRecord?) {
    let conflict = records.last { $0.attribute != nil && $0.currentValue != nil }
    let errors = records.filter { $0.level == .error || $0.level == .fatal }
    guard let reason = conflict ?? errors.last ?? records.last else {
      self.init(code: 500, message: "The change was refused.")
      return
    }
    self.init(code: reason.code, message: reason.message, attribute: reason.attribute)
    if let attribute = reason.attribute, let theirs = reason.currentValue {
      self.conflict = Conflict(
        attribute: attribute, mine: object?[attribute] ?? .null, theirs: theirs)
    }
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
