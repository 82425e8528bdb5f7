import FerryText
import FerryWorld
import Synchronization

/// Traces what a user does: a transaction with steps, and steps with requests.
///
/// It is off until `start`. While it is off nothing is kept and requests carry no headers. All calls
/// may come from any thread and do not wait.
///
/// ```swift
/// let trace = TraceController(world: .system())
/// trace.start(name: "Book a flight")
/// let step = try trace.createStep()
/// let request = try trace.createRequest()
/// send(headers: request.headers)
/// ```
public final class TraceController: Sendable {
  /// The most requests of one trace.
  public static let requestLimit = 10_000

  private struct State {
    var level = TraceLevel.medium
    var flags: [UInt8]?
    var logsReadings = false
    var record: TraceRecord?
    var requestCount = 0
  }

  private let clock: any WorldClock
  private let chance: any Chance
  private let log: any Log
  private let state = Mutex(State())

  public init(world: World) {
    clock = world.clock
    chance = world.chance
    log = world.log
  }

  /// The level of the next trace; medium at first. A running trace keeps its level.
  public var level: TraceLevel {
    get { state.withLock { $0.level } }
    set { state.withLock { $0.level = newValue } }
  }

  /// The two bytes of trace flags in passports: the flags of the level, unless others are set.
  ///
  /// Servers document which flags they support.
  public var traceFlags: [UInt8] {
    state.withLock { $0.flags ?? $0.level.flags }
  }

  /// The flags as four hexadecimal digits.
  public var traceFlagsText: String { Hexadecimal.encode(traceFlags) }

  /// Sets the two bytes of trace flags for later requests; nil restores the flags of the level.
  public func setTraceFlags(_ flags: (UInt8, UInt8)?) {
    state.withLock { $0.flags = flags.map { [$0.0, $0.1] } }
  }

  /// Whether the four times of each request are logged when it ends; false at first, since logging
  /// takes time too.
  public var logsReadings: Bool {
    get { state.withLock { $0.logsReadings } }
    set { state.withLock { $0.logsReadings = newValue } }
  }

  /// The number of steps of the trace; 0 after a start.
  public var stepCount: Int { state.withLock { $0.record?.steps.count ?? 0 } }

  /// The number of requests of the trace, in all its steps.
  public var requestCount: Int { state.withLock { $0.requestCount } }

  /// Whether a trace is running.
  public var isOn: Bool {
    state.withLock { state in state.record.map { $0.ended == nil } ?? false }
  }

  /// Begins a trace with a new root id. A trace that is running, or that was not uploaded, is
  /// dropped.
  @discardableResult
  public func start(name: String = "", clientHost: String = "") -> TraceID {
    let (root, span, now) = (TraceID(chance), newSpan(), clock.now)
    state.withLock { state in
      state.record = TraceRecord(
        rootID: root, spanID: span, name: name, clientHost: clientHost, level: state.level,
        started: now)
      state.requestCount = 0
    }
    return root
  }

  /// Ends the trace with its open step and requests; it can be read and uploaded until the next
  /// start.
  ///
  /// Throws `.notStarted`.
  public func stop() throws(TraceError) {
    let now = clock.now
    try changeRunning { record throws(TraceError) in
      for step in record.steps.indices {
        for request in record.steps[step].requests.indices
        where record.steps[step].requests[request].ended == nil {
          record.steps[step].requests[request].ended = now
        }
        if record.steps[step].ended == nil { record.steps[step].ended = now }
      }
      record.ended = now
    }
  }

  /// Begins a step and ends the step before. Throws `.notStarted`.
  @discardableResult
  public func createStep() throws(TraceError) -> TraceStep {
    let (span, now) = (newSpan(), clock.now)
    let number = try changeRunning { record throws(TraceError) -> Int in
      if let last = record.steps.indices.last, record.steps[last].ended == nil {
        record.steps[last].ended = now
      }
      let number = record.steps.count + 1
      record.steps.append(TraceStepRecord(number: number, spanID: span, started: now))
      return number
    }
    return TraceStep(controller: self, number: number)
  }

  /// A request for code that does not know the user's steps, such as a transport. It belongs to the
  /// open step, or to a new step. nil while no trace runs, and if the trace is full.
  public func requestIfOn(action: String = "") -> TraceRequest? {
    guard isOn else { return nil }
    do throws(TraceError) {
      return try createRequest(action: action)
    } catch {
      guard error.code == .noStep, (try? createStep()) != nil else { return nil }
      return try? createRequest(action: action)
    }
  }

