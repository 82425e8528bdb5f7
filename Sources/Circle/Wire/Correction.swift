import FerryJSON
import FerryModel

/// What an operator wants done with a change that was refused and is still pending on its device.
///
/// The device makes the new form: only it knows whether the app has changed the object since. It comes
/// with each welcome until the device has said what became of it.
public struct Correction: Sendable, Equatable {
  /// What is done with the pending change.
  public enum Verb: String, Sendable {
    /// Submit it again as it is.
    case retry
    /// Put these values into it, base it on what the operator saw, and submit it.
    case release
    /// Cancel it.
    case discard
    /// Make the cancelled change pending again, refused as it was.
    case restore
  }

  public let id: OperationID
  /// The refused operation.
  public let operation: OperationID
  public let verb: Verb
  /// New values under the names of attributes: the text of one JSON object, which a reader understands
  /// who knows the entity.
  public var changed: String = "{}"
  /// The business system's values that the operator saw, in the same form.
  public var seen: String = "{}"
  /// A word to the user of the device.
  public var message: String = ""
  /// With `restore`: the refused operation as it travelled, the text of one JSON object.
  public var sent: String = "{}"
  /// With `restore`: the log records of the refusal.
  public var records: [LogRecord] = []

  public init(id: OperationID, operation: OperationID, verb: Verb) {
    self.id = id
    self.operation = operation
    self.verb = verb
  }
}

/// What became of a correction on the device; said until a welcome brings the correction no more.
public struct CorrectionReceipt: Sendable, Equatable {
  /// Closed today; an unknown one reads as `invalid`.
  public enum Outcome: String, Sendable {
    /// Done: submitted under the id in `operation`, or cancelled.
    case taken
    /// The app has changed or submitted the object since: its change stays as it is.
    case kept
    /// The device has no such refused change any more.
    case absent
    /// The device cannot do this; `message` says why.
    case invalid
  }

  public let id: OperationID
  public let outcome: Outcome
  /// The new form, which the server will see.
  public var operation: OperationID?
  public var message: String = ""

  public init(id: OperationID, outcome: Outcome) {
    self.id = id
    self.outcome = outcome
  }
}

extension Correction {
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("id", id.text)
    writer.field("operation", operation.text)
    writer.field("verb", verb.rawValue)
    writer.field("changed", changed)
    writer.field("seen", seen)
    if !message.isEmpty { writer.field("message", message) }
    if verb == .restore {
      writer.field("sent", sent)
      writer.key("records")
      writer.array(records) { $0.logRecord($1) }
    }
    writer.endObject()
  }

  /// Nil where it asks for something that this version does not know: it waits for a later one.
  static func read(_ scanner: inout JSONScanner) throws(JSONError) -> Correction? {
    var id: OperationID?
    var operation: OperationID?
    var verb: Verb?
    var (changed, seen, sent) = ("{}", "{}", "{}")
    var message = ""
    var records: [LogRecord] = []
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "id": id = try scanner.identifier()
      case "operation": operation = try scanner.identifier()
      case "verb": verb = Verb(rawValue: try scanner.name(of: key))
      case "changed": changed = try scanner.text(of: key, atMost: WireLimits.correctionBytes)
      case "seen": seen = try scanner.text(of: key, atMost: WireLimits.correctionBytes)
      case "message": message = try scanner.words()
      case "sent": sent = try scanner.text(of: key, atMost: WireLimits.correctionBytes)
      case "records":
        records = try scanner.list(of: key, atMost: WireLimits.namesInMessage) {
          scanner throws(JSONError) in try LogRecord(&scanner)
        }
      default: try scanner.skipValue()
      }
    }
    guard let id, let operation else { throw scanner.failure("a correction has no id") }
    guard let verb else { return nil }
    var correction = Correction(id: id, operation: operation, verb: verb)
    (correction.changed, correction.seen, correction.message) = (changed, seen, message)
    (correction.sent, correction.records) = (sent, records)
    return correction
  }
}

extension CorrectionReceipt {
  /// The receipt as one JSON object.
  public var json: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// Those that a device keeps until they are heard.
  public static func list(json: [UInt8]) throws(JSONError) -> [CorrectionReceipt] {
    try json.scan { scanner throws(JSONError) in try scanner.receipts(of: "corrections") }
  }

  /// The form that `list` reads.
  public static func json(_ receipts: [CorrectionReceipt]) -> [UInt8] {
    var writer = JSONWriter()
    writer.array(receipts) { $1.write(to: &$0) }
    return writer.bytes
  }

  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("id", id.text)
    writer.field("outcome", outcome.rawValue)
    if let operation { writer.field("operation", operation.text) }
    if !message.isEmpty { writer.field("message", message) }
    writer.endObject()
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var id: OperationID?
    var outcome = Outcome.invalid
    var operation: OperationID?
    var message = ""
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "id": id = try scanner.identifier()
      case "outcome": outcome = Outcome(rawValue: try scanner.name(of: key)) ?? .invalid
      case "operation": operation = try scanner.identifier()
      case "message": message = try scanner.words()
      default: try scanner.skipValue()
      }
    }
    guard let id else { throw scanner.failure("a receipt has no id") }
    self.init(id: id, outcome: outcome)
    self.operation = operation
    self.message = message
  }
}

extension JSONScanner {
  mutating func receipts(of member: String) throws(JSONError) -> [CorrectionReceipt] {
    try list(of: member, atMost: WireLimits.corrections) { scanner throws(JSONError) in
      try CorrectionReceipt(&scanner)
    }
  }
}
