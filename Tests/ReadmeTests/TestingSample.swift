// The lines between the two marks are those of Documentation/Testing.md.
// README begins
import Ferry
import FerryTestKit
import Testing

@Test func aFullFlightIsReported() async throws {
  let server = try await TestServer(Travel.package)
  server.refuse(Booking.self, code: 409, "The flight is full.") { try $0["flightID"] == 318 }
  let database = try await server.database(user: "nancy", claims: ["agency": ["A07"]])

  let booking = try await book(flight: 318, for: "Grace Hopper", in: database)
  try await database.synchronize(awaitingAnswers: true)  // returns when the answers have arrived

  #expect(try await database.refusal(of: booking)?.code == 409)
  #expect(try await result(of: booking, in: database) == "refused: The flight is full.")
  await server.stop()
}
// README ends
