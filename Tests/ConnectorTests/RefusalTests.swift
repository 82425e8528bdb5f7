import FerryConnector
import FerryModel
import Testing

@Suite("What a refusal says")
struct RefusalTests {
  @Test("A refusal that gets more words keeps each of its conflicts")
  func conflicts() throws {
    let conflicts = [
      Refusal.Conflict(attribute: "city", baseValue: .text("Jena"), currentValue: .text("Gera")),
      Refusal.Conflict(
        attribute: "weight", baseValue: .integer(1), currentValue: .null, shown: "infinity"),
      Refusal.Conflict(attribute: "seats", baseValue: .integer(2), currentValue: .integer(3)),
    ]
    let refusal = try #require(Refusal(conflicts: conflicts))
    let more = refusal.adding(constraint: "seats_left", detail: "2 are left", hint: "Take fewer.")
    #expect(more.conflicts == conflicts)
    #expect(more.message == refusal.message && more.code == 412)
    #expect(more.attribute == "city" && more.baseValue == .text("Jena"))
    #expect(more.constraint == "seats_left" && more.detail == "2 are left")
    let again = more.adding(attribute: "seats", hint: "Ask the office.")
    #expect(again.conflicts == conflicts && again.attribute == "seats")
    #expect(again.constraint == "seats_left" && again.hint == "Ask the office.")
  }
}