  /// Begins a request in the last step, with a new id. Throws `.notStarted`, `.noStep`, `.full`.
  public func createRequest(action: String = "") throws(TraceError) -> TraceRequest {
    let (id, span, now) = (TraceID(chance), newSpan(), clock.now)
    return try state.withLock { (state) throws(TraceError) in
      guard var record = state.record, record.ended == nil else {
        throw TraceError(.notStarted, "a request cannot be created: no trace is running")
      }
      guard let last = record.steps.indices.last, record.steps[last].ended == nil else {
        throw TraceError(.noStep, "a request cannot be created: no step is open")
      }
      guard state.requestCount < Self.requestLimit else {
        throw TraceError(
          .full, "the trace already has \(Self.requestLimit) requests, which is the limit")
      }
      // Taken out while it changes, so that a long trace is not copied for each request.
      state.record = nil
      defer { state.record = record }
      var passport = Passport(
        chance, rootID: record.rootID, transactionID: id, level: record.level, action: action)
      if let flags = state.flags { passport.flags = flags }
      let header = passport.header
      record.steps[last].requests.append(
        TraceRequestRecord(id: id, spanID: span, passport: header, started: now))
      state.requestCount += 1
      let location = TraceLocation(
        step: last + 1, request: record.steps[last].requests.count)
      return TraceRequest(
        controller: self, location: location, rootID: record.rootID, id: id, spanID: span,
        passport: passport, passportHeader: header, level: record.level)
    }
  }

  /// The trace as it is now. Throws `.notStarted` before the first start.
  public func record() throws(TraceError) -> TraceRecord {
    guard let record = state.withLock({ $0.record }) else {
      throw TraceError(.notStarted, "no trace was started")
    }
    return record
  }

  /// The place of the request with this value of `SAP-PASSPORT`; nil when there is none.
  public func find(passport: String) -> TraceLocation? {
    find { $0.passport == passport }
  }

  /// The place of the first request with this value under a search key; nil when there is none.
  /// Without a key, all search keys are compared.
  public func find(key: String? = nil, value: String) -> TraceLocation? {
    find { request in
      if let key { return request.searchKeys[key] == value }
      return request.searchKeys.values.contains(value)
    }
  }

  /// The format in which a trace is sent.
  public enum Form: Sendable {
    /// XML, with the schema of `BusinessTransactionDocument`.
    case businessTransaction
    /// Spans of OpenTelemetry under the name of the service that they belong to.
    case openTelemetry(service: String)
  }

  /// Sends the trace to a receiver and returns the status of its answer.
  ///
  /// Throws `.notStarted`, and `.upload` if there was no answer or its status was not 200 to 299;
  /// the trace is kept and can be sent again. The receiver decides how long the call waits: see its
  /// deadlines.
  public func upload(
    to receiver: some TraceReceiver, as form: Form = .businessTransaction
  ) async throws(TraceError) -> Int {
    let record = try record()
    let body: [UInt8]
    let type: String
    switch form {
    case .businessTransaction:
      (body, type) = (Array(BusinessTransactionDocument.xml(record).utf8), "application/xml")
    case .openTelemetry(let service):
      (body, type) = (TraceSpans.otlp(record, service: service), "application/json")
    }
    let status: Int
    do {
      status = try await receiver.send(body, contentType: type)
    } catch {
      throw TraceError(.upload, "the receiver did not answer: \(error)")
    }
    guard (200..<300).contains(status) else {
      throw TraceError(.upload, "the receiver answered with status \(status)")
    }
    return status
  }

  func logReadings(_ location: TraceLocation) {
    guard logsReadings, let record = try? record(),
      record.steps.indices.contains(location.step - 1),
      record.steps[location.step - 1].requests.indices.contains(location.request - 1)
    else { return }
    let request = record.steps[location.step - 1].requests[location.request - 1]
    guard let readings = request.readings else { return }
    log.write(
      .info, "a request was timed", [("correlation", request.id.hexadecimal)] + readings.fields)
  }

  func update(
    _ location: TraceLocation, _ body: (inout TraceRequestRecord, Timestamp) -> Bool
  ) -> Bool {
    updateStep(location.step) { step, now in
      guard step.requests.indices.contains(location.request - 1) else { return false }
      return body(&step.requests[location.request - 1], now)
    }
  }

  func updateStep(_ number: Int, _ body: (inout TraceStepRecord, Timestamp) -> Bool) -> Bool {
    let now = clock.now
    return
      (try? changeRunning { record throws(TraceError) -> Bool in
        guard record.steps.indices.contains(number - 1) else { return false }
        return body(&record.steps[number - 1], now)
      }) ?? false
  }

  private func find(_ isMeant: (TraceRequestRecord) -> Bool) -> TraceLocation? {
    guard let record = state.withLock({ $0.record }) else { return nil }
    for (step, one) in record.steps.enumerated() {
      if let request = one.requests.firstIndex(where: isMeant) {
        return TraceLocation(step: step + 1, request: request + 1)
      }
    }
    return nil
  }

  private func changeRunning<Result: Sendable>(
    _ body: (inout TraceRecord) throws(TraceError) -> Result
  ) throws(TraceError) -> Result {
    try state.withLock { (state) throws(TraceError) in
      guard var record = state.record, record.ended == nil else {
        throw TraceError(.notStarted, "no trace is running")
      }
      state.record = nil
      defer { state.record = record }
      return try body(&record)
    }
  }

  private func newSpan() -> String {
    var bytes = chance.bytes(8)
    bytes[7] |= 1
    return Hexadecimal.encode(bytes)
  }
}

/// Sends documents to a system that collects traces. The app implements it, or the requests of its
/// OData part.
public protocol TraceReceiver: Sendable {
  /// Sends one body and returns the status of HTTP; throws when there was no answer.
  func send(_ body: [UInt8], contentType: String) async throws -> Int
}
