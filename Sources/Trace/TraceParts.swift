import FerryWorld

/// A step of a running trace.
public struct TraceStep: Sendable {
  let controller: TraceController
  /// From 1 on.
  public let number: Int

  /// Says what the user did; false when the step or the trace has ended.
  @discardableResult
  public func addUIAction(_ name: String) -> Bool {
    controller.updateStep(number) { step, _ in
      guard step.ended == nil else { return false }
      step.actions.append(name)
      return true
    }
  }

  /// Ends the step; false when it or the trace has ended before.
  @discardableResult
  public func end() -> Bool {
    controller.updateStep(number) { step, now in
      guard step.ended == nil else { return false }
      step.ended = now
      return true
    }
  }
}

/// A request of a running trace. Each call answers false when the request has ended.
public struct TraceRequest: Sendable {
  let controller: TraceController
  public let location: TraceLocation
  public let rootID: TraceID
  public let id: TraceID
  public let spanID: String
  public let passport: Passport

  /// What the request carries: the passport, its id, and both as W3C's trace context.
  public var headers: [(name: String, value: String)] {
    [
      (Passport.headerName, passport.header),
      (Passport.correlationHeaderName, passport.correlationID), ("traceparent", traceParent),
    ]
  }

  /// The header of W3C's trace context, with the root id as the id of the trace.
  public var traceParent: String { "00-\(rootID.hexadecimal)-\(spanID)-01" }

  /// Before the first byte is sent.
  @discardableResult
  public func markSending() -> Bool { mark(\.sending) }

  /// When the last byte was sent.
  @discardableResult
  public func markSent() -> Bool { mark(\.sent) }

  /// When the first byte of the answer has come.
  @discardableResult
  public func markReceiving() -> Bool { mark(\.receiving) }

  /// When the whole answer has come.
  @discardableResult
  public func markReceived() -> Bool { mark(\.received) }

  /// Adds what is known of the request or of its answer; a value under the same name is replaced.
  @discardableResult
  public func update(_ elements: [String: String]) -> Bool {
    change { $0.elements.merge(elements) { _, new in new } }
  }

  /// Gives the request a value by which it is found later.
  @discardableResult
  public func setSearchKey(_ key: String, _ value: String) -> Bool {
    change { $0.searchKeys[key] = value }
  }

  /// Ends the request.
  @discardableResult
  public func end() -> Bool { mark(\.ended) }

  private func mark(_ place: WritableKeyPath<TraceRequestRecord, Timestamp?>) -> Bool {
    controller.update(location) { request, now in
      guard request.ended == nil, request.id == id else { return false }
      request[keyPath: place] = now
      return true
    }
  }

  private func change(_ body: (inout TraceRequestRecord) -> Void) -> Bool {
    controller.update(location) { request, _ in
      guard request.ended == nil, request.id == id else { return false }
      body(&request)
      return true
    }
  }
}

/// The four readings of one request and answer, in the words of the reference, and what follows.
public struct TraceReadings: Sendable, Equatable {
  /// From the app's call until its answer.
  public let endToEnd: Duration
  /// From the request's arrival in the client library until the answer reaches it.
  public let online: Duration
  /// From sending until the answer reaches the library.
  public let forwarded: Duration
  /// From the last byte sent until the first byte of the answer.
  public let network: Duration

  public init(endToEnd: Duration, online: Duration, forwarded: Duration, network: Duration) {
    self.endToEnd = endToEnd
    self.online = online
    self.forwarded = forwarded
    self.network = network
  }

  /// What the client library took: `online` less `forwarded`.
  public var messagingClientTime: Duration { online - forwarded }
  /// What the app's own code took: `endToEnd` less `online`.
  public var proxyClientTime: Duration { endToEnd - online }

  /// Four lines of a log, as `E2E:RR 17`, in whole milliseconds.
  public var lines: [String] {
    [("E2E", endToEnd), ("ODP", online), ("IMO", forwarded), ("Network", network)].map {
      "\($0.0):RR \(milliseconds($0.1))"
    }
  }
}

/// How long something takes, in nanoseconds inside.
public struct TraceTimer: Sendable {
  private let clock: any WorldClock
  private var begin: Duration?

  public init(world: World) { clock = world.clock }

  /// Begins to count; a second call begins anew.
  public mutating func start() { begin = clock.uptime }

  /// Counts no more; the time is zero until the next start.
  public mutating func reset() { begin = nil }

  /// Since the start; zero without one.
  public var elapsed: Duration { begin.map { clock.uptime - $0 } ?? .zero }

  /// Whole milliseconds since the start.
  public var elapsedMilliseconds: UInt64 { UInt64(max(0, milliseconds(elapsed))) }
}

func milliseconds(_ duration: Duration) -> Int64 {
  duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
}
