import Ferry
import FerryTestKit
import Testing

@Suite("Verbs of the database", .timeLimit(.minutes(60)))
struct DatabaseVerbTests {
  private typealias Customer = Trade.Customer
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await Trade.server()
    database = try await server.database(user: "nancy")
  }

  /// The names of all customers on the device.
  private func names() async throws -> [String] {
    try await Customer.find(in: database).map(\.name).sorted()
  }

  @Test("The asynchronous forms return another copy, and leave the one they were given as it was")
  func asynchronous() async throws {
    let new = Trade.customer("Ben", in: database)
    var saved = try await database.save(new, submitting: .later)
    #expect(new.isNew && saved.isCreated && saved.isPending)
    #expect(try await names() == ["Ada", "Ben"])
    saved.name = "Bob"
    let fresh = try await database.refresh(saved)
    #expect(fresh.name == "Ben" && saved.name == "Bob")
    let sent = try await database.submit(fresh)
    guard
      case .accepted(let accepted?) = try await database.outcome(of: sent, within: .seconds(600))
    else {
      Issue.record("not accepted")
      return
    }
    #expect(accepted.name == "Ben" && !accepted.isPending)
    try await database.delete(accepted, submitting: .later)
    #expect(try await names() == ["Ada"] && !accepted.isDeleted)
    let back = try #require(try await database.cancel(accepted))
    #expect(try await names() == ["Ada", "Ben"] && !back.isPending)
    await server.stop()
  }

  /// Saves and deletes in a transaction that is undone.
  private func undone(_ new: inout Customer, _ old: inout Customer) throws(FerryError) {
    try database.transaction { () throws(FerryError) in
      try database.save(&new, submitting: .later)
      try database.delete(&old, submitting: .later)
      try database.rollback()
    }
  }

  @Test("The forms with & change the copy, and are part of the open transaction")
  func blocking() async throws {
    var ada = try #require(try await Customer.find(in: database).first)
    var ben = Trade.customer("Ben", in: database)
    try undone(&ben, &ada)
    #expect(ben.isNew && !ada.isDeleted)
    #expect(try await names() == ["Ada"])
    try database.save(&ben, submitting: .later)
    #expect(ben.isCreated && ben.isPending)
    ben.name = "Bob"
    try database.refresh(&ben)
    #expect(ben.name == "Ben")
    try database.delete(&ben, submitting: .later)
    #expect(ben.isDeleted)
    var cy = Trade.customer("Cy", in: database)
    try database.save(&cy, submitting: .later)
    let others = try database.cancel(&cy)
    #expect(others.isEmpty)
    #expect(cy.isDeleted)
    var dan = Trade.customer("Dan", in: database)
    try database.save(&dan, submitting: .later)
    let submission = try database.submit(&dan)
    #expect(dan.isPending)
    guard case .accepted = try await submission.outcome(within: .seconds(600)) else {
      Issue.record("not accepted")
      return
    }
    #expect(try await names() == ["Ada", "Dan"])
    await server.stop()
  }

  @Test("A refused change has its refusal by the database")
  func refused() async throws {
    server.refuse(Customer.self, of: [.create], "No Bens.") { _ in true }
    let ben = try await database.save(Trade.customer("Ben", in: database))
    guard case .refused(let refusal) = try await database.outcome(of: ben, within: .seconds(600))
    else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.message == "No Bens.")
    #expect(try await database.refusal(of: ben)?.message == "No Bens.")
    await server.stop()
  }

  @Test("An object of another database is refused by each verb, and nothing is changed")
  func otherDatabase() async throws {
    let other = try await server.database(user: "nancy")
    var stranger = try await other.save(Trade.customer("Ben", in: other), submitting: .later)
    stranger.name = "Bob"
    let kept = stranger
    func refuses(
      _ call: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
      let error = await #expect(throws: FerryError.self, sourceLocation: sourceLocation) {
        try await call()
      }
      #expect(error?.code == .wrongState && error?.entity == "Customer")
      #expect(error?.message.hasSuffix("a Customer that belongs to another database") == true)
    }
    await refuses { _ = try await database.save(kept) }
    await refuses { try database.save(&stranger) }
    await refuses { try await database.delete(kept) }
    await refuses { try database.delete(&stranger) }
    await refuses { _ = try await database.submit(kept) }
    await refuses { _ = try database.submit(&stranger) }
    await refuses { _ = try await database.cancel(kept) }
    await refuses { _ = try database.cancel(&stranger) }
    await refuses { _ = try await database.refresh(kept) }
    await refuses { try database.refresh(&stranger) }
    await refuses { _ = try await database.outcome(of: kept, within: .seconds(600)) }
    await refuses { _ = try await database.refusal(of: kept) }
    #expect(try await Customer.find(in: other).map(\.name).sorted() == ["Ada", "Ben"])
    #expect(try await names() == ["Ada"] && stranger.name == "Bob")
    await server.stop()
  }
}
