import FerryJSON
import FerryModel

/// A message of the server about an operation (sync/P17), or one that an app wrote itself.
public struct LogRecord: Sendable, Hashable {
  /// The reference's levels (facts/1.3).
  public enum Level: String, Sendable, CaseIterable { case trace, debug, info, warn, error, fatal }

  /// The code of a record that comes with a success: the business system has accepted the change, and
  /// says something about it. The level is `warn` or `info`, and `constraint` has its own code.
  public static let remark: Int = 299

  /// Name of the entity.
  public let component: String
  /// The object's business key in canonical text; empty while it is temporary.
  public let entityKey: String
  /// HTTP's codes: 403 not allowed, 404 no such object, 412 a rule was broken or the object was
  /// changed meanwhile, 422 makes no sense, 500 anything else; 299 is `remark`.
  public let code: Int
  public let message: String
  /// The operation that caused it; nil for a record of the app's about something not pending.
  public let operation: OperationKind?
  /// The id of the operation; for a record of the app's, its own.
  public let requestID: OperationID
  /// When the server wrote it, in milliseconds since 1970.
  public let timestamp: Int64
  public let level: Level
  /// The attribute it is about, if it is about one.
  public let attribute: String?
  /// For a conflict, the value that the change was based on, canonical for the attribute's type;
  /// `.null` where it had none, nil where it is not known.
  public let baseValue: AttributeValue?
  /// For a conflict, the value that the business system has.
  public let currentValue: AttributeValue?
  /// The name of the business system's constraint that the change broke, if it is known.
  public let constraint: String?
  /// More about the reason, in the business system's own words.
  public let detail: String?
  /// What to do about it, in the business system's own words.
  public let hint: String?

  public init(
    component: String, entityKey: String, code: Int, message: String, operation: OperationKind?,
    requestID: OperationID, timestamp: Int64, level: Level, attribute: String? = nil,
    baseValue: AttributeValue? = nil, currentValue: AttributeValue? = nil,
    constraint: String? = nil, detail: String? = nil, hint: String? = nil
  ) {
    self.component = component
    self.entityKey = entityKey
    self.code = code
    self.message = message
    self.operation = operation
    self.requestID = requestID
    self.timestamp = timestamp
    self.level = level
    self.attribute = attribute
    self.baseValue = baseValue
    self.currentValue = currentValue
    self.constraint = constraint
    self.detail = detail
    self.hint = hint
  }
}

extension JSONWriter {
  mutating func answer(_ answer: Answer) {
    beginObject()
    field("id", answer.id.text)
    field("version", answer.version)
    field("method", answer.outcome.rawValue)
    if let newKey = answer.newKey { field("newKey", newKey.text) }
    if answer.isToBeSentAgain { field("again", true) }
    if !answer.written.isEmpty {
      key("written")
      beginObject()
      for (name, value) in answer.written.sorted(by: { $0.key < $1.key }) {
        key(name)
        attributeValue(value)
      }
      endObject()
    }
    key("log")
    array(answer.logRecords) { $0.logRecord($1) }
    endObject()
  }

  /// A log record under the field names of the reference.
  public mutating func logRecord(_ record: LogRecord) {
    beginObject()
    field("component", record.component)
    field("entityKey", record.entityKey)
    field("code", record.code)
    field("message", record.message)
    if let operation = record.operation { field("operation", operation.rawValue) }
    field("requestId", record.requestID.text)
    field("timestamp", record.timestamp)
    field("level", record.level.rawValue)
    if let attribute = record.attribute { field("attribute", attribute) }
    for (name, value) in [("baseValue", record.baseValue), ("currentValue", record.currentValue)] {
      guard let value else { continue }
      key(name)
      attributeValue(value)
    }
    let words = [
      ("constraint", record.constraint), ("detail", record.detail), ("hint", record.hint),
    ]
    for (name, text) in words {
      if let text { field(name, text) }
    }
    endObject()
  }

  /// A value that says itself of which kind it is: a double has a point or an exponent, bytes stand
  /// in an array.
  private mutating func attributeValue(_ value: AttributeValue) {
    switch value {
    case .null: null()
    case .boolean(let flag): boolean(flag)
    case .integer(let number): integer(number)
    case .double(let number): double(number)
    case .text(let text): string(text)
    case .bytes(let bytes): array(bytes) { $0.integer(Int($1)) }
    }
  }
}

extension JSONScanner {
  mutating func attributeValue() throws(JSONError) -> AttributeValue {
    switch try peek() {
    case .null:
      try null()
      return .null
    case .boolean: return .boolean(try boolean())
    case .string: return .text(try text(of: "a value", atMost: WireLimits.rowBytes))
    case .array:
      return .bytes(
        try integers(of: "a value", atMost: WireLimits.rowBytes)
          .map { UInt8(truncatingIfNeeded: $0) })
    default:
      let text = try numberText()
      if let number = Int64(text) { return .integer(number) }
      return .double(Double(text) ?? 0)
    }
  }
}

extension LogRecord {
  /// Reads the form in which a side keeps a record.
  public init(json: [UInt8]) throws(JSONError) {
    self = try json.scan { scanner throws(JSONError) in try LogRecord(&scanner) }
  }

  /// Reads an array of them.
  public static func list(json: [UInt8]) throws(JSONError) -> [LogRecord] {
    try json.scan { scanner throws(JSONError) in
      try scanner.list(of: "log", atMost: WireLimits.namesInMessage) {
        scanner throws(JSONError) in try LogRecord(&scanner)
      }
    }
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var texts: [String: String] = [:]
    var values: [String: AttributeValue] = [:]
    var code: Int64 = 500
    var timestamp: Int64 = 0
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch (key, try scanner.peek()) {
      case ("code", _): code = try scanner.integer()
      case ("timestamp", _): timestamp = try scanner.integer()
      case ("baseValue", _), ("currentValue", _): values[key] = try scanner.attributeValue()
      case ("entityKey", .string):
        texts[key] = try scanner.text(of: key, atMost: WireLimits.rowBytes)
      case ("message", .string), ("detail", .string), ("hint", .string):
        texts[key] = try scanner.words()
      case ("component", .string), ("attribute", .string), ("constraint", .string):
        texts[key] = try scanner.words(atMost: WireLimits.nameBytes)
      case ("operation", .string), ("requestId", .string), ("level", .string):
        texts[key] = try scanner.id(of: key)
      default: try scanner.skipValue()
      }
    }
    let kind = texts["operation"].map { OperationKind(rawValue: $0) }
    guard kind != .some(.none), let request = OperationID(texts["requestId"] ?? "") else {
      throw scanner.failure("a log record has no request id, or an operation that there is not")
    }
    self.init(
      component: texts["component"] ?? "", entityKey: texts["entityKey"] ?? "", code: Int(code),
      message: texts["message"] ?? "", operation: kind ?? nil, requestID: request,
      timestamp: timestamp,
      level: Level(rawValue: texts["level"] ?? "") ?? .error, attribute: texts["attribute"],
      baseValue: values["baseValue"], currentValue: values["currentValue"],
      constraint: texts["constraint"], detail: texts["detail"], hint: texts["hint"])
  }
}
