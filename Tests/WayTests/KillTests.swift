import FerryModel
import FerrySQLite
import FerryTestTraits
import Foundation
import Testing

extension Way {
  @Suite struct KillTests {
    @Test(
      "Kill -9 of ferryd while it loads and while a device imports loses nothing",
      .reference("sync/P26"))
    func serverInImport() async throws {
      let business = try await Business.flights(bookings: 24_000)
      var daemon = try await Daemon.start(business)
      let port = daemon.port
      // Where this process looked when the load was over already, another is begun.
      try await until("ferryd was killed in its first load") {
        if try Daemon.isInFirstLoad(daemon.data) {
          try await daemon.stopNow()
          if try Daemon.isInFirstLoad(daemon.data) { return true }
        } else {
          guard try await daemon.isHealthy() else { return false }
          try await daemon.stopNow()
        }
        try FileManager.default.removeItem(atPath: daemon.data)
        daemon = try await Daemon.start(business, port: port)
        return false
      }
      daemon = try await Daemon.start(business, port: port)
      try await daemon.ready()
      let network = try RoughNetwork(before: daemon)
      let dora = try await importing(business, daemon, network, "dora")
      try await until("pages have come") { dora.events("progress").count >= 2 }
      try await daemon.stopNow()
      #expect(!hasAll(dora, business), "the server was killed too late")
      tell("ferryd was killed after \(dora.events("progress").count) pages")
      network.allow(down: nil)
      daemon = try await Daemon.start(business, port: port)
      try await dora.ask(#"["network"]"#)
      try await Shores.agree(business, daemon, [dora]) { _, _ in true }
    }

    @Test("Kill -9 of ferryd amid replays: each create is done once", .reference("sync/P25"))
    func serverInReplay() async throws {
      let business = try await Business.flights(bookings: 1_000)
      var daemon = try await Daemon.start(business)
      let port = daemon.port
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let count = 120
      try await ada.book(0..<count, business)
      try await ada.ask(#"["submitAll"]"#)
      var seen: [Int64] = []
      for share in [10, 60] {
        let part = try await poll("some are done") { () -> Int64? in
          let done = try business.booked()
          return done >= share ? done : nil
        }
        seen.append(part)
        try await daemon.stopNow()
        daemon = try await Daemon.start(business, port: port)
        try await ada.ask(#"["network"]"#)
      }
      tell("ferryd was killed after \(seen) of \(count) creates")
      try await once(count, business, daemon, ada)
    }

    @Test(
      "Kill -9 of a device in its import and after submit loses nothing",
      .reference("sync/P23", "sync/P25", "sync/P26", "sync/RC13"))
    func device() async throws {
      let business = try await Business.flights(bookings: 12_000)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let network = try RoughNetwork(before: daemon)
      let first = try await importing(business, daemon, network, "ada")
      try await until("a page has come") { !first.events("progress").isEmpty }
      try await first.process.killNow()
      #expect(!hasAll(first, business), "the device was killed too late")
      tell("a device was killed after \(first.events("progress").count) pages")
      let second = try Phone(business, "ada", daemon.address)
      try await second.ask(#"["start"]"#)
      try await second.synchronize()
      try await Shores.agree(
        business, daemon, [second], belongs: Shores.firstAgency(business))
      let count = 60
      try await second.book(0..<count, business)
      try await second.ask(#"["submitAll"]"#)
      try await second.process.killNow()
      let third = try Phone(business, "ada", daemon.address)
      #expect(try await third.count("Bookings") > 0)
      try await third.ask(#"["start"]"#)
      try await until("some are done") { try business.booked() >= 5 }
      try await third.process.killNow()
      let fourth = try Phone(business, "ada", daemon.address)
      try await fourth.ask(#"["start"]"#)
      try await once(count, business, daemon, fourth)
    }

    /// A device that imports over a network that gives it all but the last eighth: whatever is killed
    /// then is killed amid the import, however quick it is.
    private func importing(
      _ business: Business, _ daemon: Daemon, _ network: RoughNetwork, _ user: String
    ) async throws -> Phone {
      let whole = try await Wires.post(
        "\(daemon.address)/ferry/1/exchange", Letters.first(business, device: "measure"),
        token: try await Wires.token(daemon.address, user, device: "measure"))
      #expect(try whole.status == 200 && Letters.failure(whole) == nil)
      let phone = try Phone(business, user, network.address)
      try await phone.ask(#"["login","\#(user)","\#(Business.password)"]"#)
      try await phone.ask(#"["subscribe"]"#)
      network.allow(down: whole.bytes.count * 7 / 8)
      try await phone.ask(#"["start"]"#)
      return phone
    }

    private func hasAll(_ phone: Phone, _ business: Business) -> Bool {
      phone.events("importSuccess").count >= business.package.groups.count
    }

    /// Nothing was lost, nothing was done twice, and all shores agree.
    private func once(
      _ count: Int, _ business: Business, _ daemon: Daemon, _ phone: Phone
    ) async throws {
      try await until("all are answered") {
        try business.booked() == count
          && Daemon.answered(daemon.data) >= count
      }
      try await Shores.agree(
        business, daemon, [phone], belongs: Shores.firstAgency(business))
      try business.expectOnce(count)
      let applied = try business.connection().row(
        "SELECT count(*), count(DISTINCT operation) FROM ferry_applied")
      #expect(applied?.compactMap(\.integer) == [Int64(count), Int64(count)])
    }
  }
}

extension Daemon {
  /// Whether its store has rows of a first load that has not ended.
  static func isInFirstLoad(_ data: String) throws -> Bool {
    guard let connection = try? Connection(path: "\(data)/server.sqlite", mode: .readOnly) else {
      return false
    }
    let found = try? connection.value(
      "SELECT EXISTS (SELECT 1 FROM row) AND NOT loaded FROM package")
    return found?.integer == 1
  }

  /// Operations that the server has answered.
  static func answered(_ data: String) throws -> Int64 {
    let connection = try Connection(path: "\(data)/server.sqlite", mode: .readOnly)
    return try connection.value("SELECT count(*) FROM operation WHERE answer_version IS NOT NULL")?
      .integer ?? 0
  }
}
