import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryModel
import FerryTestTraits
import Foundation
import Testing

extension Way {
  @Suite struct ProxyTests {
    @Test(
      "Through nginx with proxy_pass alone a change is told of by channels",
      .reference("adr/PRX-1", "facts/5.19"))
    func plain() async throws {
      let business = try await Business.flights(bookings: 500)
      let daemon = try await Daemon.start(business)
      let proxy = try await Proxy.start(before: daemon)
      let seconds = try await circle(business, daemon, proxy)
      tell("nginx with proxy_pass alone: a change is visible after \(seconds) s")
      #expect(try await metric("ferry_channels_opened_total", daemon) >= 2)
    }

    @Test(
      "Where the proxy keeps the channel's bytes back the device notices and polls",
      .reference("adr/PRX-1"))
    func buffering() async throws {
      let business = try await Business.flights(bookings: 500)
      let daemon = try await Daemon.start(business)
      let proxy = try await Proxy.start(
        before: daemon, more: "proxy_ignore_headers X-Accel-Buffering;")
      let seconds = try await circle(business, daemon, proxy)
      tell("nginx that buffers all the same: a change is visible after \(seconds) s")
    }

    @Test(
      "Through TLS by the nginx of Samples/nginx a change is visible, and the log has the client's address"
    )
    func sample() async throws {
      let business = try await Business.flights(bookings: 500)
      let daemon = try await Daemon.start(business, more: ["--proxy", "127.0.0.1"])
      let proxy = try await Proxy.startSample(before: daemon)
      let seconds = try await circle(business, daemon, proxy)
      tell("nginx of Samples/nginx: a change is visible after \(seconds) s")
      let long = [UInt8](repeating: 32, count: 5_000)
      let login = "\(proxy.address)/ferry/1/login"
      #expect(try await Wires.post(login, long, over: proxy.transport).status == 413)
      await #expect(throws: TransportError.self, "another authority is not trusted") {
        _ = try await Wires.post(login, long)
      }
      // Nobody reaches the operator's paths from outside, not even with the key.
      let key = try String(contentsOfFile: "\(daemon.data)/operator.key", encoding: .utf8)
      let asked = "\(daemon.address)/ferry/1/operator/devices"
      #expect(try await Wires.get(asked, token: key).status == 200)
      for path in [
        "ferry/1/operator/devices", "ferry/1/operator/packages", "ferry/1/operator/",
        "ferry/1/%6fperator/devices", "ferry/1/x/../operator/devices", "ferry//1/operator/devices",
        "ferry/1//operator/devices", "ferry/1/operator%2fdevices",
      ] {
        let reply = try await Wires.get(
          "\(proxy.address)/\(path)", token: key, over: proxy.transport)
        #expect(reply.status == 404, "\(path)")
      }
      let audit = try String(contentsOfFile: "\(daemon.data)/audit.jsonl", encoding: .utf8)
      // A key that the server made has no address; everything else came through the proxy.
      let logins = try audit.split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
        .filter { $0["event"]?.string != "keyMade" }
      #expect(!logins.isEmpty)
      #expect(logins.allSatisfy { $0["address"]?.string == "127.0.0.1" })
    }

    @Test(
      "A database's connection profile asks the app about a certificate that no authority vouches for",
      .reference("ios/LSN-1", "adr/TLS-2")
    )
    func trust() async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business, more: ["--proxy", "127.0.0.1"])
      let proxy = try await Proxy.startSample(before: daemon)
      let right = try await proxy.fingerprint()
      let wrong = right.hasPrefix("A") ? "B" + right.dropFirst() : "A" + right.dropFirst()
      let stranger = try Phone(
        business, "stranger", proxy.address,
        prefix: ["/usr/bin/env", "FERRY_FINGERPRINT=\(wrong)"])
      let refused = try await stranger.ask(
        #"["login","ada","\#(Business.password)"]"#, mayFail: true)
      #expect(refused["ok"]?.boolean == false)
      let audit = "\(daemon.data)/audit.jsonl"
      let before = (try? String(contentsOfFile: audit, encoding: .utf8)) ?? ""
      #expect(!before.contains(#""login""#), "nothing was sent before the decision")
      let phone = try await Phone.start(
        business, "phone", user: "ada", proxy.address,
        prefix: ["/usr/bin/env", "FERRY_FINGERPRINT=\(right)"])
      #expect(try await phone.count("Bookings") > 0)
      #expect(try String(contentsOfFile: audit, encoding: .utf8).contains(#""login""#))
    }

    /// What the server has counted of this.
    private func metric(_ name: String, _ daemon: Daemon) async throws -> Double {
      let key = try String(contentsOfFile: "\(daemon.data)/operator.key", encoding: .utf8)
      let text = try await Wires.get("\(daemon.address)/metrics", token: key).text
      return text.split(separator: "\n").filter { $0.hasPrefix("\(name){") }
        .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
    }

    /// The quickest of some changes, from submit on one device to sight on another.
    private func circle(
      _ business: Business, _ daemon: Daemon, _ proxy: Proxy
    ) async throws -> Double {
      let ada = try await Phone.start(
        business, "ada", user: "ada", proxy.address, prefix: proxy.trusting)
      let ben = try await Phone.start(
        business, "ben", user: "ben", proxy.address, prefix: proxy.trusting)
      let keys = try business.connection().rows(
        """
        SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
        WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 4
        """
      ).compactMap { $0[0].integer.map(String.init) }
      #expect(keys.count == 4)
      var quickest = Double.infinity
      for number in keys.indices {
        let key = keys[number]
        try await ada.update("Bookings", key, #"{"passenger":"Traveller \#(number)"}"#)
        try await ada.submit("Bookings", key)
        let seconds = try await until("the change is on the other device") {
          try await ben.text("Bookings", key, "passenger") == "Traveller \(number)"
        }
        quickest = min(quickest, seconds)
      }
      try await Shores.agree(
        business, daemon, [ada, ben], belongs: Shores.firstAgency(business))
      return quickest
    }

    @Test("A proxy that goes away and comes back loses nothing", .reference("adr/PRX-2"))
    func restart() async throws {
      let business = try await Business.flights(bookings: 500)
      let daemon = try await Daemon.start(business)
      let proxy = try await Proxy.start(before: daemon)
      let ada = try await Phone.start(business, "ada", user: "ada", proxy.address)
      let key = String(
        try business.value(
          """
          SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
          WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
          """))
      try await proxy.stopNow()
      try await ada.update("Bookings", key, #"{"passenger":"Patient Passenger"}"#)
      try await ada.submit("Bookings", key)
      try await until("the device says that it is offline") { !ada.events("disconnect").isEmpty }
      let again = try await Proxy.start(before: daemon, port: proxy.port)
      try await ada.ask(#"["network"]"#)
      try await until("the change arrives") {
        try await ada.show("Bookings", key)["pending"]?.string == "N"
      }
      // Who waits for an exchange is not kept waiting by those that broke before.
      try await ada.ask(#"["synchronize"]"#)
      try await Shores.agree(business, daemon, [ada], belongs: Shores.firstAgency(business))
      #expect(again.port == proxy.port)
    }
  }
}
