/// A piece of traced work that has ended, as W3C's trace context and OpenTelemetry name it.
public struct Span: Sendable, Equatable {
  /// 32 digits, the same in all spans of one trace.
  public let traceID: String
  /// 16 digits.
  public let id: String
  /// The span that asked for this work; nil for the first of a trace.
  public let parentID: String?
  public let name: String
  /// Whether it answers a request of another program.
  public let isOfRequest: Bool
  public let start: Timestamp
  public let duration: Duration
  /// Never a value of a business object.
  public let attributes: [String: String]
  /// Why it did not succeed; nil where it did.
  public let failure: String?

  public init(
    traceID: String, id: String, parentID: String?, name: String, isOfRequest: Bool,
    start: Timestamp, duration: Duration, attributes: [String: String], failure: String? = nil
  ) {
    self.traceID = traceID
    self.id = id
    self.parentID = parentID
    self.name = name
    self.isOfRequest = isOfRequest
    self.start = start
    self.duration = duration
    self.attributes = attributes
    self.failure = failure
  }
}

/// Takes spans, from any thread, and returns at once.
public protocol SpanReceiver: Sendable {
  func receive(_ span: Span)
}
