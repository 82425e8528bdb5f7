// The lines between the two marks are those of Documentation/Events.md.
// README begins
import Ferry

func follow(_ database: FerryDatabase) async throws {
  for await event in database.events {
    switch event {
    case .refused(let reference, let refusal):
      guard let booking = try await reference.as(Booking.self, in: database) else { continue }
      print(booking.passenger, refusal.code, refusal.message)
    case .downloading(let progress): print("\(progress.receivedRows) rows downloaded")
    default: break
    }
  }
}
// README ends
