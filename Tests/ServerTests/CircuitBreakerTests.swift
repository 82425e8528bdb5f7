import FerryConnector
import FerryModel
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryServer

@Suite(
  "A business system that cannot be reached costs one attempt at a time", .timeLimit(.minutes(60)))
struct CircuitBreakerTests {
  @Test("Attempts come ever later, up to a limit, and at once when it was reached")
  func waits() {
    var breaker = CircuitBreaker()
    var now = Timestamp(milliseconds: 0)
    var waits: [Int64] = []
    #expect(breaker.mayTry(now))
    for _ in 0..<7 {
      breaker.note(isReached: false, now)
      let start = now
      while !breaker.mayTry(now) { now = now.advanced(by: .milliseconds(100)) }
      waits.append(now.milliseconds - start.milliseconds)
    }
    #expect(waits == [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
    breaker.note(isReached: true, now)
    #expect(breaker.mayTry(now))
    #expect(!breaker.isOpen)
  }

  /// Cannot be reached until it is set right; it counts how often it was tried.
  private final class Lost: Connector {
    final class Line: Sendable {
      private let state = Mutex((isAway: true, attempts: 0))

      var attempts: Int { state.withLock { $0.attempts } }
      func mend() { state.withLock { $0.isAway = false } }
      /// Whether it is reached.
      func attempt() -> Bool {
        state.withLock { state in
          state.attempts += 1
          return !state.isAway
        }
      }
    }

    private let line: Line
    private(set) var isUnreachable = false
    let lookInterval: Duration = .milliseconds(5)

    init(_ line: Line) { self.line = line }

    func mismatches(with package: Package) -> [Mismatch] { [] }
    func perform(_ group: [ConnectorOperation]) -> PerformResult { .notDone(reason: "away") }
    func recall(_ operations: [ConnectorOperation]) -> [Recall] {
      operations.map { _ in .notPerformed }
    }
    func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }
    func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] { [] }
    func load(
      _ scope: LoadScope, from place: LoadPlace?,
      each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
    ) -> LoadEnd { .snapshot }
    func changedByOthers() throws(ConnectorError) -> Bool {
      isUnreachable = !line.attempt()
      guard isUnreachable else { return false }
      throw ConnectorError("away", hint: "Start it.", isTransient: true)
    }
  }

  @Test("While it is away it is tried a few times, and as often as before once it is back")
  func away() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-breaker-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let log = KeptLog()
    let world = World(clock: SystemClock(), chance: SystemChance(), log: log)
    let host = try await ServiceHost(world: world) { () throws(ServerError) in
      try Service(package: Shop.package, folder: folder, world: world, synchronous: .normal)
    }
    let line = Lost.Line()
    let replay = ReplayHost(connector: Lost(line), service: host, world: world)
    let start = world.clock.uptime
    let run = Task { await replay.run {} }
    // The first attempt, then 0.5 and 1 second later.
    while line.attempts < 3 { await Task.yield() }
    #expect(world.clock.uptime - start >= .milliseconds(1_500))
    line.mend()
    while line.attempts < 20 { await Task.yield() }
    #expect(log.lines.filter { $0.contains("cannot be asked for changes") }.count == 1)
    #expect(log.lines.filter { $0.contains("can be asked for changes again") }.count == 1)
    await replay.stop()
    await host.stop()
    _ = await run.result
  }
}
