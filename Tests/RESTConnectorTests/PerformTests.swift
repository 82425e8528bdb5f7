import FerryConnector
import FerryModel
import FerryRESTConnector
import FerryWorld
import Testing

/// Operations of the model are one request each, and have no rows.
@Suite(.timeLimit(.minutes(60)))
struct PerformTests {
  private static let place = Entity(
    name: "PlaceOrder", table: "PlaceOrder",
    attributes: [
      Attribute(name: "id", column: "id", type: .string, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
      Attribute(name: "amount", column: "amount", type: .int, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create], partition: nil,
    group: "all", performs: ["over REST"])

  private static let package = Package(
    name: "Shop", version: "1.0", entities: [place], groups: [SynchronizationGroup(name: "all")])

  private static func text(_ memory: String) -> String {
    """
    {"entities": {"PlaceOrder": {
      "perform": "/orders", "memory": \(memory), "fields": {"id": {"at": "/id", "readOnly": true}},
      "constants": {"/kind": "express"}}}}
    """
  }

  private let service = FakeService()
  private let clock = HandClock()
  private let thread = ThreadExecutor(name: "connector")

  private func connection(_ memory: String) throws -> RESTConnection {
    try RESTConnection(
      FakeService.root,
      mapping: try RESTMapping(Array(PerformTests.text(memory).utf8), for: PerformTests.package),
      folder: "/", world: World(clock: clock, chance: NoChance(), log: SilentLog()),
      transport: service)
  }

  private func ask<Value: Sendable>(
    _ connection: RESTConnection, _ body: @escaping @Sendable (RESTConnector) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      thread.perform {
        continuation.resume(
          returning: body(RESTConnector(connection, package: PerformTests.package)))
      }
    }
  }

  private var order: ConnectorOperation {
    ConnectorOperation(
      id: OperationID(String(repeating: "a", count: 32))!, entity: PerformTests.place,
      kind: .create, key: ObjectKey([.text("k-1")]),
      changed: [1: .text("tea"), 2: .integer(2)], base: [:])
  }

  @Test func itIsSentOnceAndHasNoRow() async throws {
    let connection = try connection("{\"header\": \"Idempotency-Key\"}")
    let order = order
    let result = await ask(connection) { $0.perform([order]) }
    guard case .done(let outcomes, let touched) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(outcomes == [.accepted(key: ObjectKey([.text("k-1")]))])
    #expect(touched.allSatisfy { $0.values == nil })
    #expect(service.rows("orders").values.map(\.name) == ["tea"])
    let sent = String(decoding: service.requests.last?.body ?? [], as: UTF8.self)
    #expect(sent.contains("\"kind\":\"express\"") && !sent.contains("k-1"))
    let mismatches = await ask(connection) { connector in
      Result { () throws(ConnectorError) in try connector.mismatches(with: PerformTests.package) }
    }
    #expect(try mismatches.get().isEmpty)
    #expect(service.requests.allSatisfy { $0.method == .post }, "nothing is ever listed")
  }

  @Test("A lost answer is asked for by its number, or a person decides", arguments: [true, false])
  func lost(_ isNumbered: Bool) async throws {
    let connection = try connection(isNumbered ? "{\"header\": \"Idempotency-Key\"}" : "\"none\"")
    service.change { $0.faults = [.lostAfter] }
    let order = order
    guard case .done(let first, _) = await ask(connection, { $0.perform([order]) }),
      case .unknown? = first.first
    else {
      Issue.record("the answer is not lost")
      return
    }
    clock.move(.seconds(121))
    let recalls = try await ask(connection) { connector in
      Result { () throws(ConnectorError) in try connector.recall([order]) }
    }.get()
    guard isNumbered else {
      guard case .cannotTell? = recalls.first else {
        Issue.record("\(recalls)")
        return
      }
      return
    }
    #expect(recalls == [.mayBeRepeated])
    _ = await ask(connection) { $0.perform([order]) }
    #expect(service.rows("orders").count == 1)
  }

  @Test func whatCannotBeFoundAgainIsAMistake() {
    let fault = #expect(throws: RESTMappingFault.self) {
      _ = try RESTMapping(
        Array(PerformTests.text("{\"marker\": \"/marker\"}").utf8), for: PerformTests.package)
    }
    #expect(fault?.place == "/entities/PlaceOrder/memory")
  }
}
