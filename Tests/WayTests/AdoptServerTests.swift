import FerryTestTraits
import Foundation
import Testing

extension Way {
  @Suite struct AdoptServerTests {
    @Test(
      "A server is replaced for good amid replays: each create is done once", .reference("sync/P25")
    )
    func replaced() async throws {
      let business = try await Business.flights(bookings: 1_000)
      var daemon = try await Daemon.start(business)
      let port = daemon.port
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let count = 120
      try await ada.book(0..<count, business)
      try await ada.ask(#"["submitAll"]"#)
      let done = try await poll("some are done") { () -> Int64? in
        let done = try business.booked()
        return done >= 10 ? done : nil
      }
      try await daemon.stopNow()
      try FileManager.default.removeItem(atPath: daemon.data)
      daemon = try await Daemon.start(business, port: port)
      try await daemon.ready()
      // Another agency takes the number of the partition that was ada's.
      _ = try await Phone.start(business, "cleo", user: "cleo", daemon.address)
      let kept = try business.booked()
      let shown = try await ada.count("Bookings")
      try await until("the tokens of the old server are refused") {
        let answer = try await ada.ask(#"["synchronize"]"#, mayFail: true)
        return answer["code"]?.string == "notLoggedIn"
      }
      let login = try await ada.ask(#"["login","ada","\#(Business.password)"]"#, mayFail: true)
      #expect(login["code"]?.string == "otherOwner", "\(login)")
      #expect(login["hint"]?.string?.contains("call adoptServer") == true)
      #expect(try business.booked() == kept, "nothing was sent to a server that was not adopted")
      #expect(try await ada.count("Bookings") == shown)

      try await ada.ask(#"["adopt"]"#)
      try await ada.ask(#"["login","ada","\#(Business.password)"]"#)
      try await until("all are done") { try business.booked() == count }
      tell("the server was replaced after \(done) of \(count) creates")
      try await Shores.agree(business, daemon, [ada], belongs: Shores.firstAgency(business))
      try business.expectOnce(count)
      #expect(ada.events("replayFailure").isEmpty && ada.events("replayUnknown").isEmpty)
      #expect(try await ada.ask(#"["pending"]"#)["operations"]?.array?.isEmpty != false)
    }
  }
}
