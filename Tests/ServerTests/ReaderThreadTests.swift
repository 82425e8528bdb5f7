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

/// Readers on threads of their own, over a store whose pages of one partition are held by a gate.
@Suite(.timeLimit(.minutes(60))) struct ReaderThreadTests {
  private static let rows: Int64 = 30
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ferry-readers-\(UUID().uuidString)").path
  private let world = World.system()
  private let gate = Gate()

  private func host(_ readers: ReaderThreads?) async throws -> ServiceHost {
    var limits = ServiceLimits()
    limits.nearRows = 10
    let host = try await ServiceHost(world: world, readers: readers) {
      [folder, world, gate, limits] () throws(ServerError) in
      try Service(package: Shop.package, world: world, limits: limits) {
        package throws(ServerError) in
        GatedStore(
          try SQLiteStore(folder: folder, package: package, world: world, synchronous: .normal),
          gate)
      }
    }
    let ticket = try await host.beginLoad()
    var feed = LoadFeed(host, ticket)
    try feed.add(
      Shop.order,
      (1...ReaderThreadTests.rows).map { ReaderThreadTests.image($0, 1) }
        + [ReaderThreadTests.image(100, 2)])
    try feed.finish()
    while try await host.endLoad(ticket) == .again {}
    return host
  }

  private static func image(_ id: Int64, _ employee: Int64) -> RowImage {
    RowImage(
      entity: "Order", key: ObjectKey([.integer(id)]), values: Shop.order(id, employee, "Oslo"))
  }

  private func identity(_ user: String, _ employee: Int64) -> Identity {
    Identity(
      user: user, device: nil, claims: ["employee": [String(employee)]],
      expires: world.clock.now.advanced(by: .seconds(600)))
  }

  private static func hello(_ device: String) -> [UInt8] {
    let hello = Hello(
      server: nil, package: Shop.package.id, device: device, incarnation: "1", groups: [],
      partitions: [], open: [])
    let pulls = Shop.package.groups.map { Message.pull(Pull(group: $0.name, staged: [], at: 0)) }
    return ([Message.hello(hello)] + pulls).flatMap { $0.frame.encoded() }
  }

  /// How many rows a whole exchange brings.
  private func rows(
    _ host: ServiceHost, _ device: String, _ identity: Identity
  ) async throws -> Int {
    let opening = try await host.open(
      ReaderThreadTests.hello(device), by: identity, isChannel: false, until: identity.expires)
    var bytes = opening.bytes
    if let id = opening.id { while let more = await host.next(of: id) { bytes += more } }
    return try FrameReader.frames(of: bytes).reduce(0) { count, frame in
      if case .rows(let page) = try Message(frame) { count + page.rowCount } else { count }
    }
  }

  private func remove() { try? FileManager.default.removeItem(atPath: folder) }

  @Test("A page that is read slowly delays neither an empty poll nor the import of another device")
  func slowPage() async throws {
    defer { remove() }
    let host = try await host(ReaderThreads(count: 1))
    gate.close()
    let anna = identity("anna", 1)
    async let large = rows(host, "phone", anna)
    await gate.waitUntilHeld()
    #expect(try await rows(host, "tablet", identity("bob", 2)) == 1)
    #expect(try await rows(host, "empty", identity("eve", 3)) == 0)
    #expect(gate.isClosed, "the page was read before the others were answered")
    gate.open()
    #expect(try await large == Int(ReaderThreadTests.rows))
    await host.stop()
  }

  @Test("Many devices that are far behind are all served, whatever the number of readers")
  func manyReads() async throws {
    defer { remove() }
    let host = try await host(ReaderThreads(count: 2))
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 1...20 {
        let anna = identity("anna\(number)", 1)
        group.addTask { try await rows(host, "phone \(number)", anna) }
      }
      for try await count in group { #expect(count == Int(ReaderThreadTests.rows)) }
    }
    await host.stop()
  }

  @Test("The end of a service waits for what its readers read")
  func endWaits() async throws {
    defer { remove() }
    let host = try await host(ReaderThreads(count: 1))
    gate.close()
    let anna = identity("anna", 1)
    async let large = rows(host, "phone", anna)
    await gate.waitUntilHeld()
    let ended = Ended()
    async let end: Void = stop(host, ended)
    // The exchange ends at once: its device comes again.
    #expect(try await large == 0)
    #expect(ended.count == 0)
    gate.open()
    await end
    #expect(gate.passed == 1)
  }

  private func stop(_ host: ServiceHost, _ ended: Ended) async {
    await host.stop()
    ended.note()
  }

  @Test("A reader that does not end holds the end of its service for a bounded time")
  func boundedEnd() async throws {
    defer { remove() }
    let service = try Service(
      package: Shop.package, folder: folder, world: world, synchronous: .normal)
    let readers = PageReaders(ReaderThreads(count: 1), held(service.store.readerMaker))
    gate.close()
    let exchange = service.exchange(ReaderThreadTests.hello("phone"), by: identity("anna", 1))
    _ = exchange.next()
    exchange.state.downloads = [
      Download(group: "sales", cursors: [PartitionCursor(partition: 1, cursor: .start)], at: 0)
    ]
    let ended = Ended()
    readers.read(try service.exchanges.read(0, of: exchange)) { _ in ended.note() }
    await gate.waitUntilHeld()
    let timer = ThreadExecutor(name: "timer")
    // Some of these patiences end before their waiter is there.
    for _ in 0..<500 { #expect(await !readers.drain(within: .zero, timer: timer)) }
    #expect(ended.count == 0)
    gate.open()
    #expect(await readers.drain(within: .seconds(600), timer: timer))
    #expect(ended.count == 1)
  }

  private func held(_ make: @escaping StoreReaderMaker) -> StoreReaderMaker {
    let gate = gate
    return { () throws(StoreError) in
      gate.pass()
      return try make()
    }
  }
}

private final class Ended: Sendable {
  private let counted = Mutex(0)

  var count: Int { counted.withLock { $0 } }
  func note() { counted.withLock { $0 += 1 } }
}

/// Holds whoever comes while it is closed. It opens by itself after ten minutes, so that a test that
/// fails ends.
private final class Gate: Sendable {
  private struct State {
    var isClosed = false
    var held = 0
    var passed = 0
  }

  private let state = Mutex(State())
  private let opened = DispatchSemaphore(value: 0)

  var isClosed: Bool { state.withLock { $0.isClosed } }
  /// Who was held and went on.
  var passed: Int { state.withLock { $0.passed } }

  func close() { state.withLock { $0.isClosed = true } }

  func open() {
    let held = state.withLock { state in
      state.isClosed = false
      return state.held
    }
    for _ in 0..<held { opened.signal() }
  }

  func pass() {
    let isHeld = state.withLock { state in
      if state.isClosed { state.held += 1 }
      return state.isClosed
    }
    guard isHeld else { return }
    if opened.wait(timeout: .now() + 600) == .timedOut { open() }
    state.withLock { $0.passed += 1 }
  }

  func waitUntilHeld() async {
    while state.withLock({ $0.held == 0 }) { await Task.yield() }
  }
}

/// A store whose pages of more rows than one pass a gate first.
private final class GatedStore: StoreDecorator {
  let inner: any Store
  let gate: Gate

  init(_ inner: any Store, _ gate: Gate) {
    self.inner = inner
    self.gate = gate
  }

  func replica<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try inner.replica { view throws(StoreError) in try body(GatedSnapshot(inner: view, gate: gate))
    }
  }

  var readerMaker: StoreReaderMaker {
    let (make, gate) = (inner.readerMaker, gate)
    return { () throws(StoreError) in GatedReader(try make(), gate) }
  }
}

