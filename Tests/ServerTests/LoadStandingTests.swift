import FerryConnector
import FerryModel
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// A business system that has given half of its rows and waits.
private final class HalvedConnector: Connector {
  /// Let go when the test has seen what it wants.
  let gate: DispatchSemaphore

  init(_ gate: DispatchSemaphore) { self.gate = gate }

  func mismatches(with package: Package) -> [Mismatch] { [] }
  func perform(_ group: [ConnectorOperation]) -> PerformResult { .notDone(reason: "not asked") }
  func recall(_ operations: [ConnectorOperation]) -> [Recall] {
    operations.map { _ in .notPerformed }
  }
  func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }
  func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] { [] }
  func changedByOthers() -> Bool { false }
  func changes(since cursor: String?) -> BusinessChanges { BusinessChanges(cursor: nil, hints: []) }
  func rowCount(_ entities: [Entity]) -> Int? { 4 }
  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    let images = (1...4 as ClosedRange<Int64>).map { id in
      RowImage(
        entity: "Product", key: ObjectKey([.integer(id)]), values: [.integer(id), .text("p\(id)")])
    }
    try each(LoadPage(entity: Shop.product, rows: Array(images.prefix(2))))
    gate.wait()
    try each(LoadPage(entity: Shop.product, rows: Array(images.suffix(2))))
    return .snapshot
  }
}

@Suite("How far a load is, for devices that wait for it", .timeLimit(.minutes(60)))
struct LoadStandingTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ferry-standing-\(UUID().uuidString)").path

  private func host() async throws -> ServiceHost {
    let (world, folder) = (World.system(), folder)
    return try await ServiceHost(world: world) { () throws(ServerError) in
      try Service(package: Shop.package, folder: folder, world: world, synchronous: .normal)
    }
  }

  /// What a new device's first checkpoint says.
  private func checkpoint(_ host: ServiceHost) async throws -> Checkpoint {
    let identity = Identity(
      user: "anna", device: nil, claims: ["employee": ["1"]],
      expires: Timestamp(milliseconds: .max / 2))
    let hello = Hello(
      server: nil, package: Shop.package.id, device: "phone", incarnation: "phone-1", groups: [],
      partitions: [], open: [])
    let pulls = Shop.package.groups.map { Message.pull(Pull(group: $0.name, staged: [], at: 0)) }
    let opening = try await host.open(
      ([Message.hello(hello)] + pulls).flatMap { $0.frame.encoded() }, by: identity,
      isChannel: false, until: identity.expires)
    var bytes = opening.bytes
    while let id = opening.id, let more = await host.next(of: id) { bytes += more }
    for frame in try FrameReader.frames(of: bytes) {
      if case .checkpoint(let checkpoint) = try Message(frame) { return checkpoint }
    }
    throw WireFailure(.internal, "no checkpoint came", hint: "")
  }

  @Test("A device that waits for the first load is told its share and time; a later one is not")
  func told() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let host = try await host()
    #expect(try await checkpoint(host).load == nil)
    host.pulse.tellLoad(LoadProgress(rows: 3_000, total: 10_000, time: .seconds(2)))
    let waiting = try await checkpoint(host)
    #expect(!waiting.unavailable.isEmpty)
    #expect(waiting.load == LoadStanding(permille: 300, remainingSeconds: 5))
    host.pulse.tellLoad(LoadProgress(rows: 3_000, total: nil, time: .seconds(2)))
    #expect(try await checkpoint(host).load == nil)
    let ticket = try await host.beginLoad()
    while try await host.endLoad(ticket) == .again {}
    // A comparison is under way, and this device waits for nothing.
    host.pulse.tellLoad(LoadProgress(rows: 3_000, total: 10_000, time: .seconds(2)))
    let whole = try await checkpoint(host)
    #expect(whole.unavailable.isEmpty && whole.load == nil)
    await host.stop()
  }

  @Test("A load counts its rows from the beginning to the end")
  func counted() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (host, gate) = (try await host(), DispatchSemaphore(value: 0))
    let loader = LoadHost(
      connector: HalvedConnector(gate), service: host, package: Shop.package, world: .system())
    let running = Task { await loader.run() }
    let load = Task { await loader.loadNow() }
    defer { gate.signal() }
    let patience = Patience()
    while try await checkpoint(host).load?.permille != 500 {
      try #require(!patience.hasEnded, "half of the rows are never reported")
      await Task.yield()
    }
    gate.signal()
    await load.value
    let whole = try await checkpoint(host)
    #expect(whole.unavailable.isEmpty && whole.load == nil)
    await loader.stop()
    await running.value
    await host.stop()
  }

  @Test("A share is one of what was counted before, and never more than all")
  func share() {
    #expect(LoadProgress(rows: 12, total: 10, time: .seconds(1)).standing?.permille == 1_000)
    #expect(LoadProgress(rows: 0, total: 0, time: .zero).standing == nil)
    let begun = LoadProgress(rows: 0, total: 10, time: .zero).standing
    #expect(begun == LoadStanding(permille: 0, remainingSeconds: nil))
  }
}
