import FerryWorld

/// A step of a running trace.
public struct TraceStep: Sendable {
  let controller: TraceController
  /// From 1 on.
  public let number: Int

  /// Records an action of the user; false if the step or the trace has ended.
  @discardableResult
  public func addUIAction(_ name: String) -> Bool {
    controller.updateStep(number) { step, _ in
      guard step.ended == nil else { return false }
      step.actions.append(name)
      return true
    }
  }

  /// Ends the step; false if the step or the trace has already ended.
  @discardableResult
  public func end() -> Bool {
    controller.updateStep(number) { step, now in
      guard step.ended == nil else { return false }
      step.ended = now
      return true
    }
  }
}

/// A request of a running trace. Each method returns false if the request has ended.
public struct TraceRequest: Sendable {
  let controller: TraceController
  public let location: TraceLocation
  public let rootID: TraceID
  public let id: TraceID
  public let spanID: String
  public let passport: Passport
  /// The passport as a header, made once.
  let passportHeader: String
  /// The level of its trace.
  public let level: TraceLevel

  /// The headers to send with the request: the passport, its id, and both as W3C's trace context.
  public var headers: [(name: String, value: String)] {
    [
      (Passport.headerName, passportHeader),
      (Passport.correlationHeaderName, passport.correlationID), ("traceparent", traceParent),
    ]
  }

  /// The header of W3C's trace context, with the root id as trace id. At level 0 servers are not
  /// asked to trace.
  public var traceParent: String {
    "00-\(rootID.hexadecimal)-\(spanID)-\(level == .clientOnly ? "00" : "01")"
  }

  /// Call it when the library that sends the request has received it.
  @discardableResult
  public func markReached() -> Bool { mark(\.reached) }

  /// Call it before the first byte is sent.
  @discardableResult
  public func markSending() -> Bool { mark(\.sending) }

  /// Call it when the last byte was sent.
  @discardableResult
  public func markSent() -> Bool { mark(\.sent) }

  /// Call it when the first byte of the answer was received.
  @discardableResult
  public func markReceiving() -> Bool { mark(\.receiving) }

  /// Call it when the whole answer was received.
  @discardableResult
  public func markReceived() -> Bool { mark(\.received) }

  /// Adds information about the request or its answer; it replaces a value with the same name.
  @discardableResult
  public func update(_ elements: [String: String]) -> Bool {
    change { $0.elements.merge(elements) { _, new in new } }
  }

  /// Adds a value by which the request can be found later.
  @discardableResult
  public func setSearchKey(_ key: String, _ value: String) -> Bool {
    change { $0.searchKeys[key] = value }
  }

  /// Ends the request; its readings are logged if the controller logs them.
  @discardableResult
  public func end() -> Bool {
    let isEnded = mark(\.ended)
    if isEnded { controller.logReadings(location) }
    return isEnded
  }

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
