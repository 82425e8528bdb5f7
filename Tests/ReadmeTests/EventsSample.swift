// The lines between the two marks are those of Documentation/Events.md.
// README begins
import Ferry

struct Refusals: CallbackHandler {
  func onReplayFailure(_ object: ReplayedObject) {
    guard let booking = object.as(Booking.self) else { return }
    for record in (try? booking.logRecords) ?? [] {
      print(booking.passenger, record.code, record.message)
    }
  }

  func onImportProgress(_ progress: ImportProgress) {
    print("\(progress.receivedRows) rows downloaded")
  }
}

func follow(_ database: Database) {
  database.registerCallbackHandler(Refusals())
}
// README ends
