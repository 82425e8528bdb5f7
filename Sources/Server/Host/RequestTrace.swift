import FerryConnector
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
    var traces: [OperationID: String] = [:]
    var order: [OperationID] = []
  }

  private let state = Mutex(State())

  func note(_ operations: [OperationID], _ trace: RequestTrace) {
    state.withLock { state in
      for id in operations where state.traces.updateValue(trace.traceID, forKey: id) == nil {
        state.order.append(id)
      }
      while state.order.count > Self.countLimit {
        for id in state.order.prefix(Self.countLimit / 10) { state.traces[id] = nil }
        state.order.removeFirst(Self.countLimit / 10)
      }
    }
  }

  /// The operations, each with the trace that brought it.
  func traced(_ operations: [ConnectorOperation]) -> [ConnectorOperation] {
    state.withLock { state in
      guard !state.traces.isEmpty else { return operations }
      return operations.map { operation in
        var operation = operation
        operation.traceID = state.traces[operation.id]
        return operation
      }
    }
  }
}

/// What the log says of traced work: the server's spans.
struct TraceLog: Sendable {
  let world: World

  func opened(_ trace: RequestTrace, user: String, operations: Int, since start: Duration) {
    world.log.info(
      "a traced request was taken", ("trace", trace.traceID), ("parent", trace.parentID),
      ("user", user), ("operations", String(operations)),
      ("milliseconds", milliseconds(since: start)))
  }

  /// Of those that are traced; the time is that of all operations that were performed together.
  func performed(_ operations: [ConnectorOperation], since start: Duration) {
    for operation in operations {
      guard let trace = operation.traceID else { continue }
      world.log.info(
        "a traced operation was performed", ("trace", trace), ("operation", "\(operation.id)"),
        ("entity", operation.entity.name), ("milliseconds", milliseconds(since: start)))
    }
  }

  private func milliseconds(since start: Duration) -> String {
    String(Int64((world.clock.uptime - start) / .milliseconds(1)))
  }
}
