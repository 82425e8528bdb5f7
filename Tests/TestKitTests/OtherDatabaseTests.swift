import Ferry
import FerryTestKit
import Foundation
import Testing

@Suite("Objects of two databases", .timeLimit(.minutes(60)))
struct OtherDatabaseTests {
  private typealias Customer = Trade.Customer
  private let server: TestServer
  private let one: FerryDatabase
  private let two: FerryDatabase

  init() async throws {
    server = try await Trade.server()
    one = try await server.database(user: "nancy")
    two = try await server.database(user: "nancy")
  }

  private enum Change: CaseIterable {
    case create, update, delete, submit, cancel
  }

  private func make(_ change: Change, of ada: Customer) throws(FerryError) {
    var ada = ada
    switch change {
    case .create:
      var ben = Trade.customer("Ben", in: two)
      try ben.create()
    case .update:
      ada.name = "Adele"
      try ada.save(.later)
    case .delete: try ada.delete()
    case .submit: try ada.submitPending()
    case .cancel: try ada.cancelPending()
    }
  }

  @Test("A transaction refuses objects of another database before it saves anything of them")
  func refused() async throws {
    let ada = try #require(try Customer.findAll(in: two).first)
    for change in Change.allCases {
      let error = await #expect(throws: FerryError.self) {
        try await one.transaction { () throws -> Void in
          var cy = Trade.customer("Cy", in: one)
          try cy.create()
          try make(change, of: ada)
        }
      }
      #expect(error?.code == .wrongState && error?.entity == "Customer")
      for database in [one, two] {
        #expect(error?.message.contains(server.file(of: database)) == true)
        #expect(try database.hasPendingOperations == false)
      }
    }
    await server.stop()
  }

  @Test("A transaction of its own database inside the other is allowed, and so is a later task")
  func allowed() async throws {
    let later = try await one.transaction { () throws -> Task<Void, any Error> in
      try two.transaction { () throws(FerryError) -> Void in
        var ben = Trade.customer("Ben", in: two)
        try ben.create()
      }
      return Task { [two] in try await Trade.customer("Cy", in: two).save() }
    }
    try await later.value
    try await two.synchronize(awaitingAnswers: true)
    #expect(server.rows(of: Customer.self).count == 3)
    await server.stop()
  }

  @Test("A reference to a new object of another database is refused with a true sentence")
  func reference() async throws {
    let ben = try await Trade.customer("Ben", in: two).save(.later)
    let error = await #expect(throws: FerryError.self) {
      try await Trade.order(of: ben.id, "Rome", in: one).save()
    }
    #expect(error?.code == .invalidReference)
    #expect(
      error?.message == "the create of the new Order refers to a new Customer that is not in this "
        + "database: it was deleted after its create was refused, or is of another database")
    await server.stop()
  }
}