private final class GatedReader: StoreReader {
  private let inner: any StoreReader
  private let gate: Gate

  init(_ inner: any StoreReader, _ gate: Gate) {
    self.inner = inner
    self.gate = gate
  }

  func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try inner.snapshot { view throws(StoreError) in try body(GatedSnapshot(inner: view, gate: gate))
    }
  }
}

private struct GatedSnapshot: StoreSnapshot {
  let inner: any StoreSnapshot
  let gate: Gate

  var clock: Int64 { inner.clock }
  func eras() throws(StoreError) -> EraList { try inner.eras() }
  func partition(_ number: Int64) throws(StoreError) -> PartitionState? {
    try inner.partition(number)
  }

  func page(
    _ partition: Int64, from: Cursor, upTo: Int64, _ limits: ServiceLimits
  ) throws(StoreError) -> Page {
    if try inner.partition(partition)?.count ?? 0 > 10 { gate.pass() }
    return try inner.page(partition, from: from, upTo: upTo, limits)
  }

  func rows(
    of entity: Int, in partition: Int64, after key: ObjectKey?, count: Int
  ) throws(StoreError) -> [CachedRow] {
    try inner.rows(of: entity, in: partition, after: key, count: count)
  }

  func answers(
    group: String, _ owner: Owner, open: [OperationID], upTo: Int64
  ) throws(StoreError) -> [Answer] {
    try inner.answers(group: group, owner, open: open, upTo: upTo)
  }
}
