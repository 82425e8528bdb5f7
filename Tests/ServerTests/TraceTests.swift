import FerryConnector
import FerryHTTP
import FerryModel
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// A log with its fields.
private final class FieldLog: Log {
  private let kept = Mutex<[String]>([])
  var lines: [String] { kept.withLock { $0 } }
  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    let text = fields.filter { $0.0 != "milliseconds" }.map { " \($0.0)=\($0.1)" }.joined()
    kept.withLock { $0.append(message + text) }
  }
}

/// Takes every operation and keeps the trace that it came with.
private final class TakingConnector: Connector {
  final class Seen: Sendable {
    private let state = Mutex<[String?]>([])
    var traces: [String?] { state.withLock { $0 } }
    func note(_ trace: String?) { state.withLock { $0.append(trace) } }
  }
  private let seen: Seen
  init(_ seen: Seen) { self.seen = seen }
  func mismatches(with package: Package) -> [Mismatch] { [] }
  func perform(_ group: [ConnectorOperation]) -> PerformResult {
    for operation in group { seen.note(operation.traceID) }
    let keys = group.map { $0.key ?? Key([.integer(1)]) }
    let rows = zip(group, keys).map { operation, key in
      RowImage(
        entity: operation.entity.name, key: key,
        values: operation.entity.attributes.indices.map { operation.changed[$0] ?? .null })
    }
    return .done(keys.map { .accepted(key: $0) }, touched: rows)
  }
  func recall(_ operations: [OperationID]) -> [OperationOutcome?] { operations.map { _ in nil } }
  func read(_ entity: Entity, keys: [Key]) -> [RowImage] { [] }
  func content(_ entity: Entity, key: Key, position: Int, offset: Int64, count: Int) -> [UInt8]? {
    nil
  }
  func load(
    _ entities: [Entity], each: (Entity, [RowImage]) throws(ConnectorError) -> Void,
    rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) {}
  func changedByOthers() throws(ConnectorError) -> Bool { false }
}

private struct AnyoneMayEnter: AuthenticationProvider {
  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    UserRecord(name: user, claims: ["employee": ["1"]])
  }
  func record(of user: String) -> UserRecord? {
    UserRecord(name: user, claims: ["employee": ["1"]])
  }
}

@Suite("Traces through the server", .timeLimit(.minutes(10)))
struct TraceTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let span = "00f067aa0ba902b7"

  private func exchange(_ operation: [UInt8]) -> [UInt8] {
    let hello = Hello(
      server: nil, package: Shop.package.id, device: "phone", incarnation: "phone-1", groups: [],
      partitions: [], open: [])
    return [Message.hello(hello), .replay(Replay(operations: [operation]))].flatMap {
      $0.frame.encoded()
    }
  }

  private func operation(_ id: String, key: Int64) throws -> [UInt8] {
    let id = try #require(OperationID(id))
    return FerryWire.Operation(
      id: id, chain: id, position: 0, count: 1, entity: "Order", kind: .create,
      key: Key([.integer(key)]), changed: [0: .integer(key), 1: .integer(1), 2: .text("Oslo")],
      base: [:]
    ).encoded(for: Shop.order)
  }

  @Test(
    "A device's trace id is in the log of the request, of the operation, and with the business system (ios/SRV-23; adr/BTX-2)"
  )
  func oneID() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-trace-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (log, seen) = (FieldLog(), TakingConnector.Seen())
    let world = World(clock: SystemClock(), chance: SystemChance(), log: log)
    let host = try await PackageHost.start(
      Shop.package, folder: folder, doorkeeper: Doorkeeper(AnyoneMayEnter(), world: world),
      world: world
    ) { TakingConnector(seen) }
    await host.reload()
    let login = await host.answer(
      HTTPRequest(
        method: .post, path: "/ferry/1/login",
        body: Array(#"{"user":"anna","password":"p","device":"phone"}"#.utf8)))
    guard case .bytes(let bytes) = login.body else { return }
    let answer = try #require(
      try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    let token = try #require(answer["accessToken"] as? String)
    let headers = ["00-\(Self.trace)-\(Self.span)-01", nil, "00-\(Self.trace)-\(Self.span)-00"]
    for (number, header) in headers.enumerated() {
      let id = String(repeating: "0", count: 31) + String(number + 1)
      var fields: HTTPHeaders = ["Authorization": "Bearer \(token)"]
      fields["traceparent"] = header
      let taken = await host.answer(
        HTTPRequest(
          method: .post, path: "/ferry/1/exchange", headers: fields,
          body: exchange(try operation(id, key: Int64(20 + number)))))
      #expect(taken.status == 200)
      let end = ContinuousClock.now + .seconds(30)
      while seen.traces.count <= number, ContinuousClock.now < end { await Task.yield() }
    }
    await host.stop()
    #expect(seen.traces == [Self.trace, nil, nil])
    let own = log.lines.filter { $0.contains("traced") }
    #expect(
      own.sorted() == [
        "a traced operation was performed trace=\(Self.trace) operation=\(String(repeating: "0", count: 31))1 entity=Order",
        "a traced request was taken trace=\(Self.trace) parent=\(Self.span) user=anna operations=1",
      ])
  }

  @Test(
    "A header of another form is no trace, and nothing of it is logged",
    arguments: [
      "", "00", "01-\(trace)-\(span)-01", "00-\(trace)-\(span)-0g", "00-\(trace)-\(span)-+1",
      "00-\(trace.uppercased())-\(span)-01", "00-\(String(repeating: "0", count: 32))-\(span)-01",
      "00-\(trace)-0000000000000000-01", "00-\(trace)-\(span)-01x", "00-\(trace)-\(span)'-1",
    ])
  func otherForms(_ text: String) {
    #expect(RequestTrace(["traceparent": text]) == nil)
  }

  @Test("Of more than 10,000 traced operations that wait the oldest are forgotten")
  func limit() throws {
    let traces = OperationTraces()
    let trace = try #require(RequestTrace(["traceparent": "00-\(Self.trace)-\(Self.span)-01"]))
    func id(_ number: Int) throws -> OperationID {
      let digits = String(number)
      return try #require(OperationID(String(repeating: "0", count: 32 - digits.count) + digits))
    }
    for number in 1...10_001 { traces.note([try id(number)], trace) }
    func traced(_ number: Int) throws -> String? {
      let operation = ConnectorOperation(
        id: try id(number), entity: Shop.audit, kind: .create, key: nil, changed: [:], base: [:])
      return traces.traced([operation])[0].traceID
    }
    #expect(try traced(1) == nil && traced(1_000) == nil)
    #expect(try traced(1_001) == Self.trace && traced(10_001) == Self.trace)
    traces.note([try id(10_001)], trace)
    #expect(try traced(1_001) == Self.trace)
  }
}
