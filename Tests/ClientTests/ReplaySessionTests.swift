import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import FerryWire
import Synchronization
import Testing

@testable import Ferry

@Suite("Sessions that replay, driven by hand")
struct ReplaySessionTests {
  private let shop: Stocked

  init() throws { shop = try Stocked() }

  private func request() throws -> SessionRequest? {
    guard case .send(let request) = try shop.device.session.next() else { return nil }
    return request
  }

  private func messages(_ request: SessionRequest) throws -> [Message] {
    try FrameReader.frames(of: request.body).map { frame throws(WireError) in try Message(frame) }
  }

  private func submitCity(_ id: Int64, _ city: String) throws {
    var order = try #require(try shop.device.order(id))
    order.city = city
    try order.update()
    try order.submitPending()
  }

  @Test(
    "One request replays first and asks for data then, without waiting for answers",
    .reference("sync/R1", "sync/R6"))
  func order() throws {
    try submitCity(1, "Kiel")
    let kinds = try messages(try #require(try request())).map(\.frame.kind)
    #expect(kinds == [.hello, .replay, .pull])
  }

  @Test(
    "Each submit is one operation of a replay, with the data of its kind", .reference("sync/P5"))
  func operations() throws {
    try submitCity(1, "Kiel")
    var created = shop.device.newOrder("Jena")
    try created.create()
    try created.submitPending()
    // What is pending delete is not visible; its operation is submitted by its type.
    var deleted = try #require(try shop.device.order(2))
    try deleted.delete()
    try Outbox(shop.device.store).submitAll(Order.entity)
    let sent = try messages(try #require(try request())).compactMap {
      if case .replay(let replay) = $0 { replay } else { nil }
    }
    let operations = try #require(sent.first).operations.map {
      try Operation($0, in: Shop.package)
    }
    #expect(sent.count == 1)
    #expect(operations.map(\.kind) == [.update, .create, .delete])
    #expect(operations[0].changed == [2: .text("Kiel")])
    #expect(operations[1].changed == [1: .text("ALFKI"), 2: .text("Jena")])
    #expect(operations[1].key == nil)
    #expect(operations[2].changed.isEmpty)
    #expect(operations[2].key == ObjectKey([.integer(2)]))
  }

  @Test(
    "A session that waits for answers asks until all are imported", .reference("sync/R5", "sync/R8")
  )
  func awaitsAnswers() throws {
    try submitCity(1, "Kiel")
    shop.device.session.requestExchange(awaitingAnswers: true)
    try shop.device.take(try shop.shore.respond(to: try #require(try request()).body))
    #expect(try shop.device.session.facts().hasUnanswered)
    #expect(try request() == nil)
    let id = try #require(shop.shore.stored.keys.first)
    shop.shore.accept(id)
    shop.device.clock.advance(60_000)
    let next = try #require(try request())
    #expect(try messages(next).contains { if case .pull = $0 { true } else { false } })
    try shop.device.take(try shop.shore.respond(to: next.body))
    #expect(try !shop.device.session.facts().hasUnanswered)
    #expect(try shop.device.dump().hasPrefix("1 ALFKI Kiel N"))
  }

  @Test("What a stopped background leaves waiting goes on when the app asks for an exchange")
  func asksAgain() {
    let session = shop.device.session
    session.setBackground(false)
    #expect(session.machine.isResting)
    session.requestExchange()
    #expect(!session.machine.isResting)
  }

  /// Reads the database inside the callback.
  private final class Reader: CallbackHandler {
    private let store: Store
    private let counts = Mutex<[Int]>([])

    init(_ store: Store) { self.store = store }

    var seen: [Int] { counts.withLock { $0 } }

    func onImport(_ changes: EntityChanges) {
      let count = try? Records(store).count(Order.entity)
      counts.withLock { $0.append(count ?? -1) }
    }
  }

  @Test(
    "What is told to the registered handler is in the database already",
    .reference("sync/M2", "sync/M21", "facts/5.4"))
  func inDatabase() throws {
    let reader = Reader(shop.device.store)
    shop.device.session.observers.register(reader)
    shop.shore.put(Order.entity, [.integer(4), .text("BONAP"), .null, .null])
    try shop.device.exchange(shop.shore)
    #expect(reader.seen == [4])
    #expect(shop.device.handler.heard.isEmpty)
  }
}
