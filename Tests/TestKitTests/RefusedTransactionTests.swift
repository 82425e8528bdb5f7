import Ferry
import FerryTestKit
import Foundation
import Testing

@Suite("The rest of a refused transaction", .timeLimit(.minutes(60)))
struct RefusedTransactionTests {
  private typealias Customer = Trade.Customer
  private typealias Order = Trade.Order
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await Trade.server()
    database = try await server.database(user: "nancy")
    server.refuse(Order.self, code: 412, "no")
  }

  private var names: [String] {
    get throws { try server.rows(of: Customer.self).map { try $0["name"] as String }.sorted() }
  }

  /// Two customers and an order of the second, as one; the order is refused.
  private func refused() async throws -> (ben: Customer, cy: Customer, order: Order) {
    try await database.transaction { () throws -> Void in
      var ben = Trade.customer("Ben", in: database)
      try ben.create()
      var cy = Trade.customer("Cy", in: database)
      try cy.create()
      var order = Trade.order(of: cy.id, "Rome", in: database)
      try order.create()
    }
    try await database.synchronize(awaitingAnswers: true)
    let customers = try Customer.findAll(in: database)
    return (
      try #require(customers.first { $0.name == "Ben" }),
      try #require(customers.first { $0.name == "Cy" }),
      try #require(try Order.findAll(in: database).first { $0.city == "Rome" })
    )
  }

  @Test("Each of the others says which object was refused, and why")
  func reason() async throws {
    let (ben, cy, order) = try await refused()
    let expected = Refusal(
      code: 424, message: "The new Order of the same transaction was refused: no")
    for customer in [ben, cy] {
      guard
        case .refused(let refusal) = try await database.outcome(of: customer, within: .seconds(600))
      else {
        Issue.record("not refused")
        continue
      }
      #expect(refusal == expected)
      #expect(try await database.refusal(of: customer) == expected)
    }
    #expect(try await database.refusal(of: order)?.message == "no")
    #expect(try names == ["Ada"])
    await server.stop()
  }

  @Test("The others are sent again when the refused change is cancelled, or deleted")
  func sentAgain() async throws {
    for isDeleted in [false, true] {
      let (ben, _, order) = try await refused()
      if isDeleted { try await order.delete() } else { try await database.cancel(order) }
      guard
        case .accepted(let accepted?) = try await database.outcome(of: ben, within: .seconds(600))
      else {
        Issue.record("not accepted")
        continue
      }
      #expect(!accepted.isPending)
      try await database.synchronize(awaitingAnswers: true)
      #expect(try names == ["Ada", "Ben", "Cy"])
      #expect(try database.hasPendingOperations == false)
      for customer in try Customer.findAll(in: database) where customer.name != "Ada" {
        try await customer.delete()
      }
      try await database.synchronize(awaitingAnswers: true)
    }
    await server.stop()
  }

  @Test("A deleted object whose delete was not tried says so, and is deleted later")
  func deleted() async throws {
    try await server.insert(Customer.self, ["id": 7, "name": "Gus"])
    try await database.synchronize()
    let gus = try #require(try Customer.findAll(in: database).first { $0.name == "Gus" })
    try await database.transaction { () throws -> Void in
      var gone = gus
      try gone.delete()
      var order = Trade.order(of: 1, "Rome", in: database)
      try order.create()
    }
    try await database.synchronize(awaitingAnswers: true)
    guard case .refused(let refusal) = try await database.outcome(of: gus, within: .seconds(600))
    else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.message == "The new Order of the same transaction was refused: no")
    let order = try #require(try Order.findAll(in: database).first { $0.city == "Rome" })
    try await database.cancel(order)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada"])
    await server.stop()
  }

  @Test("A draft of one of the others keeps them here, until it is submitted")
  func drafted() async throws {
    let (ben, _, order) = try await refused()
    var changed = ben
    changed.name = "Benno"
    let draft = try await changed.save(.later)
    try await database.cancel(order)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada"])
    try await database.submit(draft)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada", "Benno", "Cy"])
    await server.stop()
  }

  @Test("The others are sent again where the change was cancelled before it was refused")
  func cancelledOnItsWay() async throws {
    server.holdReplays()
    try await database.transaction { () throws -> Void in
      var ben = Trade.customer("Ben", in: database)
      try ben.create()
      var order = Trade.order(of: 1, "Rome", in: database)
      try order.create()
    }
    try await database.synchronize()
    let order = try #require(try Order.findAll(in: database).first { $0.city == "Rome" })
    try await database.cancel(order)
    server.releaseReplays()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada", "Ben"])
    #expect(try database.hasPendingOperations == false)
    await server.stop()
  }
}
