import FerryConnector
import FerryCrypto
import FerryHTTP
import FerryModel
import FerryWorld
import Synchronization

/// The ids of a trace that a request carries in W3C's header `traceparent`.
struct RequestTrace: Sendable, Equatable {
  /// 32 digits, the same from the user's action to the business system.
  let traceID: String
  /// 16 digits, those of the device's own span.
  let parentID: String
  /// 16 digits, those of the server's span; empty where nobody wants to know of spans.
  var spanID: String = ""

  /// nil without the header, for one of another form, and where the device asks for no trace.
  init?(_ headers: HTTPHeaders) {
    guard let text = headers["traceparent"], text.utf8.count == 55 else { return nil }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "00", parts[1].utf8.count == 32, parts[2].utf8.count == 16,
      parts.allSatisfy({ $0.utf8.allSatisfy(RequestTrace.isDigit) }),
      parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" }),
      let flags = UInt8(parts[3], radix: 16), flags & 1 == 1
    else { return nil }
    traceID = String(parts[1])
    parentID = String(parts[2])
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (97...102).contains(byte)
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

  func opened(
    _ trace: RequestTrace, user: String, operations: Int, since start: Duration,
    _ result: Result<some Any, ServerError>
  ) {
    var failure: String?
    switch result {
    case .success:
      world.log.info(
        "a traced request was taken", ("trace", trace.traceID), ("parent", trace.parentID),
        ("user", user), ("operations", String(operations)),
        ("milliseconds", milliseconds(since: start)))
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
    case .done(let outcomes, _):
      guard outcomes.indices.contains(place) else { return nil }
      switch outcomes[place] {
      case .accepted: return nil
      case .refused(let refusal): return "refused \(refusal.code)"
      case .notTried: return "notTried"
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
