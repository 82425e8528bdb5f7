import FerryModel
import Glibc
import Testing

extension Way {
  @Suite struct StopTests {
    @Test("A crash is told with the names of functions and without registers")
    func crash() async throws {
      let business = try await Business.flights(bookings: 5)
      let daemon = try await Daemon.start(business)
      daemon.process.send(SIGSEGV)
      // The last line of the report.
      try await until("the crash is told") {
        daemon.process.errorText.contains("Backtrace took")
      }
      let text = daemon.process.errorText
      #expect(text.contains("HTTPServer.run()"))
      #expect(!text.contains("rflags") && !text.contains("rax"))
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
      let start = ContinuousClock.now
      #expect(try await daemon.stopInOrder() == .exit(0))
      tell(
        "SIGTERM after \(try business.booked()) of \(count) replays, with a channel open: "
          + "exit 0 after \((ContinuousClock.now - start) / .seconds(1)) s")
      #expect(daemon.process.errorText.contains(#""ended""#))
      daemon = try await Daemon.start(business, port: daemon.port)
      try await ada.ask(#"["network"]"#)
      try await until("all are done") { try business.booked() == count }
      try await Shores.agree(business, daemon, [ada], belongs: Shores.firstAgency(business))
      try business.expectOnce(count)
    }
  }
}
