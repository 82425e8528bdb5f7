import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld
import Testing

@testable import Ferry

/// What seeds of the simulation have found on the device, each as a case of its own.
@Suite("Found by seeds, on the device")
struct SeedFindingsTests {
  @Test("An object that moves to another partition of its device keeps its surrogate key")
  func moved() throws {
    let shop = try Stocked()
    shop.shore.partitions = [1, 2]
    try shop.device.exchange(shop.shore)
    let before = try #require(try shop.device.order(2)).surrogateKey
    shop.shore.put(Order.entity, [.integer(2), .text("ALFKI"), .text("Kiel"), .null], partition: 2)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(2)?.surrogateKey == before)
    #expect(try shop.device.dump().contains("2 ALFKI Kiel N"))
    shop.shore.remove(Order.entity, Key([.integer(2)]))
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(2) == nil)
  }

  @Test("A checkpoint without a partition of the device is imported only after the word on it")
  func lostWord() throws {
    let shop = try Stocked()
    shop.shore.partitions = [1, 2]
    shop.shore.put(Order.entity, [.integer(8), .text("BONAP"), .null, .null], partition: 2)
    try shop.device.exchange(shop.shore)
    let place = PartitionSum(
      partition: 1, cursor: .end(of: shop.shore.clock), sum: 0, count: 0)
    let checkpoint = Checkpoint(
      group: "default", era: shop.shore.era, version: shop.shore.clock, partitions: [place],
      answers: [], rightsVersion: "2", unavailable: [])
    #expect(try Inbox(shop.device.store).close(checkpoint) == nil)
  }

  @Test("An answer ends what was sent, not what waits on a restored device under the same id")
  func restoredChange() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let id = try shop.device.operations()[0].id
    shop.shore.accept(id)
    // As a backup has it that was made before the change was submitted.
    try shop.device.store.write { connection throws(FerryError) in
      try shop.device.store.sql { () throws(SQLiteError) in
        try connection.run(
          "UPDATE ferry_operation SET state = 'waiting', sent = 0, acknowledged = 0, payload = NULL"
        )
      }
    }
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().map(\.state) == [.waiting])
    #expect(try shop.device.operations().map(\.id) == [id])
  }

  @Test("A subscription that was asked for is asked for again after a restart")
  func subscriptionGoesOn() throws {
    let device = try Device().loggedIn()
    try device.store.write { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try Settings.set(.subscribed, nil, connection)
      }
    }
    try device.session.subscribe()
    try device.restart()
    guard case .send(let request) = try device.session.next() else {
      Issue.record("nothing is sent")
      return
    }
    #expect(request.path == "exchange")
  }

  @Test("What only people can cure is tried again after a long wait, not in a loop")
  func refused() {
    var machine = SessionMachine(settings: SessionSettings())
    var facts = SessionMachine.Facts()
    facts.hasOutgoing = true
    facts.accessTokenExpires = Timestamp(milliseconds: 1_000_000)
    let start = Timestamp(milliseconds: 0)
    #expect(machine.next(facts, now: start) == .exchange)
    machine.stopped(.exchange, now: start)
    let later = start.advanced(by: SessionSettings().stoppedRetry)
    #expect(machine.next(facts, now: start) == .wait(until: later))
    #expect(machine.next(facts, now: later) == .exchange)
  }
}
