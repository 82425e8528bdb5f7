import FerryModel
import FerryServer
import FerryTestKit
import FerryWire
import Foundation
import Testing

@testable import Ferry
@testable import FerryTestKit

/// What becomes of a refused change that an operator decides about (Decision 0147).
@Suite("Corrections of an operator", .timeLimit(.minutes(60)))
struct CorrectionTests {
  private typealias Customer = Trade.Customer
  private typealias Order = Trade.Order
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await Trade.server()
    database = try await server.database(user: "nancy")
    server.refuse(Order.self, code: 412, "not there") { try $0["city"] == "Rome" }
  }

  private var desk: AdminDesk { server.host.adminDesk }

  private var cities: [String] {
    get throws { try server.rows(of: Order.self).map { try $0["city"] as String? ?? "" } }
  }

  private func order() throws -> Order {
    try #require(try Order.findAll(in: database).first { $0.id == 10 })
  }

  /// The app leads the order to Rome, which is refused.
  private func refused() async throws -> OperationID {
    var order = try order()
    order.city = "Rome"
    try order.update()
    try order.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try self.order().replayFailed)
    return try await waiting()
  }

  /// The one that waits for an operator.
  private func waiting() async throws -> OperationID {
    var filter = DeskFilter()
    filter.isOpen = true
    let found = try await desk.operations(filter, of: nil, before: nil, count: 10).lines
    #expect(found.count == 1)
    return try #require(found.first).operation.id
  }

  private func discarded() async throws -> [OperationID] {
    var filter = DeskFilter()
    filter.isDiscarded = true
    return try await desk.operations(filter, of: nil, before: nil, count: 10).lines
      .map(\.operation.id)
  }

  private func decide(
    _ id: OperationID, _ verb: Correction.Verb, city: String? = nil
  ) async throws {
    var order = CorrectionOrder(operation: id, verb: verb)
    (order.reason, order.by, order.message) = ("a test", "anna", "Sorry.")
    if let city { order.changed = [2: .text(city)] }
    _ = try await desk.correct(order, isTrial: false)
  }

  private func correction(of id: OperationID) async throws -> StoredCorrection {
    let entry = try #require(try await desk.entry(id)).entry
    return try #require(entry.corrections.last)
  }

  /// The device hears of it, does it, and gets the answer to what it sent.
  private func synchronize() async throws {
    for _ in 0..<3 { try await database.synchronize(awaitingAnswers: true) }
  }

  @Test("A released value is accepted once, and the user reads what the operator did")
  func released() async throws {
    let id = try await refused()
    try await decide(id, .release, city: "Pisa")
    #expect(try self.order().city == "Rome", "nothing is done behind the device's back")
    try await synchronize()
    let order = try order()
    #expect(order.city == "Pisa" && !order.isPending)
    #expect(try cities == ["Pisa"])
    let ended = try await correction(of: id)
    #expect(ended.state == .taken)
    let became = try #require(ended.became)
    #expect(try await desk.entry(became)?.entry.operation.state == .accepted)
    #expect(
      try order.logRecords.map(\.message) == [
        "The change was corrected by an operator (city) and sent again. Sorry."
      ])
    await server.stop()
  }

  @Test("A corrected create makes one object, whatever the device sends again")
  func create() async throws {
    var new = Trade.order(of: 1, "Rome", in: database)
    try new.create()
    try new.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    let id = try await waiting()
    try await decide(id, .release, city: "Pisa")
    try await server.hosting.restart()
    try await synchronize()
    #expect(try cities.sorted() == ["Bonn", "Pisa"])
    #expect(try database.hasPendingOperations == false)
    await server.stop()
  }

  @Test("What the app changed since the refusal wins, and the desk says so")
  func kept() async throws {
    let id = try await refused()
    try await decide(id, .release, city: "Pisa")
    var order = try order()
    order.city = "Oslo"
    try order.update()
    try await synchronize()
    #expect(try await correction(of: id).state == .kept)
    // The app's change was submitted by its save.
    #expect(try self.order().city == "Oslo" && !self.order().isPending)
    #expect(try cities == ["Oslo"])
    await server.stop()
  }

  @Test("What the app cancelled since is not made again")
  func absent() async throws {
    let id = try await refused()
    try await decide(id, .release, city: "Pisa")
    try await database.cancel(order())
    try await synchronize()
    #expect(try await correction(of: id).state == .absent)
    #expect(try cities == ["Bonn"])
    await server.stop()
  }

  @Test("A retry sends the change as it is; refused again it waits for a new decision")
  func retry() async throws {
    let id = try await refused()
    try await decide(id, .retry)
    try await synchronize()
    let became = try #require(try await correction(of: id).became)
    #expect(try await waiting() == became)
    server.acceptAll()
    try await decide(became, .retry)
    try await synchronize()
    #expect(try cities == ["Rome"])
    #expect(try database.hasPendingOperations == false)
    await server.stop()
  }

  @Test("A discarded change shows the downloaded row again, with a word to the user")
  func discard() async throws {
    let id = try await refused()
    try await decide(id, .discard)
    try await synchronize()
    let order = try order()
    #expect(order.city == "Bonn" && !order.isPending)
    #expect(try cities == ["Bonn"])
    #expect(
      try order.logRecords.map(\.message) == ["The change was discarded by an operator. Sorry."])
    #expect(try await correction(of: id).state == .taken)
    await server.stop()
  }

  @Test("A discarded change comes back as it was: refused, with its words, and open on the desk")
  func restored() async throws {
    let id = try await refused()
    let words = try self.order().logRecords.map(\.message)
    await #expect(throws: ServerError.self) { try await decide(id, .restore) }
    try await decide(id, .discard)
    try await synchronize()
    #expect(try await discarded() == [id])
    #expect(try !self.order().isPending)
    // A dry run only says that it could be.
    _ = try await desk.correct(CorrectionOrder(operation: id, verb: .restore), isTrial: true)
    try await synchronize()
    #expect(try self.order().city == "Bonn")
    try await decide(id, .restore)
    try await synchronize()
    let order = try order()
    #expect(order.city == "Rome" && order.replayFailed)
    #expect(try order.logRecords.filter { $0.level == .error }.map(\.message) == words)
    #expect(try await waiting() == id)
    #expect(try await discarded().isEmpty)
    #expect(try cities == ["Bonn"], "nothing was sent")
    // It can be decided about as before.
    try await decide(id, .release, city: "Pisa")
    try await synchronize()
    #expect(try cities == ["Pisa"])
    #expect(try database.hasPendingOperations == false)
    await server.stop()
  }

  @Test("A discarded create and a discarded delete come back", arguments: [true, false])
  func restoredKinds(isCreate: Bool) async throws {
    if isCreate {
      var new = Trade.order(of: 1, "Rome", in: database)
      try new.create()
      try new.submitPending()
    } else {
      server.refuse(Order.self, code: 412, "no") { _ in true }
      try await order().delete()
    }
    try await database.synchronize(awaitingAnswers: true)
    let id = try await waiting()
    try await decide(id, .discard)
    try await synchronize()
    #expect(try database.hasPendingOperations == false)
    try await decide(id, .restore)
    try await synchronize()
    #expect(try await waiting() == id)
    #expect(try database.hasPendingOperations)
    server.acceptAll()
    try await decide(id, .retry)
    try await synchronize()
    #expect(try cities.sorted() == (isCreate ? ["Bonn", "Rome"] : []))
    #expect(try database.hasPendingOperations == false)
    await server.stop()
  }

  @Test("What the app has pending by now, and what others wrote, outweigh a restored change")
  func restoredLate() async throws {
    let id = try await refused()
    try await decide(id, .discard)
    try await synchronize()
    database.submitsAutomatically = false
    var order = try order()
    order.city = "Oslo"
    try order.update()
    try await decide(id, .restore)
    try await synchronize()
    #expect(try await correction(of: id).state == .kept)
    #expect(try self.order().city == "Oslo")
    _ = try await database.cancel(self.order())
    // Somebody else writes: the restored change is a conflict when it is sent.
    try await server.change(try self.order(), ["city": "Kiel"])
    try await synchronize()
    try await decide(id, .restore)
    try await synchronize()
    #expect(try self.order().city == "Rome")
    server.acceptAll()
    try await decide(id, .retry)
    try await synchronize()
    #expect(try cities == ["Kiel"])
    await server.stop()
  }

  @Test("What others wrote after the operator looked is a conflict, and is not overwritten")
  func base() async throws {
    let id = try await refused()
    try await decide(id, .release, city: "Pisa")
    try await server.change(try order(), ["city": "Kiel"])
    try await synchronize()
    #expect(try cities == ["Kiel"])
    #expect(try order().replayFailed)
    await server.stop()
  }

  @Test("The whole of a refused transaction goes with the corrected change")
  func chain() async throws {
    try await database.transaction { () throws -> Void in
      var ben = Trade.customer("Ben", in: database)
      try ben.create()
      var order = Trade.order(of: ben.id, "Rome", in: database)
      try order.create()
    }
    try await database.synchronize(awaitingAnswers: true)
    let id = try await waiting()
    try await decide(id, .release, city: "Pisa")
    try await synchronize()
    #expect(try cities.sorted() == ["Bonn", "Pisa"])
    #expect(server.rows(of: Customer.self).count == 2)
    #expect(try database.hasPendingOperations == false)
    await server.stop()
  }

  @Test("A correction that comes again is done once, and its receipt is said again")
  func twice() async throws {
    let id = try await refused()
    await server.setReachable(false)
    var order = Correction(
      id: try #require(OperationID(String(repeating: "a", count: 32))),
      operation: id, verb: .release)
    order.changed = #"{"city":"Pisa"}"#
    let wanted = order
    for _ in 0..<2 {
      let isToBeSent = try database.store.withTransaction { transaction throws(FerryError) in
        try Corrections(transaction).take([wanted], sent: [])
      }
      #expect(isToBeSent)
    }
    let (receipts, count) = try database.store.withTransaction { transaction throws(FerryError) in
      (
        try Corrections(transaction).receipts(),
        try transaction.rows("SELECT 1 FROM ferry_operation").count
      )
    }
    #expect(receipts.map(\.outcome) == [.taken] && count == 1)
    // The server has heard it: it brings the correction no more.
    let isLeft = try database.store.withTransaction { transaction throws(FerryError) in
      _ = try Corrections(transaction).take([], sent: [wanted.id])
      return try Corrections(transaction).receipts().isEmpty
    }
    #expect(isLeft)
    // A late welcome brings it once more: the change waits for its answer, and nothing is done.
    let late = try database.store.withTransaction { transaction throws(FerryError) in
      _ = try Corrections(transaction).take([wanted], sent: [])
      return try Corrections(transaction).receipts().map(\.outcome)
    }
    #expect(late == [.kept])
    await server.setReachable(true)
    try await synchronize()
    #expect(try cities == ["Pisa"])
    await server.stop()
  }

  @Test("A value that the device cannot keep is not sent, and the desk hears why")
  func invalid() async throws {
    let id = try await refused()
    let refusal = try database.store.withTransaction { transaction throws(FerryError) in
      guard let name = OperationID(String(repeating: "b", count: 32)) else { return "" }
      var order = Correction(id: name, operation: id, verb: .release)
      order.changed = #"{"customer":null}"#
      _ = try Corrections(transaction).take([order], sent: [])
      let receipt = try Corrections(transaction).receipts().first
      return receipt?.outcome == .invalid ? receipt?.message ?? "" : ""
    }
    #expect(refusal == "customer: it has no value")
    #expect(try order().city == "Rome" && order().replayFailed)
    await server.stop()
  }
}
