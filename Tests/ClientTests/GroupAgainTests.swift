import FerryModel
import FerryWire
import Testing

@testable import Ferry

/// A group that did not come whole in time is sent again by itself; nobody has refused it.
@Suite("A group for which the server waited in vain goes again")
struct GroupAgainTests {
  private let shop: Stocked
  private let sent: [Operation]

  /// Two orders, changed and submitted in one transaction, are on their way.
  init() throws {
    shop = try Stocked()
    let device = shop.device
    var orders = try ([1, 2] as [Int64]).compactMap { try device.order($0) }
    try device.store.transaction { () throws(FerryError) in
      for place in orders.indices {
        orders[place].city = "Kiel"
        try orders[place].update()
      }
    }
    try Outbox(device.store).submitAll(Order.entity)
    try device.exchange(shop.shore)
    sent = shop.shore.stored.values.sorted { $0.position < $1.position }
  }

  private func answer(_ places: Int...) throws {
    try AnswerTaker.take(
      refused: places.map { place in
        Answer(
          id: sent[place].id, version: 0, outcome: .notTried, newKey: nil, logRecords: [],
          isToBeSentAgain: true)
      }, in: shop.device.store)
  }

  private func again() -> [Operation] {
    let before = Set(sent.map(\.id))
    return shop.shore.stored.values.filter { !before.contains($0.id) }
      .sorted { $0.position < $1.position }
  }

  @Test("Under new ids, as one group, with the same changes")
  func whole() throws {
    try #require(sent.count == 2)
    try answer(0, 1)
    try shop.device.exchange(shop.shore)
    let again = again()
    #expect(again.map(\.count) == [2, 2])
    #expect(again.map(\.changed) == sent.map(\.changed))
    #expect(Set(again.map(\.chain)).count == 1)
    #expect(again.first?.chain != sent[0].chain)
  }

  @Test("Not before each of its operations was answered")
  func inParts() throws {
    try answer(0)
    try shop.device.exchange(shop.shore)
    #expect(again().isEmpty)
    try answer(1)
    try shop.device.exchange(shop.shore)
    #expect(again().map(\.count) == [2, 2])
  }

  @Test("Where the app took a part of it back, the rest goes again without it")
  func takenBack() throws {
    var order = try #require(try shop.device.order(1))
    try order.cancelPending()
    try answer(0, 1)
    try shop.device.exchange(shop.shore)
    try shop.device.exchange(shop.shore)
    #expect(again().map(\.count) == [1])
    #expect(try shop.device.operations().map(\.key) == [ObjectKey([.integer(2)])])
  }

  @Test("A refused member holds it back: the app decides")
  func refused() throws {
    try AnswerTaker.take(
      refused: [
        Answer(id: sent[0].id, version: 0, outcome: .replayFailed, newKey: nil, logRecords: [])
      ], in: shop.device.store)
    try answer(1)
    try shop.device.exchange(shop.shore)
    #expect(again().isEmpty)
    #expect(try shop.device.operations().map(\.state) == [.replayFailed, .waiting])
  }
}
