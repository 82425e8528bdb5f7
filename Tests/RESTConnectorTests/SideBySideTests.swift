import FerryConnector
import FerryHTTPClient
import FerryModel
import FerryRESTConnector
import FerryWorld
import Synchronization
import Testing

/// Several chains are under way at a time, within the bound of the connection.
@Suite(.timeLimit(.minutes(60)))
struct SideBySideTests {
  /// Holds creates back until so many are under way at once; then lets all through.
  private final class Gate: Transport {
    let service = FakeService()
    private let wanted: Int
    private let state = Mutex(
      (under: 0, most: 0, isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))
    var most: Int { state.withLock { $0.most } }

    init(_ wanted: Int) { self.wanted = wanted }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
      guard request.method == .post else { return try await service.send(request) }
      await withCheckedContinuation { continuation in
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
          state.under += 1
          state.most = max(state.most, state.under)
          state.waiting.append(continuation)
          if state.under == wanted { state.isOpen = true }
          guard state.isOpen else { return [] }
          defer { state.waiting = [] }
          return state.waiting
        }
        for one in ready { one.resume() }
      }
      defer { state.withLock { $0.under -= 1 } }
      return try await service.send(request)
    }
  }

  @Test func independentCreatesGoSideBySide() async throws {
    let gate = Gate(3)
    let bench = try Bench()
    let text = Bench.text("\"memory\": {\"header\": \"Idempotency-Key\"}")
    let connection = try RESTConnection(
      FakeService.root, mapping: try RESTMapping(Array(text.utf8), for: Bench.package),
      folder: "/", world: World(clock: bench.clock, chance: NoChance(), log: SilentLog()),
      transport: gate, requests: 3)
    let groups = (0..<6).map { [bench.order("A-\($0)")] }
    let thread = ThreadExecutor(name: "connector")
    let results = await withCheckedContinuation { continuation in
      thread.perform {
        let connector = RESTConnector(connection, package: Bench.package)
        continuation.resume(returning: connector.perform(groups) { true })
      }
    }
    #expect(results.count == 6)
    #expect(gate.most == 3)
    #expect(Set(gate.service.rows("orders").values.compactMap(\.name)).count == 6)
  }

  @Test func changesOfOneObjectKeepTheirOrder() async throws {
    let bench = try Bench([.one])
    let groups = (0..<5).map { number in
      [
        bench.operation(
          .update, Bench.item, 1, [2: .integer(6 + Int64(number))],
          base: [2: .integer(5 + Int64(number))])
      ]
    }
    let results = await bench.ask { $0.perform(groups) { true } }
    #expect(results.count == 5)
    #expect(bench.service.rows("items")[1]?.amount == 10)
  }
}
