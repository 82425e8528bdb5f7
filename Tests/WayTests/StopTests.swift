import FerryModel
import Foundation
import Testing

extension Way {
  @Suite struct StopTests {
    @Test("The server runs with the wish for crash reports without registers, under its own name")
    func crashReport() async throws {
      let business = try await Business.flights(bookings: 5)
      let daemon = try await Daemon.start(business)
      let place = "/proc/\(daemon.process.id)"
      let words = try String(contentsOfFile: "\(place)/environ", encoding: .utf8)
        .split(separator: "\0")
      // A wish that is there already stays.
      let wish = ProcessInfo.processInfo.environment["SWIFT_BACKTRACE"] ?? "registers=none"
      #expect(words.contains("SWIFT_BACKTRACE=\(wish)"))
      #expect(try String(contentsOfFile: "\(place)/comm", encoding: .utf8) == "ferryd\n")
      try await daemon.stopNow()
    }

    @Test("SIGTERM while a channel and replays are open: exit 0 within the grace, nothing is lost")
    func term() async throws {
      let business = try await Business.flights(bookings: 500)
      var daemon = try await Daemon.start(business)
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let count = 30
      try await ada.book(0..<count, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("the first is done") { try business.booked() > 0 }
      let start = Stopwatch()
      let end = try await daemon.stopInOrder()
      #expect(end == .exit(0), "\(daemon.process.errorText.suffix(4000))")
      tell(
        "SIGTERM after \(try business.booked()) of \(count) replays, with a channel open: "
          + "exit 0 after \(start.seconds) s")
      #expect(daemon.process.errorText.contains(#""ended""#))
      // Whoever copies the file alone has the whole store.
      let log =
        try? FileManager.default.attributesOfItem(
          atPath: "\(daemon.data)/server.sqlite-wal")[.size] as? Int
      #expect((log ?? 0) == 0)
      daemon = try await Daemon.start(business, port: daemon.port)
      try await ada.ask(#"["network"]"#)
      try await until("all are done") { try business.booked() == count }
      try await Shores.agree(business, daemon, [ada], belongs: Shores.firstAgency(business))
      try business.expectOnce(count)
    }
  }
}
