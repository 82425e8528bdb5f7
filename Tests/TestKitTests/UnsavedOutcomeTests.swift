import Ferry
import FerryTestKit
import Testing

@Suite("The outcome of what was not submitted", .timeLimit(.minutes(60)))
struct UnsavedOutcomeTests {
  private typealias Customer = Trade.Customer
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await Trade.server()
    database = try await server.database(user: "nancy")
  }

  /// The hint of the error.
  private func refused(_ customer: Customer) async -> String? {
    let error = await #expect(throws: FerryError.self) {
      try await database.outcome(of: customer, within: .seconds(600))
    }
    #expect(error?.code == .notSubmitted)
    return error?.hint
  }

  @Test("A copy that was edited and not saved has no outcome, whatever became of the save before")
  func edited() async throws {
    var ben = try await Trade.customer("Ben", in: database).save()
    guard case .accepted = try await database.outcome(of: ben, within: .seconds(600)) else {
      Issue.record("not accepted")
      return
    }
    ben = try await database.refresh(ben)
    ben.name = "Benno"
    #expect(await refused(ben) == "Call save first, or ask the object that was saved.")
    var draft = try await ben.save(.later)
    #expect(await refused(draft) == "Call submit first.")
    guard let cancelled = try await database.cancel(draft),
      case .cancelled = try await database.outcome(of: cancelled, within: .seconds(600))
    else {
      Issue.record("not cancelled")
      return
    }
    draft = cancelled
    draft.name = "Benny"
    #expect(await refused(draft) == "Call save first, or ask the object that was saved.")
    await server.stop()
  }

  @Test("A delete that waits as a draft was not submitted")
  func deleted() async throws {
    let ada = try #require(try Customer.findAll(in: database).first)
    try await ada.delete(.later)
    #expect(await refused(ada) == "Call submit first.")
    await server.stop()
  }
}
