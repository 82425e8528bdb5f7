import FerryConnector
import FerryCrypto
import FerryHTTP
import FerryModel
import FerryTrace
import FerryWorld
import Synchronization

/// The ids of a trace that a request carries: in W3C's header `traceparent`, else in `SAP-PASSPORT`.
struct RequestTrace: Sendable, Equatable {
  /// How much the server records, from the flags of the passport; medium without one.
  enum Level: Int, Sendable, Comparable {
    /// The request with its time.
    case low = 1
    /// Each operation that it brings, too.
    case medium = 2
    /// The sizes of request and answer, too.
    case high = 3

    static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
  }

  /// 32 digits, the same from the user's action to the business system.
  let traceID: String
  /// 16 digits, those of the device's own span.
  let parentID: String
  let level: Level
  /// The request's own id, 32 digits: the header `X-CorrelationID`, else that of the passport.
  let correlationID: String?
  /// 16 digits, those of the server's span; empty where nobody wants to know of spans.
  var spanID: String = ""

  /// nil without the headers, for headers of another form, and where the device asks for no trace.
  init?(_ headers: HTTPHeaders) {
    let head = TraceHeaders(
      passports: headers.values(Passport.headerName), parents: headers.values("traceparent"),
      correlations: headers.values(Passport.correlationHeaderName))
    let passport = head.passport
    let own = head.correlationID.map { $0.lowercased() }
    correlationID = own.flatMap { RequestTrace.isID($0) ? $0 : nil } ?? passport?.correlationID
    let asked = passport.flatMap { RequestTrace.level($0.flags) }
    guard headers["traceparent"] != nil else {
      // Without flags the device traces for itself alone.
      guard let passport, let asked else { return nil }
      traceID = passport.rootID.hexadecimal
      parentID = String(passport.correlationID.prefix(16))
      level = asked
      return
    }
    guard let parent = head.parent, parent.isSampled else { return nil }
    traceID = parent.traceID
    parentID = parent.spanID
    level = passport == nil ? .medium : asked ?? .low
  }

  /// nil where the flags of a passport ask servers for nothing.
  private static func level(_ flags: [UInt8]) -> Level? {
    switch flags {
    case [0, 0]: nil
    case [0x9F, 0x0D]: .high
    default: .medium
    }
  }

  /// 32 lower-case hexadecimal digits, not all of them zero.
  private static func isID(_ text: String) -> Bool {
    text.utf8.count == 32 && text.contains { $0 != "0" }
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

/// Which trace brought an operation, until it is performed. In memory: a restart forgets it, and the
/// operations are then performed untraced.
final class OperationTraces: Sendable {
  /// Beyond it the oldest tenth is forgotten.
  static let countLimit = 10_000

  private struct State {
    var traces: [OperationID: RequestTrace] = [:]
    var order: [OperationID] = []
  }

  private let state = Mutex(State())

  func note(_ operations: [OperationID], _ trace: RequestTrace) {
    state.withLock { state in
      for id in operations where state.traces.updateValue(trace, forKey: id) == nil {
        state.order.append(id)
      }
      while state.order.count > Self.countLimit {
        for id in state.order.prefix(Self.countLimit / 10) { state.traces[id] = nil }
        state.order.removeFirst(Self.countLimit / 10)
      }
    }
  }

  /// The server's span of the request that brought the operation; nil where there is none.
  func span(of operation: OperationID) -> String? {
    let id = state.withLock { $0.traces[operation]?.spanID }
    return id?.isEmpty == false ? id : nil
  }

  /// The operations, each with the trace that brought it.
  func traced(_ operations: [ConnectorOperation]) -> [ConnectorOperation] {
    state.withLock { state in
      guard !state.traces.isEmpty else { return operations }
      return operations.map { operation in
        var operation = operation
        operation.traceID = state.traces[operation.id]?.traceID
        return operation
      }
    }
  }
}

/// What the server says of traced work: lines of the log, and spans where somebody wants them.
struct TraceLog: Sendable {
  let world: World

  /// The trace with an id for the server's own span.
  func begun(_ trace: RequestTrace?) -> RequestTrace? {
    guard var trace, world.log.spans != nil else { return trace }
    trace.spanID = hexadecimal(world.chance.bytes(8))
    return trace
  }

  /// `bytes`: of the request, and of the first part of its answer.
  func opened(
    _ trace: RequestTrace, user: String, operations: Int, bytes: (Int, Int), since start: Duration,
    _ result: Result<some Any, ServerError>
  ) {
    var failure: String?
    switch result {
    case .success:
      var fields: [(String, String)] = [("trace", trace.traceID), ("parent", trace.parentID)]
      if let id = trace.correlationID { fields.append(("correlation", id)) }
      fields += [("user", user), ("operations", String(operations))]
      if trace.level == .high {
        fields += [("requestBytes", String(bytes.0)), ("answerBytes", String(bytes.1))]
      }
      world.log.write(
        .info, "a traced request was taken",
        fields + [("milliseconds", milliseconds(since: start))])
    case .failure(let error): failure = error.code.rawValue
    }
    send(
      trace.traceID, trace.spanID, parent: trace.parentID, "exchange", isOfRequest: true, start,
      ["ferry.operations": String(operations)], failure: failure)
  }

  /// Of those that are traced; the time is that of all operations that were performed together.
  func performed(
    _ groups: [[ConnectorOperation]], _ results: [PerformResult], _ traces: OperationTraces,
    since start: Duration
  ) {
    for (group, result) in zip(groups, results) {
      for (place, operation) in group.enumerated() {
        guard let trace = operation.traceID else { continue }
        world.log.info(
          "a traced operation was performed", ("trace", trace), ("operation", "\(operation.id)"),
          ("entity", operation.entity.name), ("milliseconds", milliseconds(since: start)))
        guard world.log.spans != nil else { continue }
        send(
          trace, hexadecimal(world.chance.bytes(8)), parent: traces.span(of: operation.id),
          "replay", isOfRequest: false, start,
          [
            "ferry.operation": "\(operation.id)", "ferry.entity": operation.entity.name,
            "ferry.kind": operation.kind.rawValue,
          ], failure: TraceLog.failure(of: place, result))
      }
    }
  }

  /// Without the words of the business system, which may name what is the user's.
  private static func failure(of place: Int, _ result: PerformResult) -> String? {
    switch result {
    case .notDone: return "notDone"
    case .unknown: return "unknown"
    case .waits: return "waits"
    case .done(let outcomes, _):
      guard outcomes.indices.contains(place) else { return nil }
      switch outcomes[place] {
      case .accepted: return nil
      case .refused(let refusal): return "refused \(refusal.code)"
      case .notTried: return "notTried"
      case .unknown: return "unknown"
      }
    }
  }

  private func send(
    _ trace: String, _ id: String, parent: String?, _ name: String, isOfRequest: Bool,
    _ start: Duration, _ attributes: [String: String], failure: String?
  ) {
    guard let spans = world.log.spans else { return }
    let duration = world.clock.uptime - start
    spans.receive(
      Span(
        traceID: trace, id: id, parentID: parent, name: name, isOfRequest: isOfRequest,
        start: world.clock.now.advanced(by: .zero - duration), duration: duration,
        attributes: attributes, failure: failure))
  }

  private func milliseconds(since start: Duration) -> String {
    String(Int64((world.clock.uptime - start) / .milliseconds(1)))
  }
}
