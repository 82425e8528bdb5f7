import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import Testing

@testable import Ferry

@Suite("Callbacks that are owed", .timeLimit(.minutes(60)))
struct OwedCallbackTests {
  private func owed(_ store: Store) throws -> Int {
    try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        Int(try connection.value("SELECT count(*) FROM ferry_notice")?.integer ?? -1)
      }
    }
  }

  @Test(
    "What is owed waits for the database's handler; an entity's that is there before hears its own, once",
    .reference("sync/P22")
  )
  func ofEntity() throws {
    let shop = try Stocked()
    let store = shop.device.store
    // Nobody is told of what comes now.
    let session = Session(store: store, observers: Observers(), settings: SessionSettings())
    shop.shore.put(Order.entity, [.integer(4), .text("ALFKI"), .null, .null])
    shop.shore.put(Line.entity, [.integer(4), .integer(1), .text("tea")])
    var line = shop.device.newLine(of: 1, 2, "milk")
    try line.create()
    try line.submitPending()
    for _ in 0..<2 {
      session.requestExchange()
      guard case .send(let request) = try session.next() else { break }
      session.received(status: 200, on: request.lane)
      for message in try shop.shore.respond(to: request.body) {
        try session.received(message.frame.encoded(), on: request.lane)
      }
      try session.ended(request.lane, nil)
      for id in shop.shore.stored.keys { shop.shore.refuse(id) }
    }
    let all = try owed(store)
    let (ofLines, ofOrders, whole) = (Recorder(), Recorder(), Recorder())
    let observers = Observers()
    observers.register(ofLines, of: "Line")
    for _ in 0..<2 { try observers.tellOwed(of: store) }
    let heard = ofLines.heard
    #expect(heard.contains("import Line +1 ~0 -0"))
    #expect(heard.filter { $0.hasPrefix("replayFailure Line") }.count == 1)
    #expect(heard.allSatisfy { $0.contains("Line") })
    #expect(try owed(store) == all)
    // The app ends and starts again: what one has heard is not told again.
    let again = Observers()
    again.register(ofLines, of: "Line")
    again.register(ofOrders, of: "Order")
    try again.tellOwed(of: store)
    #expect(ofOrders.heard == ["import Order +1 ~0 -0"])
    again.register(whole)
    try again.tellOwed(of: store)
    #expect(whole.heard.count == all)
    #expect(Set(whole.heard).isSuperset(of: heard + ofOrders.heard + ["importSuccess default"]))
    #expect(ofLines.heard == heard && ofOrders.heard.count == 1)
    #expect(try owed(store) == 0)
  }

  @Test("What an entity's handler has heard waits for the database's, but not in a crowd")
  func crowd() throws {
    let device = try Device().loggedIn()
    let store = device.store
    let observers = Observers()
    let ofOrders = Recorder()
    observers.register(ofOrders, of: "Order")
    for number in 1...300 {
      try store.write { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in
          var changes = EntityChanges(entity: "Order")
          changes.inserted = number
          try NoticeTable.owe([changes], group: "default", connection)
        }
      }
      try observers.tellOwed(of: store)
    }
    #expect(ofOrders.heard == (1...300).map { "import Order +\($0) ~0 -0" })
    #expect(try owed(store) < 150)
  }
}
