import Ferry
import FerryReference
import FerryTestKit
import Foundation
import Testing

@Suite("What is saved is submitted by itself", .timeLimit(.minutes(60)))
struct AutomaticSubmitTests {
  private typealias Customer = Trade.Customer
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await Trade.server()
    database = try await server.database(user: "nancy")
  }

  private var names: Set<String> {
    get throws {
      Set(try server.rows(of: Customer.self).map { try $0["name"] as String })
    }
  }

  /// How many objects wait as drafts.
  private func drafts() throws -> Int {
    try Customer.countPendingObjects(in: database)
      - Customer.countReplayPendingObjects(in: database)
  }

  @Test("A create, an update and a delete reach the business system, and nobody submits")
  func alone() async throws {
    guard
      case .accepted(var ben?) = try await database.outcome(
        of: database.save(Trade.customer("Ben", in: database)), within: .seconds(600))
    else {
      Issue.record("not accepted")
      return
    }
    #expect(try names == ["Ada", "Ben"])
    ben.name = "Benno"
    guard
      case .accepted(let benno?) = try await database.outcome(
        of: database.save(ben), within: .seconds(600))
    else {
      Issue.record("not accepted")
      return
    }
    #expect(try names == ["Ada", "Benno"])
    try await benno.delete()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada"])
    await server.stop()
  }

  @Test("The synchronous forms submit as well, and their copy knows the answer")
  func synchronous() async throws {
    var ben = Trade.customer("Ben", in: database)
    try ben.create()
    #expect(ben.replayPending > 0)
    guard case .accepted = try await ben.replayOutcome(within: .seconds(600)) else {
      Issue.record("not accepted")
      return
    }
    await server.stop()
  }

  @Test("A draft waits until it is submitted, and its next save may send it")
  func later() async throws {
    let ben = try await Trade.customer("Ben", in: database).save(.later)
    let cy = try await Trade.customer("Cy", in: database).save(.later)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada"])
    #expect(try drafts() == 2)
    try await database.submit(ben)
    try await cy.save()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada", "Ben", "Cy"])
    let made = try await database.refresh(ben)
    try await made.delete(.later)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names.contains("Ben"))
    let deleted = try #require(try Customer.getPendingObjects(in: database).first)
    try await database.submit(deleted)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada", "Cy"])
    await server.stop()
  }

  @Test("A database that collects changes sends none by itself, but those that the app sends now")
  func collected() async throws {
    database.submitsAutomatically = false
    _ = try await Trade.customer("Ben", in: database).save()
    _ = try await Trade.customer("Cy", in: database).save(.now)
    try await database.transaction(submitting: .now) {
      var dan = Trade.customer("Dan", in: database)
      try dan.save()
    }
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada", "Cy", "Dan"])
    try database.submitPendingOperations()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada", "Ben", "Cy", "Dan"])
    database.submitsAutomatically = true
    _ = try await Trade.customer("Eve", in: database).save()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names.contains("Eve"))
    await server.stop()
  }

  @Test("The settings of a connection may say that an app collects its changes")
  func settings() async throws {
    var settings = SessionSettings()
    settings.submitsAutomatically = false
    let other = try await server.database(user: "nancy", settings: settings)
    #expect(!other.submitsAutomatically && database.submitsAutomatically)
    try await #expect(Trade.customer("Ben", in: other).save().replayPending == 0)
    await server.stop()
  }

  @Test("The changes of a transaction are sent as one when it ends, or wait as one")
  func transaction() async throws {
    server.refuse(Customer.self, of: [.create], "no Ben") { try $0["name"] == "Ben" }
    try await database.transaction {
      for name in ["Ben", "Cy"] {
        var customer = Trade.customer(name, in: database)
        try customer.save()
        #expect(customer.replayPending == 0)
      }
    }
    try await database.synchronize(awaitingAnswers: true)
    // Refused with Ben, as one.
    #expect(try names == ["Ada"])
    try database.cancelPendingOperations()
    server.acceptAll()
    try await database.transaction(submitting: .later) {
      var dan = Trade.customer("Dan", in: database)
      try dan.save()
    }
    // A word in one of the saves holds for all of them.
    try await database.transaction {
      var eve = Trade.customer("Eve", in: database)
      try eve.save(.later)
      var fay = Trade.customer("Fay", in: database)
      try fay.save()
    }
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada"])
    #expect(try drafts() == 3)
    await server.stop()
  }

  @Test("A transaction that is undone submits nothing, and a savepoint that is undone not its own")
  func undone() async throws {
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await database.transaction {
        var ben = Trade.customer("Ben", in: database)
        try ben.save()
        throw Stop()
      }
    }
    try await database.transaction {
      var cy = Trade.customer("Cy", in: database)
      try cy.save()
      try? database.transaction {
        var dan = Trade.customer("Dan", in: database)
        try dan.save()
        throw Stop()
      }
    }
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada", "Cy"])
    #expect(try Customer.findAll(in: database).count == 2)
    await server.stop()
  }

  @Test("What cannot be sent is not saved either: one by one, and as a transaction of too many")
  func tooMany() async throws {
    await #expect {
      try await database.transaction {
        for number in 0..<1_001 {
          var customer = Trade.customer("\(number)", in: database)
          try customer.save()
        }
      }
    } throws: { ($0 as? FerryError)?.code == .tooLarge }
    #expect(try await Customer.count(in: database) == 1)
    await server.stop()
  }

  @Test("Two taps on one button create one object, and the second one's word counts")
  func twice() async throws {
    let form = Trade.customer("Ben", in: database)
    var second = form
    second.name = "Benno"
    async let first = form.save()
    _ = try await first
    let saved = try await second.save()
    #expect(saved.name == "Benno")
    #expect(try await database.refresh(form) == saved)
    #expect(try await Customer.count(in: database) == 2)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada", "Benno"])
    // Deleted by a copy that knows no key.
    try await form.delete()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada"])
    await server.stop()
  }

  @Test("A new object whose create was withdrawn is created again by a copy of it")
  func withdrawn() async throws {
    let form = Trade.customer("Ben", in: database)
    let draft = try await form.save(.later)
    #expect(try await database.cancel(draft) == nil)
    _ = try await form.save()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try names == ["Ada", "Ben"])
    await server.stop()
  }

  @Test("A refused change that is saved again is sent again")
  func corrected() async throws {
    server.refuse(Customer.self, code: 422, "too long") { try ($0["name"] as String).count > 3 }
    var made = try await Trade.customer("Benedict", in: database).save()
    guard case .refused(let refusal) = try await database.outcome(of: made, within: .seconds(600))
    else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.message == "too long")
    made = try await database.refresh(made)
    made.name = "Ben"
    guard
      case .accepted = try await database.outcome(of: database.save(made), within: .seconds(600))
    else {
      Issue.record("not accepted")
      return
    }
    #expect(try names == ["Ada", "Ben"])
    await server.stop()
  }
}
