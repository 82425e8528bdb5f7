import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryText
import FerryWorld
import Foundation
import Testing

@testable import FerryServer

extension Way {
  @Suite struct SessionTests {
    private static let day: Int64 = 86_400_000

    @Test(
      "A device that was offline for 30 days renews its session by itself", .reference("sync/M12"))
    func monthAway() async throws {
      let business = try await Business.flights(bookings: 500)
      var daemon = try await Daemon.start(business)
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let key = try Self.booking(business)
      daemon = try await age(daemon, business, ada, days: 30)
      let later = try Phone(business, "ada", daemon.address)
      try await later.ask(#"["start"]"#)
      try await until("the device renews and sends") {
        try await later.show("Bookings", key)["pending"]?.string == "N"
      }
      #expect(later.events("loginFailure").isEmpty)
      try await Shores.agree(business, daemon, [later], belongs: Shores.firstAgency(business))
    }

    @Test(
      "A session that is too old or revoked asks the app; what is pending is untouched",
      .reference("sync/M12", "sync/P23"),
      arguments: [61, nil])
    func tooOld(days: Int64?) async throws {
      let business = try await Business.flights(bookings: 500)
      var daemon = try await Daemon.start(business)
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let key = try Self.booking(business)
      daemon = try await age(daemon, business, ada, days: days)
      let later = try Phone(business, "ada", daemon.address)
      try await later.ask(#"["start"]"#)
      try await until("the app is asked") { !later.events("loginFailure").isEmpty }
      #expect(later.events("loginFailure", "Log in again").count == 1)
      #expect(try await later.show("Bookings", key)["pending"]?.string == "U")
      #expect(try await later.text("Bookings", key, "passenger") == "Long Away")
      try await later.ask(#"["login","ada","\#(Business.password)"]"#)
      try await until("after the login it is sent") {
        try await later.show("Bookings", key)["pending"]?.string == "N"
      }
      try await Shores.agree(business, daemon, [later], belongs: Shores.firstAgency(business))
    }

    /// A booking that may be changed.
    private static func booking(_ business: Business) throws -> String {
      String(
        try business.value(
          """
          SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
          WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
          """))
    }

    /// Both sides end with a change waiting on the device, and time goes by: what they have stored
    /// gets older. Nil is a revocation.
    private func age(
      _ daemon: Daemon, _ business: Business, _ phone: Phone, days: Int64?
    ) async throws -> Daemon {
      #expect(try await daemon.stopInOrder() == .exit(0))
      let key = try Self.booking(business)
      try await phone.update("Bookings", key, #"{"passenger":"Long Away"}"#)
      try await phone.submit("Bookings", key)
      try await phone.quit()
      do {
        let server = try Connection(path: "\(daemon.data)/server.sqlite", mode: .readWrite)
        if let days {
          try server.execute("UPDATE session SET begun = begun - \(days * Self.day)")
        } else {
          try server.execute("UPDATE session SET ended = 'loggedOut'")
        }
        let device = try Connection(
          path: phone.database, mode: .readWrite, busyTimeoutMilliseconds: 300_000)
        try device.execute(
          """
          UPDATE ferry_setting SET value = CAST(value - \((days ?? 1) * Self.day) AS TEXT)
          WHERE name = 'accessTokenExpires'
          """)
      }
      return try await Daemon.start(business, port: daemon.port)
    }

    @Test("No token, an expired, a forged and another server's are refused, each with its code")
    func tokens() async throws {
      let business = try await Business.flights(bookings: 500)
      let daemon = try await Daemon.start(business)
      let other = try await Daemon.start(business, data: business.place.file("other"))
      let good = try await Wires.token(daemon.address, "ada", device: "a")
      let strange = try await Wires.token(other.address, "ada", device: "a")
      var parts = good.split(separator: ".").map(String.init)
      let claims =
        Base64.decode(parts[1].utf8, .url).map { String(decoding: $0, as: UTF8.self) } ?? ""
      #expect(claims.contains("AG-01"))
      parts[1] = Base64.encode(
        Array(claims.replacingOccurrences(of: "AG-01", with: "AG-02").utf8), .url)
      let cases: [(token: String?, code: String)] = [
        (nil, "noToken"), (try expired(daemon), "expiredToken"),
        (parts.joined(separator: "."), "forgedToken"), ("nonsense", "forgedToken"),
        (strange, "otherServersToken"),
      ]
      for path in ["exchange", "channel"] {
        for (token, code) in cases {
          let reply = try await Wires.post(
            "\(daemon.address)/ferry/1/\(path)", Letters.first(business, device: "a"), token: token)
          #expect(reply.status == 401)
          #expect(reply.code == code)
          #expect(reply.node?["hint"]?.string?.isEmpty == false)
        }
      }
      let reply = try await Wires.post(
        "\(daemon.address)/ferry/1/exchange", Letters.first(business, device: "a"), token: good)
      #expect(reply.status == 200)
      #expect(try Letters.failure(reply) == nil)
      let renewed = try await Wires.post(
        "\(daemon.address)/ferry/1/token", Array(#"{"refreshToken":"no","device":"a"}"#.utf8))
      #expect(renewed.status == 401 && renewed.code == "revokedToken")
      #expect(try await daemon.isHealthy())
    }

    private func expired(_ daemon: Daemon) throws -> String {
      let store = try Connection(path: "\(daemon.data)/server.sqlite", mode: .readOnly)
      let key = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(daemon.data)/token.key")))
      guard let server = try store.value("SELECT id FROM server")?.text else {
        throw WayFailure("the server has no id")
      }
      let past = SystemClock().now.advanced(by: .seconds(-3_600))
      return AccessTokens(key: key, server: server).issue(
        UserRecord(name: "ada", claims: ["agency": ["AG-01"]]), device: "a", now: past
      ).text
    }

    @Test("A user's token brings that user's rows and no other's, and serves no other's device")
    func otherUser() async throws {
      let business = try await Business.flights(bookings: 500)
      let daemon = try await Daemon.start(business)
      let cleo = try await Phone.start(business, "cleo", user: "cleo", daemon.address)
      let position = business.package.entity(named: "Bookings")?.position(of: "agencyID") ?? 0
      try await Shores.agree(business, daemon, [cleo]) { entity, values in
        entity != "Bookings" || values[position] == .text("AG-02")
      }
      // A database belongs to who logged in first.
      _ = try await cleo.ask(#"["login","ada","\#(Business.password)"]"#, mayFail: true)
      try await until("the device refuses another user") {
        !cleo.events("loginFailure").isEmpty
      }
      #expect(!cleo.events("loginFailure", "belongs to the user cleo").isEmpty)
      let token = try await Wires.token(daemon.address, "cleo", device: "cleo-2")
      let reply = try await Wires.post(
        "\(daemon.address)/ferry/1/exchange", Letters.first(business, device: "someone-else"),
        token: token)
      let failure = try Letters.failure(reply)
      tell("another device's token: \(reply.status) \(failure?.message ?? reply.text)")
      #expect(reply.status != 200 || failure != nil)
      #expect(try await daemon.isHealthy())
    }
  }
}
