import FerryJSON
import FerrySQLite
import Foundation
import Testing

extension Way {
  /// Users that change while the server runs.
  @Suite struct UserFileTests {
    private func user(_ business: Business, _ words: String...) async throws {
      let file = try ChildProcess(
        try Programs.path("ferry"), ["user"] + words + ["--file", business.users])
      guard try await file.ended() == .exit(0) else { throw WayFailure(file.errorText) }
    }

    private func status(_ daemon: Daemon, _ business: Business, _ token: String) async throws -> Int
    {
      try await Wires.post(
        "\(daemon.address)/ferry/1/exchange", Letters.first(business, device: "a"), token: token
      ).status
    }

    private func renewal(_ daemon: Daemon, _ login: Wires.Reply) async throws -> String {
      let token = login.node?["refreshToken"]?.string ?? ""
      return try await Wires.post(
        "\(daemon.address)/ferry/1/token",
        Array(#"{"refreshToken":"\#(token)","device":"a"}"#.utf8)
      ).code
    }

    @Test("A logout, a removal and an addition in the user file work without a restart")
    func changes() async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      for (verb, name) in [("logout", "ada"), ("remove", "ben")] {
        let login = try await Wires.login(daemon.address, name, device: "a")
        let token = try #require(login.node?["accessToken"]?.string)
        let cleo = try await Wires.token(daemon.address, "cleo", device: "a")
        #expect(try await status(daemon, business, token) == 200)
        try await user(business, verb, "--name", name)
        try await until("the session of \(name) has ended") {
          try await status(daemon, business, token) == 401
        }
        #expect(try await renewal(daemon, login) == "revokedToken")
        #expect(try await status(daemon, business, cleo) == 200, "others go on")
      }
      #expect(try await Wires.login(daemon.address, "ada", device: "a").status == 200)
      #expect(try await Wires.login(daemon.address, "ben", device: "a").status == 401)
      let audit = try String(contentsOfFile: "\(daemon.data)/audit.jsonl", encoding: .utf8)
      #expect(audit.contains(#""event":"sessionEnded","user":"ada""#))

      // A file that is broken meanwhile leaves the users of before.
      try Data("{".utf8).write(to: URL(fileURLWithPath: business.users))
      try await until("the server says so") {
        daemon.process.errorText.contains("the server keeps the previous users")
      }
      #expect(try await Wires.login(daemon.address, "cleo", device: "a").status == 200)
    }
  }
}
