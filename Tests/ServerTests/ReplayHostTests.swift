import FerryConnector
import FerryModel
import FerryStoreConformance
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("The thread that replays, and the one that stores", .timeLimit(.minutes(60)))
struct ReplayHostTests {
  @Test("While an answer is stored the next change is performed")
  func sideBySide() async throws {
    let bench = try Bench()
    for key: Int64 in [10, 11] { bench.business.put(Shop.order, Shop.order(key, 1, "Oslo")) }
    let device = Device(bench)
    let operations = [10, 11].map { key in
      bench.operation(
        Shop.order, .update, ObjectKey([.integer(key)]), changed: [2: .text("Bergen")])
    }
    device.open = operations.map(\.0)
    let body = device.body(operations.map(\.1))
    let folder = bench.folder + "-replay"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = World(clock: bench.clock, chance: SystemChance(), log: KeptLog())
    let meeting = Meeting()
    let host = try await ServiceHost(world: world) { () throws(ServerError) in
      try Service(package: Shop.package, world: world, limits: .standard) {
        package throws(ServerError) in
        let store = try SQLiteStore(
          folder: folder, package: package, world: world, synchronous: .normal)
        return AwaitingStore(store, meeting)
      }
    }
    let ticket = try await host.beginLoad()
    try Self.feed(host, ticket, bench.business)
    while try await host.endLoad(ticket) == .again {}
    let identity = bench.identity()
    _ = try await host.open(body, by: identity, isChannel: false, until: identity.expires)
    let replay = ReplayHost(
      connector: SlowConnector(meeting, bench.clock), service: host, world: world)
    let run = Task { await replay.run {} }
    let patience = Patience()
    while meeting.answers < 2 { try #require(await patience.lasts(), "no answers") }
    #expect(meeting.performed == 2)
    #expect(meeting.isMet, "the second was not performed before the first was stored")
    await replay.stop()
    await host.stop()
    await run.value
  }

  private static func feed(
    _ host: ServiceHost, _ ticket: LoadTicket, _ business: Business
  ) throws {
    var feed = LoadFeed(host, ticket)
    for entity in Shop.package.entities { try feed.add(entity, business.images(entity)) }
    try feed.finish()
  }
}

/// Where the two threads wait for each other.
private final class Meeting: Sendable {
  private let state = Mutex((performed: 0, answers: 0, isMet: false))
  private let second = DispatchSemaphore(value: 0)

  var performed: Int { state.withLock { $0.performed } }
  var answers: Int { state.withLock { $0.answers } }
  var isMet: Bool { state.withLock { $0.isMet } }

  func perform() {
    let count = state.withLock { state in
      state.performed += 1
      return state.performed
    }
    if count == 2 { second.signal() }
  }

  /// The first answer waits until the second change is being performed.
  func answer(_ count: Int) {
    if state.withLock({ $0.answers == 0 }) {
      let isMet = second.wait(timeout: .now() + .seconds(600)) == .success
      state.withLock { $0.isMet = isMet }
    }
    state.withLock { $0.answers += count }
  }
}

private final class AwaitingStore: StoreDecorator {
  let inner: any Store
  private let meeting: Meeting

  init(_ inner: any Store, _ meeting: Meeting) {
    self.inner = inner
    self.meeting = meeting
  }

  func answer(_ answers: [Answer], _ transaction: NumberedTransaction) throws(StoreError) {
    meeting.answer(answers.count)
    try inner.answer(answers, transaction)
  }
}

/// Accepts everything. Each change takes longer than others are waited for.
private final class SlowConnector: Connector {
  private let meeting: Meeting
  private let clock: HandClock

  init(_ meeting: Meeting, _ clock: HandClock) {
    self.meeting = meeting
    self.clock = clock
  }

  func mismatches(with package: Package) -> [Mismatch] { [] }
  func perform(_ group: [ConnectorOperation]) -> PerformResult {
    meeting.perform()
    clock.advance(1)
    return .done(
      group.map { .accepted(key: $0.key ?? ObjectKey([]), isRepeated: false) }, touched: [])
  }
  func perform(
    _ groups: [[ConnectorOperation]], while goesOn: () -> Bool
  ) -> [PerformResult] { groups.prefix(1).map { perform($0) } }
  func recall(_ operations: [ConnectorOperation]) -> [Recall] {
    operations.map { _ in .notPerformed }
  }
  func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }
  func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] {
    keys.map { RowImage(entity: entity.name, key: $0, values: nil) }
  }
  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) -> LoadEnd { .snapshot }
  func changedByOthers() -> Bool { false }
}
