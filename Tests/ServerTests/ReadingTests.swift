import FerryModel
import FerryWire
import FerryWorld
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// Rounds that a reader reads, by hand: what happens between the read and the moment at which it is
/// sent.
@Suite("A reader reads what is much; the service's thread judges it when it is sent")
struct ReadingTests {
  private let bench: Bench
  /// What waits for a reader.
  private let asked: Asked

  private final class Asked {
    var reads: [PendingRead] = []
  }

  init() throws {
    var limits = ServiceLimits()
    limits.nearRows = 10
    let asked = Asked()
    self.asked = asked
    bench = try Bench(limits: limits)
    for number in 1...30 as ClosedRange<Int64> {
      bench.business.put(Shop.order, Shop.order(number, 1, "Oslo"))
    }
    bench.business.put(Shop.order, Shop.order(100, 2, "Rome"))
    try bench.load()
    bench.service.onRead = { asked.reads.append($0) }
  }

  /// Reads what was asked for first, over a connection of its own.
  private func read() throws -> (PendingRead, Result<PageRead.Round, StoreError>) {
    try #require(!asked.reads.isEmpty)
    let pending = asked.reads.removeFirst()
    let reader = try bench.service.store.readerMaker()
    let round = try reader.snapshot { view throws(StoreError) in try pending.read.round(view) }
    return (pending, .success(round))
  }

  private func finish() throws {
    let (pending, result) = try read()
    bench.service.finish(pending, result)
  }

  private func channel(_ device: Device) -> Exchange {
    bench.service.channel(
      device.body(), by: device.identity, until: bench.clock.now.advanced(by: .seconds(600)))
  }

  private func poll(_ device: Device) -> Exchange {
    bench.service.exchange(device.body(), by: device.identity)
  }

  @Test("A device with much to read waits for its reader, one with little does not")
  func muchAndLittle() throws {
    let much = Device(bench)
    let exchange = poll(much)
    #expect(try !much.drain(exchange))
    #expect(much.welcome != nil)
    #expect(much.rows.isEmpty)
    let little = try Device(bench, "other", bench.identity("bob", employees: [2])).exchange()
    #expect(little.rows.count == 1)
    #expect(asked.reads.count == 1)
    var stirred: [ExchangeID] = []
    bench.service.listen { if case .stirred(let id) = $0 { stirred.append(id) } }
    try finish()
    #expect(stirred == [exchange.id])
    #expect(try much.drain(exchange))
    #expect(much.rows.count == 30)
    // What is read once is known to all.
    try Device(bench, "third").exchange()
    #expect(asked.reads.isEmpty)
    // And what has changed since is little.
    bench.business.put(Shop.order, Shop.order(1, 1, "Bern"))
    try bench.load()
    try much.exchange()
    #expect(asked.reads.isEmpty)
    #expect(much.shown.contains("Order 1 [1,1,\"Bern\"]"))
  }

  @Test("A delta with many rows goes to a reader too, and comes as one round")
  func largeDelta() throws {
    let device = Device(bench)
    let first = poll(device)
    try device.drain(first)
    try finish()
    try device.drain(first)
    for number in 1...30 as ClosedRange<Int64> {
      bench.business.put(Shop.order, Shop.order(number, 1, "Bern"))
    }
    try bench.load()
    let second = poll(device)
    #expect(try !device.drain(second))
    try finish()
    #expect(try device.drain(second))
    #expect(device.shown.count { $0.contains("Bern") } == 30)
  }

  @Test("A session that ends while its rows are read gets none of them")
  func revoked() throws {
    let device = Device(bench)
    let exchange = poll(device)
    try device.drain(exchange)
    let (pending, result) = try read()
    try bench.service.revoke(user: "anna")
    bench.service.finish(pending, result)
    #expect(try device.drain(exchange))
    #expect(device.rows.isEmpty)
    #expect(device.checkpoint == nil)
  }

