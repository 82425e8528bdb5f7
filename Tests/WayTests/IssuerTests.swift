import FerryHTTP
import FerryJSON
import FerrySQLite
import FerryWorld
import Foundation
import Testing

extension Way {
  @Suite struct IssuerTests {
    static let ada = #"{"sub":"u-ada","agency":"AG-01"}"#

    @Test(
      "A device logs in with a token of the company's issuer, imports, works offline and renews, and a rotated key is not noticed"
    )
    func whole() async throws {
      let business = try await Business.flights(bookings: 500)
      let issuer = try TestIssuer(business.place)
      var daemon = try await Daemon.start(business, more: try await issuer.options())
      try await daemon.ready()
      try await issuer.give(Self.ada)
      let phone = try issuer.phone(business, "phone", daemon.address)
      try await phone.ask(#"["loginByToken"]"#)
      try await phone.ask(#"["subscribe"]"#)
      try await phone.synchronize()
      let server = try Connection(path: business.database)
      let mine = try server.value("SELECT count(*) FROM Bookings WHERE AgencyID = 'AG-01'")?.integer
      #expect(try await phone.count("Bookings") == mine)

      // Offline: the server is away while a change is made.
      #expect(try await daemon.stopInOrder() == .exit(0))
      let key = try #require(
        try server.value(
          """
          SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
          WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
          """)?.integer)
      try await phone.update("Bookings", "\(key)", #"{"passenger":"By Token"}"#)
      try await phone.submit("Bookings", "\(key)")
      try await phone.quit()
      try age(phone)

      // Meanwhile the issuer has another key, and withdraws the one of before.
      try await issuer.ask(#"["rotate","ES256"]"#)
      try await issuer.ask(#"["withdraw"]"#)
      try await issuer.give(Self.ada)
      daemon = try await Daemon.start(business, port: daemon.port, more: try await issuer.options())
      try await daemon.ready()
      let again = try issuer.phone(business, "phone", daemon.address)
      try await again.ask(#"["start"]"#)
      try await again.synchronize()
      try await until("the change arrives") {
        try server.value("SELECT Passenger FROM Bookings WHERE BookingID = ?", .integer(key))?.text
          == "By Token"
      }
      #expect(again.events("loginFailure").isEmpty)
      try await again.quit()
    }

    @Test(
      "A device logs in by a code, works offline, renews silently after a start, and hears by name that the issuer is away"
    )
    func code() async throws {
      let business = try await Business.flights(bookings: 200)
      let issuer = try TestIssuer(business.place)
      try await issuer.ask(#"["user",\#(Self.ada)]"#)
      let daemon = try await Daemon.start(business, more: try await issuer.options())
      try await daemon.ready()
      let environment = [
        "/usr/bin/env", "FERRY_ISSUER=\(try await issuer.address())", "FERRY_CLIENT=sales",
        "FERRY_ISSUER_CA=\(issuer.certificate)",
      ]
      let phone = try Phone(business, "phone", daemon.address, prefix: environment)
      // An issuer that is away is told as that, not as a wrong login.
      try await issuer.ask(#"["mode","500"]"#)
      let away = try await phone.ask(#"["loginByToken"]"#, mayFail: true)
      #expect(away["code"]?.string == "offline", "\(away)")
      try await issuer.ask(#"["mode","ok"]"#)
      try await issuer.ask(#"["device","agree"]"#)
      try await phone.ask(#"["loginByToken"]"#)
      #expect(phone.events("deviceCode").count == 1)
      try await phone.ask(#"["subscribe"]"#)
      try await phone.synchronize()
      #expect(try await phone.count("Bookings") > 0)
      try await phone.quit()
      try age(phone)
      let again = try Phone(business, "phone", daemon.address, prefix: environment)
      try await again.ask(#"["start"]"#)
      try await again.synchronize()
      #expect(again.events("deviceCode").isEmpty && again.events("loginFailure").isEmpty)
      #expect(try await issuer.ask(#"["grants"]"#).hasSuffix("refresh_token"))
      try await again.quit()
    }

    /// The access token's time is over.
    private func age(_ phone: Phone) throws {
      let device = try Connection(
        path: phone.database, mode: .readWrite, busyTimeoutMilliseconds: 300_000)
      try device.execute(
        "UPDATE ferry_setting SET value = '1' WHERE name = 'accessTokenExpires'")
    }

    @Test(
      "`ferry login --client` logs in by a page of the issuer that comes back to this machine, or by a code"
    )
    func terminal() async throws {
      let business = try await Business.flights(bookings: 100)
      let issuer = try TestIssuer(business.place)
      try await issuer.ask(#"["user",\#(Self.ada)]"#)
      let words = try await issuer.options(["--client", "sales", "--model", business.model])
      let page = try ChildProcess(try Programs.path("ferry"), ["login"] + words)
      let address = try await poll("the page is shown") { () -> String? in
        page.errorText.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
          .first { $0.contains("/authorize?") && $0.contains("code_challenge=") }
      }
      // Any page in the user's browser may send requests to this machine: they do not end the login.
      let query = address.split(separator: "?", maxSplits: 1).last.map(String.init)
      let shown = HTTPRequest(method: .get, path: "/", query: query)
      let redirect = try #require(shown.queryValue("redirect_uri"))
      for stray in [
        "", "?code=EVIL", "?code=EVIL&state=zzz", "?error=access_denied", "?state=",
        "?error=access_denied&state=zzz",
      ] {
        #expect(try await Wires.get(redirect + stray).status == 400, "\(stray)")
      }
      #expect(page.isRunning)
      // The browser of a user who is logged in already.
      let browser = try ChildProcess(
        "/usr/bin/env",
        ["curl", "-sSL", "--max-time", "60", "--cacert", issuer.certificate, address])
      #expect(try await browser.ended() == .exit(0), "\(browser.errorText)")
      #expect(browser.lines.joined().contains("return to the terminal"))
      #expect(try await page.ended() == .exit(0), "\(page.errorText)")
      #expect(page.lines.contains { $0.contains("agency = AG-01") }, "\(page.lines)")
      try await issuer.ask(#"["device","agree"]"#)
      let code = try ChildProcess(try Programs.path("ferry"), ["login", "--code"] + words)
      #expect(try await code.ended() == .exit(0), "\(code.errorText)")
      #expect(code.errorText.contains("WDJB-MJHT"))
      #expect(code.lines.contains { $0.contains("agency = AG-01") })
      try await issuer.ask(#"["device","deny"]"#)
      let denied = try ChildProcess(try Programs.path("ferry"), ["login", "--code"] + words)
      #expect(try await denied.ended() == .exit(1))
      #expect(denied.errorText.contains("did not agree"), "\(denied.errorText)")
    }

    @Test("`ferry login --try` explains a token, and why it is refused")
    func tried() async throws {
      let business = try await Business.flights(bookings: 100)
      let issuer = try TestIssuer(business.place)
      let mapping = try business.place.write(
        #"{"rules":[{"from":"groups","is":"g-1","claims":{"agency":"AG-02"}},"#
          + #"{"from":"groups","is":"g-2","role":"boss"}]}"#, to: "mapping.json")
      func ferry(_ claims: String) async throws -> (ChildProcess.End, String) {
        let token = try await issuer.token(claims)
        let words = try await issuer.options(["--mapping", mapping, "--model", business.model])
        let process = try ChildProcess(
          try Programs.path("ferry"), ["login", "--try", token] + words)
        let end = try await process.ended()
        let text = process.lines.joined(separator: "\n") + process.errorText
        #expect(!text.contains(token))
        return (end, text)
      }
      let (end, text) = try await ferry(#"{"sub":"u-1","groups":["g-1"]}"#)
      #expect(end == .exit(0), "\(text)")
      for part in [
        "|u-1", "claim   agency = AG-02", "fits    groups is g-1", "no      groups is g-2",
      ] {
        #expect(text.contains(part), "\(text)")
      }
      let (refused, why) = try await ferry(#"{"sub":"u-1","groups":["g-9"]}"#)
      #expect(refused == .exit(1) && why.contains("no rule of the mapping fits"), "\(why)")
    }

    @Test(
      "Bad tokens, a hanging issuer and one that lies are refused by name, and no token is logged")
    func bad() async throws {
      let business = try await Business.flights(bookings: 200)
      let issuer = try TestIssuer(business.place)
      try await issuer.ask(#"["mode","500"]"#)
      let daemon = try await Daemon.start(business, more: try await issuer.options())
      try await daemon.ready()
      let now = Int(SystemClock().now.milliseconds / 1_000)
      let away = try await issuer.login(daemon.address, Self.ada, device: "a")
      #expect(away.status == 503 && away.code == "issuerAway" && away.retryAfter != nil)
      try await issuer.ask(#"["mode","lie"]"#)
      // A failure is remembered for five seconds.
      try await until("the server sees that it lies") {
        let lie = try await issuer.login(daemon.address, Self.ada, device: "a")
        return lie.status == 503 && lie.text.contains("names the issuer https://evil.example.com")
      }
      try await issuer.ask(#"["mode","ok"]"#)
      try await until("the keys are fetched") {
        try await issuer.login(daemon.address, Self.ada, device: "a").status == 200
      }
      // The user file works beside it.
      #expect(try await Wires.login(daemon.address, "cleo", device: "c").status == 200)
      for (claims, part) in [
        (#"{"sub":"u","agency":"AG-01","aud":"mail"}"#, "audience is mail"),
        (#"{"sub":"u","agency":"AG-01","exp":\#(now - 31_536_000)}"#, "expired 365 days ago"),
        (#"{"sub":"u","agency":"AG-01","nbf":\#(now + 7_300)}"#, "is not valid yet, but in 2 h"),
        (#"{"sub":"u"}"#, "no rule of the mapping fits"),
        (
          #"{"sub":"u","agency":"AG-01","iss":"https://other.example.com"}"#,
          "does not accept tokens"
        ),
        (
          #"{"sub":"u","agency":"AG-01","pad":"\#(String(repeating: "x", count: 20_000))"}"#,
          "bytes"
        ),
      ] {
        let reply = try await issuer.login(daemon.address, claims, device: "a")
        #expect(reply.status == 401 && reply.code == "refusedToken", "\(claims.prefix(80))")
        #expect(reply.text.contains(part), "\(reply.text)")
      }
      // A hanging issuer holds up nobody who has a session or a password.
      try await issuer.ask(#"["mode","hang"]"#)
      try await issuer.ask(#"["rotate"]"#)
      let good = try await issuer.token(Self.ada)
      let hanging = Task {
        try await Wires.post(
          "\(daemon.address)/ferry/1/login", Array(#"{"token":"\#(good)","device":"a"}"#.utf8))
      }
      #expect(try await Wires.login(daemon.address, "dora", device: "d").status == 200)
      #expect(try await hanging.value.status != 200)
      let log = daemon.process.errorText
      let audit = try String(contentsOfFile: "\(daemon.data)/audit.jsonl", encoding: .utf8)
      for part in good.split(separator: ".") {
        #expect(!log.contains(part) && !audit.contains(part))
      }
      #expect(audit.contains("u-ada"))
    }
  }
}
