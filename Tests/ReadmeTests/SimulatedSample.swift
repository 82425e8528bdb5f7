// The lines between the two marks are those of Documentation/Testing.md.
// README begins
import Ferry
import FerryTestKit
import FerryTesting
import Testing

@Test(.simulated(seeds: 1...50)) func everyBookingArrivesOnce() async throws {
  try await simulate(Travel.package) { app in
    app.device(user: "nancy", claims: ["agency": ["A07"]])
    app.device(user: "otto", claims: ["agency": ["A07"]])
    app.action("book a seat") { device in
      let name = "passenger \(device.random.number(in: 1...1_000_000))"
      _ = try await book(flight: 318, for: name, in: device.database)
      device.note(name)  // the user has seen it: it must never be lost
    }
    app.invariant("nobody is booked twice") { run in
      let names = try run.server.rows(of: Booking.self).map { try $0["passenger"] as String }
      #expect(Set(names).count == names.count)
    }
    app.finalInvariant("every booking is there, or waits on its device") { run in
      var names = Set(try run.server.rows(of: Booking.self).map { try $0["passenger"] as String })
      for device in run.devices {
        names.formUnion(try await Booking.find(in: device.database).map(\.passenger))
      }
      #expect(names.isSuperset(of: run.notes))
    }
  }
}
// README ends
