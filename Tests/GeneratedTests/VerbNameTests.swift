import Ferry
import FerryTestKit
import Testing

/// The columns of tickets.model.json have the names of what Ferry does.
@Suite("Columns with the names of verbs", .timeLimit(.minutes(60)))
struct VerbNameTests {
  @Test("A table whose columns are called as Ferry's verbs works with each of these verbs")
  func verbs() async throws {
    let server = try await TestServer(Tickets.package)
    let database = try await server.database(user: "nancy")
    var ticket = try await database.save(
      Ticket(id: 1, cancel: true, submit: 3, outcome: "sold", in: database))
    guard case .accepted(let sold?) = try await database.outcome(of: ticket, within: .seconds(600))
    else {
      Issue.record("not accepted")
      return
    }
    #expect(sold.cancel && sold.outcome == "sold" && sold.refusal == nil && sold.submit == 3)
    server.refuse(Ticket.self, "No returns.") { try $0["refusal"] == "late" }
    ticket = sold
    ticket.refusal = "late"
    ticket.refreshed = LocalDate("2026-11-29")
    try database.save(&ticket, submitting: .later)
    try database.submit(&ticket)
    _ = try await database.outcome(of: ticket, within: .seconds(600))
    #expect(try await database.refusal(of: ticket)?.message == "No returns.")
    let back = try #require(try await database.cancel(ticket))
    #expect(back.refusal == nil && back.refreshed == nil)
    try database.refresh(&ticket)
    #expect(ticket == back)
    try await database.delete(ticket)
    await server.stop()
  }
}
