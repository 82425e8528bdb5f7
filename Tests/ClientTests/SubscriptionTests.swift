import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

@Suite("The life of a subscription")
struct SubscriptionTests {
  private let shop: Stocked
  private var heard: [String] { shop.device.handler.heard.filter { !$0.hasPrefix("connect") } }

  init() throws { shop = try Stocked() }

  private func pulls() throws -> Int {
    guard let request = try shop.device.request() else { return 0 }
    defer { try? shop.device.take(shop.shore.respond(to: request.body)) }
    var count = 0
    for frame in try FrameReader.frames(of: request.body) {
      if case .pull = try Message(frame) { count += 1 }
    }
    return count
  }

  private func put(_ id: Int64) {
    shop.shore.put(Order.entity, [.integer(id), .text("ALFKI"), .text("Ulm"), .null])
  }

  private func isSuspended() throws -> Bool {
    try shop.device.store.withSnapshot { transaction throws(FerryError) in
      try SubscriptionSettings(transaction).isSuspended()
    }
  }

  private func wantsData() throws -> Bool {
    try shop.device.store.withSnapshot { transaction throws(FerryError) in
      try SubscriptionSettings(transaction).wantsData()
    }
  }

  @Test(
    "Suspended it brings nothing, over restarts, and resumed all it missed", .reference("facts/1.4")
  )
  func suspended() throws {
    let session = shop.device.session
    try session.suspendSubscription()
    #expect(heard == ["suspendSuccess"])
    put(9)
    #expect(try pulls() == 0)
    try shop.device.restart()
    #expect(try isSuspended() && !wantsData())
    #expect(try pulls() == 0)
    #expect(try shop.device.order(9) == nil)
    // What is submitted goes all the same, and its answer comes.
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.count == 1)
    shop.shore.accept(try #require(shop.shore.stored.keys.first))
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().isEmpty)
    put(10)
    try shop.device.session.resumeSubscription()
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(9) != nil && shop.device.order(10) != nil)
    #expect(heard.contains("resumeSuccess"))
  }

  @Test(
    "Ended it brings nothing more and keeps what is here; subscribing again goes on",
    .reference("facts/1.7"))
  func ended() throws {
    try shop.device.session.unsubscribe()
    #expect(heard == ["unsubscribeSuccess", "subscriptionEnd"])
    #expect(try !wantsData())
    put(9)
    #expect(try pulls() == 0)
    #expect(try shop.device.orders().count == 3)
    shop.device.handler.forget()
    let session = shop.device.session
    try session.unsubscribe()
    try session.suspendSubscription()
    try session.resumeSubscription()
    try session.recover()
    #expect(
      heard == [
        "unsubscribeFailure notSubscribed", "suspendFailure", "resumeFailure", "recoverFailure",
      ])
    try session.subscribe()
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.orders().count == 4)
    #expect(heard.contains("subscribeSuccess"))
  }

  @Test("recover downloads everything afresh under what is pending, and tells when it is visible")
  func recovered() throws {
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    let before = try shop.device.dump()
    try shop.device.session.recover()
    #expect(try shop.device.dump() == before)
    // The app ends before anything came.
    try shop.device.restart()
    #expect(!heard.contains("recoverSuccess"))
    try shop.device.exchange(shop.shore)
    #expect(heard.suffix(1) == ["recoverSuccess"])
    #expect(try shop.device.dump() == before)
    shop.device.handler.forget()
    try shop.device.exchange(shop.shore)
    #expect(heard.isEmpty)
  }

  @Test(
    "onRecoverSuccess is told before it is forgotten: an app that ends in between hears it again")
  func toldFirst() throws {
    let store = shop.device.store
    let run = { (statement: String) throws in
      try store.write { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in try connection.execute(statement) }
      }
    }
    try shop.device.session.recover()
    try run(
      """
      CREATE TRIGGER stop BEFORE DELETE ON ferry_setting WHEN old.name = 'recovering'
      BEGIN SELECT RAISE(ABORT, 'no'); END
      """)
    #expect(throws: FerryError.self) { try shop.device.exchange(shop.shore) }
    #expect(heard.filter { $0 == "recoverSuccess" }.count == 1)
    try run("DROP TRIGGER stop")
    try shop.device.restart()
    for _ in 0..<2 { try shop.device.exchange(shop.shore) }
    #expect(heard.filter { $0 == "recoverSuccess" }.count == 2)
  }

  @Test("A server that serves this user no longer ends it, and says so once")
  func refused() throws {
    for _ in 0..<2 {
      guard let request = try shop.device.request() else { continue }
      shop.device.session.received(status: 403, on: request.lane)
      try shop.device.session.received(
        Array(#"{"code":"forbidden","message":"no","hint":"ask"}"#.utf8), on: request.lane)
      try shop.device.session.ended(request.lane, nil)
    }
    #expect(heard.filter { $0 == "subscriptionEnd" }.count == 1)
    #expect(try shop.device.orders().count == 3)
  }
}
