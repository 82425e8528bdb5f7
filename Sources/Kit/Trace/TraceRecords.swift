import FerryWorld

/// One request to a business system within a step.
public struct TraceRequestRecord: Sendable, Equatable {
  public let id: TraceID
  /// The eight bytes that identify it in OTLP and `traceparent`, in hexadecimal digits.
  public let spanID: String
  public let passport: String
  public let started: Timestamp
  /// When the library that sends the request received it.
  public var reached: Timestamp?
  public var sending: Timestamp?
  public var sent: Timestamp?
  public var receiving: Timestamp?
  public var received: Timestamp?
  public var ended: Timestamp?
  /// Information that the app or the transport adds: the request line, headers, status, sizes.
  public var elements: [String: String] = [:]
  public var searchKeys: [String: String] = [:]

  /// The four times of a request that has ended with an answer; nil otherwise.
  ///
  /// A missing mark gets the time of the mark before it, or on the way back of the mark after it.
  public var readings: TraceReadings? {
    guard let received, let ended else { return nil }
    let reached = reached ?? started
    let sending = sending ?? reached
    return TraceReadings(
      endToEnd: started.until(ended), online: reached.until(received),
      forwarded: sending.until(received),
      network: (sent ?? sending).until(receiving ?? received))
  }
}

extension Timestamp {
  /// Not below zero: somebody may set the clock back meanwhile.
  fileprivate func until(_ end: Timestamp) -> Duration {
    .milliseconds(max(0, end.milliseconds - milliseconds))
  }
}

/// One action of the user.
public struct TraceStepRecord: Sendable, Equatable {
  public let number: Int
  public let spanID: String
  public let started: Timestamp
  public var ended: Timestamp?
  public var actions: [String] = []
  public var requests: [TraceRequestRecord] = []
}

/// A trace from its start to its stop.
public struct TraceRecord: Sendable, Equatable {
  /// The id that every passport of the trace has.
  public let rootID: TraceID
  public let spanID: String
  public let name: String
  public let clientHost: String
  public let level: TraceLevel
  public let started: Timestamp
  public var ended: Timestamp?
  public var steps: [TraceStepRecord] = []
}

/// The place of a request: the number of its step and its own number, both from 1.
public struct TraceLocation: Sendable, Equatable {
  public let step: Int
  public let request: Int

  public init(step: Int, request: Int) {
    self.step = step
    self.request = request
  }
}
