import FerryConnector
import FerryHTTP
import FerryModel
import FerryTestTraits
import FerryTrace
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
    let keys = group.map { $0.key ?? ObjectKey([.integer(1)]) }
    let rows = zip(group, keys).map { operation, key in
      RowImage(
        entity: operation.entity.name, key: key,
        values: operation.entity.attributes.indices.map { operation.changed[$0] ?? .null })
    }
    return .done(keys.map { .accepted(key: $0) }, touched: rows)
  }
  func recall(_ operations: [ConnectorOperation]) -> [Recall] {
    operations.map { _ in .notPerformed }
  }
  func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }
  func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] { [] }
  func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) -> [UInt8]? {
    nil
  }
  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd { .snapshot }
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

@Suite("Traces through the server", .timeLimit(.minutes(60)))
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
      key: ObjectKey([.integer(key)]),
      changed: [0: .integer(key), 1: .integer(1), 2: .text("Oslo")],
      base: [:]
    ).encoded(for: Shop.order)
  }

  @Test(
    "A device's trace id is in the log of the request, of the operation, and with the business system",
    .reference("ios/SRV-23", "adr/BTX-2")
  )
  func oneID() async throws {
    let seen = TakingConnector.Seen()
    let own = try await traced(
      [
        ["traceparent": "00-\(Self.trace)-\(Self.span)-01"], [:],
        ["traceparent": "00-\(Self.trace)-\(Self.span)-00"],
      ], seen)
    #expect(seen.traces == [Self.trace, nil, nil])
    #expect(
      own.sorted() == [
        "a traced operation was performed trace=\(Self.trace) operation=\(String(repeating: "0", count: 31))1 entity=Order",
        "a traced request was taken trace=\(Self.trace) parent=\(Self.span) user=anna operations=1",
      ])
  }

  /// The lines of the log on traced work, after requests with these headers and one operation each.
  private func traced(
    _ requests: [HTTPHeaders], _ seen: TakingConnector.Seen = TakingConnector.Seen()
  ) async throws -> [String] {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-trace-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let log = FieldLog()
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
    guard case .bytes(let bytes) = login.body else { return [] }
    let answer = try #require(
      try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    let token = try #require(answer["accessToken"] as? String)
    for (number, headers) in requests.enumerated() {
      let id = String(repeating: "0", count: 31) + String(number + 1)
      var fields = headers
      fields["Authorization"] = "Bearer \(token)"
      let taken = await host.answer(
        HTTPRequest(
          method: .post, path: "/ferry/1/exchange", headers: fields,
          body: exchange(try operation(id, key: Int64(20 + number)))))
      #expect(taken.status == 200)
      let patience = Patience()
      while seen.traces.count <= number, await patience.lasts() {}
    }
    await host.stop()
    return log.lines.filter { $0.contains("traced") }
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

  @Test(
    "A passport alone is a trace, and its flags say how much the server records",
    .reference("ios/SRV-23"),
    arguments: [
      (TraceLevel.clientOnly, nil), (.low, nil), (.medium, RequestTrace.Level.medium),
      (.high, .high),
    ])
  func passport(_ level: TraceLevel, _ expected: RequestTrace.Level?) throws {
    let passport = Passport(SystemChance(), level: level, action: "GET Ünits")
    var headers: HTTPHeaders = ["SAP-PASSPORT": passport.header]
    let alone = RequestTrace(headers)
    #expect(alone?.level == expected)
    #expect((alone == nil) == (expected == nil))
    if let alone {
      #expect(alone.traceID == passport.rootID.hexadecimal)
      #expect(alone.correlationID == passport.correlationID)
      #expect(alone.parentID == String(passport.correlationID.prefix(16)))
    }
    // With W3C's header its ids count; one without flags then asks for the least.
    headers["traceparent"] = "00-\(Self.trace)-\(Self.span)-01"
    let both = try #require(RequestTrace(headers))
    #expect(both.traceID == Self.trace && both.parentID == Self.span)
    #expect(both.level == expected ?? .low)
    headers["traceparent"] = "00-\(Self.trace)-\(Self.span)-00"
    #expect(RequestTrace(headers) == nil)
    // Cut or changed it is none.
    for bad in [String(passport.header.dropLast()), "00" + passport.header.dropFirst(2)] {
      #expect(RequestTrace(["SAP-PASSPORT": bad]) == nil)
    }
  }

  @Test(
    "A level below medium records the request alone; high records sizes too",
    .reference("ios/SRV-23"))
  func levels() async throws {
    for (level, operations, hasSizes) in [
      (TraceLevel.low, 0, false), (.medium, 1, false), (.high, 1, true),
    ] {
      let passport = Passport(SystemChance(), level: level)
      let lines = try await traced([
        [
          "traceparent": "00-\(Self.trace)-\(Self.span)-01", "SAP-PASSPORT": passport.header,
          "X-CorrelationID": passport.correlationID,
        ]
      ])
      let requests = lines.filter { $0.contains("a traced request was taken") }
      #expect(requests.count == 1)
      #expect(requests.first?.contains("correlation=\(passport.correlationID)") == true)
      #expect((requests.first?.contains("answerBytes=") == true) == hasSizes)
      #expect(lines.count { $0.contains("a traced operation was performed") } == operations)
    }
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