  @Test("Rights that change while rows are read count when they are sent")
  func changedRights() throws {
    let users = ChangingUsers(["employee": ["1"]])
    bench.service.provider = users
    let device = Device(bench)
    let exchange = poll(device)
    try device.drain(exchange)
    let (pending, result) = try read()
    users.claims = ["employee": ["2"]]
    bench.service.finish(pending, result)
    #expect(try device.drain(exchange))
    #expect(device.shown == ["Order 100 [100,2,\"Rome\"]"])
  }

  @Test("What is committed while a channel's rows are read comes with its next round")
  func committedMeanwhile() throws {
    let device = Device(bench)
    let open = channel(device)
    try device.drain(open)
    let (pending, result) = try read()
    bench.business.put(Shop.order, Shop.order(1, 1, "Bern"))
    try bench.load()
    bench.service.finish(pending, result)
    try device.drain(open)
    #expect(device.shown.contains("Order 1 [1,1,\"Bern\"]"))
    #expect(device.checkpoint?.version == (try bench.service.clock()))
  }

  @Test("An answer that is given while rows are read is not taken for no answer")
  func answeredMeanwhile() throws {
    let device = Device(bench)
    // It is refused: no partition of the device changes.
    let change = bench.operation(
      Shop.order, .update, ObjectKey([.integer(1)]), changed: [2: .text("Kiel")],
      base: [2: .text("Rome")])
    let exchange = bench.service.exchange(device.body([change.1]), by: device.identity)
    try device.drain(exchange)
    let (pending, result) = try read()
    try bench.replay()
    bench.service.finish(pending, result)
    try device.drain(exchange)
    #expect(device.answers[change.0] == nil)
    try device.exchange()
    #expect(device.answers[change.0]?.outcome == .replayFailed)
  }

  @Test("Pages that were read for nobody go to nobody else either")
  func unsharedPages() throws {
    let device = Device(bench)
    let exchange = poll(device)
    try device.drain(exchange)
    _ = try read()
    let other = Device(bench, "other")
    #expect(try !other.drain(poll(other)), "it got pages that the service has not taken")
    #expect(asked.reads.count == 1)
  }

  @Test("Who goes away while its rows are read leaves nothing behind")
  func closed() throws {
    let device = Device(bench)
    let exchange = poll(device)
    try device.drain(exchange)
    let (pending, result) = try read()
    bench.service.close(exchange)
    bench.service.finish(pending, result)
    #expect(exchange.next() == .end)
    #expect(bench.service.exchanges.exchanges.isEmpty)
  }

  @Test("A read is taken once")
  func takenOnce() throws {
    let device = Device(bench)
    let open = channel(device)
    try device.drain(open)
    let (pending, result) = try read()
    bench.service.finish(pending, result)
    try device.drain(open)
    bench.service.finish(pending, result)
    let before = device.messages.count
    #expect(try !device.drain(open))
    #expect(device.messages.count == before)
  }

  @Test("A store that fails a reader ends the exchange with a clear word, and the next one works")
  func failing() throws {
    let device = Device(bench)
    let exchange = poll(device)
    try device.drain(exchange)
    let pending = asked.reads.removeFirst()
    var troubles: [ServerError] = []
    bench.service.listen { if case .storeFailed(let error) = $0 { troubles.append(error) } }
    bench.service.finish(
      pending, .failure(StoreError(.failing, "disk I/O error", isTransient: true)))
    #expect(try device.drain(exchange))
    #expect(device.failure?.code == .internal)
    #expect(troubles.map(\.code) == [.storeFailing])
    let again = Device(bench, "again")
    let second = poll(again)
    try again.drain(second)
    try finish()
    try again.drain(second)
    #expect(again.rows.count == 30)
  }
}

/// A provider whose one user changes.
private final class ChangingUsers: AuthenticationProvider {
  private let kept: Mutex<[String: [String]]>

  init(_ claims: [String: [String]]) { kept = Mutex(claims) }

  var claims: [String: [String]] {
    get { kept.withLock { $0 } }
    set { kept.withLock { $0 = newValue } }
  }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    UserRecord(name: user)
  }

  func record(of user: String) -> UserRecord? { UserRecord(name: user, claims: claims) }
}
