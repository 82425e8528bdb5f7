import Ferry
import FerryFaultVFS
import FerryJSON
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

extension Way {
  /// Disks that are full, stand still or go away while real processes work on them.
  @Suite struct DiskTests {
    @Test(
      "A server on a full disk says so, loses nothing, and goes on when there is room",
      .reference("sync/P25"))
    func serverFull() async throws {
      let business = try await Business.flights(bookings: 300)
      guard let disk = try await SmallDisk.memory(business.place, "small", megabytes: 6) else {
        return SmallDisk.tellMissing(.server)
      }
      let daemon = try await Daemon.start(business, data: disk.file("data"))
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let token = try await Wires.token(daemon.address, "ben", device: "new")
      try await ada.book(0..<40, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("some are done") { try business.booked() >= 3 }
      try disk.fill()
      let before = try business.booked()
      // What is on its way meets the full disk: in the inbox, at the claim, or at the answer.
      try await ada.book(40..<60, business)
      try await ada.ask(#"["submitAll"]"#)
      let reply = try await poll("an exchange is turned away") { () -> Wires.Reply? in
        let reply = try await Wires.post(
          "\(daemon.address)/ferry/1/exchange", Letters.first(business, device: "new"),
          token: token)
        return reply.status == 503 ? reply : nil
      }
      #expect(reply.code == "diskFull", "\(reply.text)")
      #expect(reply.retryAfter == "2")
      #expect(reply.node?["hint"]?.string == "Free space on the disk; nothing was lost.")
      try await until("/health says so too") {
        let health = try await daemon.health()
        return health.status == 503 && health.code == "diskFull"
      }
      try await until("the log says so") {
        daemon.process.errorLines.contains {
          $0.contains("the store cannot be used") && $0.contains("diskFull")
        }
      }
      tell("the disk was full after \(before) of 60 creates")
      try disk.free()
      let seconds = try await until("it is well again") { try await daemon.isHealthy() }
      let answered = try await until("all are answered") {
        try business.booked() == 60 && Daemon.answered(daemon.data) >= 60
      }
      tell("with room again: healthy after \(seconds) s, all answered after \(answered) s")
      try await Shores.agree(
        business, daemon, [ada], belongs: Shores.firstAgency(business))
      try business.expectOnce(60)
    }

    @Test(
      "A device on a full disk says what to do and goes on by itself",
      .reference("sync/P1", "sync/P23"))
    func deviceFull() async throws {
      let business = try await Business.flights(bookings: 300)
      guard let disk = try await SmallDisk.memory(business.place, "small", megabytes: 2) else {
        return SmallDisk.tellMissing(.device)
      }
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let ada = try Phone(business, "small/ada", daemon.address)
      try await ada.begin(user: "ada")
      try await ada.book(0..<5, business)
      let count = try await ada.count("Bookings")
      try disk.fill()
      let refused = try await fillUp(business, ada)
      #expect(refused["code"]?.string == "diskFull", "\(refused)")
      #expect(refused["hint"]?.string?.contains("Free some space") ?? false)
      // What was told as saved is there, and what was not is not, in both tables.
      let saved = try await ada.count("Bookings")
      let pending = try await ada.ask(#"["pending"]"#)["operations"]?.array ?? []
      #expect(Int64(pending.count) == saved - count + 5)
      // Too much for the room that is left: the import must not be half.
      try business.run("UPDATE Flights SET Price = Price + 1; UPDATE Bookings SET Note = 'full'")
      try await until("the server has it") {
        try daemon.rows()["Bookings"]?.values.allSatisfy { $0.contains("full") } ?? false
      }
      #expect(try await ada.count("Bookings") == saved)
      try disk.free()
      let begin = Stopwatch()
      try await ada.ask(#"["submitAll"]"#)
      try await Shores.agree(
        business, daemon, [ada], belongs: Shores.firstAgency(business))
      tell("a device with room again was up to date after \(begin.time)")
      try business.expectOnce(pending.count)
    }

    @Test(
      "A full disk in memory under SQLite takes no save in part, and the next one whole",
      .reference("sync/P1"))
    func fullInMemory() async throws {
      let business = try await Business.flights(bookings: 20)
      let entity = try #require(business.package.entity(named: "Bookings"))
      let disk = FaultDisk()
      let store = try Store(
        path: "phone.db", model: business.package, world: .system(), durability: .application,
        vfs: disk.vfs)
      func save(_ passenger: String) throws {
        var record = ObjectRecord(entity, store: store)
        for (name, value) in [
          ("agencyID", AttributeValue.text("AG-01")), ("flightID", .integer(1)),
          ("passenger", .text(passenger)), ("cabin", .text("economy")), ("seats", .integer(1)),
        ] { record.values[try #require(entity.position(of: name))] = value }
        _ = try PendingStore.save(try record.change(.create), in: store)
      }
      func counts() throws -> [Int64?] {
        try store.read { connection throws(FerryError) in
          try store.sql { () throws(SQLiteError) in
            [
              try connection.value("SELECT count(*) FROM Bookings")?.integer,
              try connection.value("SELECT count(*) FROM ferry_operation")?.integer,
            ]
          }
        }
      }
      try save("before")
      disk.fail(at: disk.operations, code: 13, times: nil)
      let failure = #expect(throws: FerryError.self) { try save("lost") }
      #expect(failure?.code == .diskFull)
      #expect(failure?.hint.contains("Free some space") ?? false)
      #expect(try counts() == [1, 1])
      disk.fail(at: .max, code: 0)
      try save("after")
      #expect(try counts() == [2, 2])
      store.close()
    }

    /// Saves until the disk takes no more; gives the answer that says so.
    private func fillUp(_ business: Business, _ phone: Phone) async throws -> JSONNode {
      let flight = try business.value(
        "SELECT FlightID FROM Flights WHERE Status = 'planned' AND SeatsLeft > 20 LIMIT 1")
      for number in 5..<2_000 {
        let answer = try await phone.ask(
          """
          ["create","Bookings",{"agencyID":"AG-01","flightID":\(flight),"passenger":\
          "Passenger \(number)","cabin":"economy","seats":1,"note":"\(number)"}]
          """, mayFail: true)
        if answer["ok"]?.boolean != true { return answer }
        try #require(number < 12, "a full disk took \(number) changes")
      }
      throw WayFailure("the disk was never full")
    }

    @Test("A full disk of the business database is a failure that is retried, never a refusal")
    func businessFull() async throws {
      let place = try Place()
      guard let disk = try await SmallDisk.memory(place, "small", megabytes: 2) else {
        return SmallDisk.tellMissing(.none)
      }
      let business = try await Business.flights(bookings: 300, in: disk.path, place)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      try disk.fill()
      try await ada.book(0..<10, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("/health tells why nothing is done") {
        try await daemon.health().text.contains("has no room left")
      }
      try await until("the log tells it, with the cure") {
        daemon.process.errorLines.contains {
          $0.contains("the business system is unavailable") && $0.contains("Free space on its disk")
        }
      }
      #expect(try business.booked() == 0)
      #expect(ada.events("replayFailure").isEmpty)
      try disk.free()
      let seconds = try await until("all are done") {
        try business.booked() == 10
      }
      tell("the business database had room again: all done after \(seconds) s")
      try await Shores.agree(
        business, daemon, [ada], belongs: Shores.firstAgency(business))
      #expect(ada.events("replayFailure").isEmpty)
      #expect(ada.events("replayUnknown").isEmpty)
      try business.expectOnce(10)
    }

    @Test(
      "A store that was moved away is written by nobody; put back, all goes on",
      .reference("sync/P25"))
    func vanished() async throws {
      let business = try await Business.flights(bookings: 300)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let elsewhere = business.place.file("elsewhere")
      try FileManager.default.moveItem(atPath: daemon.data, toPath: elsewhere)
      try await ada.book(0..<3, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("/health says what is wrong") {
        let health = try await daemon.health()
        return health.status == 503 && health.code == "storeGone"
          && health.text.contains("Put it back")
      }
      #expect(try business.booked() == 0)
      try FileManager.default.moveItem(atPath: elsewhere, toPath: daemon.data)
      try await until("it is well again") { try await daemon.isHealthy() }
      try await until("all are done") { try business.booked() == 3 }
      // The same with the device's own file.
      let files = ["", "-wal", "-shm"]
      for file in files {
        try FileManager.default.moveItem(
          atPath: ada.database + file, toPath: ada.database + ".away" + file)
      }
      let flight = try business.value(
        "SELECT FlightID FROM Flights WHERE Status = 'planned' LIMIT 1")
      let answer = try await ada.ask(
        """
        ["create","Bookings",{"agencyID":"AG-01","flightID":\(flight),"passenger":"Passenger 99",\
        "cabin":"economy","seats":1}]
        """, mayFail: true)
      #expect(answer["ok"]?.boolean == false)
      #expect(answer["hint"]?.string?.contains("Put the file back") ?? false, "\(answer)")
      for file in files {
        try FileManager.default.moveItem(
          atPath: ada.database + ".away" + file, toPath: ada.database + file)
      }
      try await ada.book(3..<4, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("the device goes on") { try business.booked() == 4 }
      try await Shores.agree(
        business, daemon, [ada], belongs: Shores.firstAgency(business))
    }

    @Test("While the server's disk stands still /health answers and says so; then all goes on")
    func frozen() async throws {
      let business = try await Business.flights(bookings: 300)
      guard let disk = try await SmallDisk.freezable(business.place, "slow") else {
        return SmallDisk.tellMissing(.none, .fileDisk)
      }
      let daemon = try await Daemon.start(business, data: disk.file("data"))
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      try await disk.freeze()
      var slowest = 0.0
      do {
        try await ada.book(0..<3, business)
        try await ada.ask(#"["submitAll"]"#)
        try await until("/health says that the store is stuck") {
          let begin = Stopwatch()
          let health = try await daemon.health()
          slowest = max(slowest, begin.seconds)
          return health.status == 503 && health.code == "storeStuck"
        }
      } catch {
        try await disk.thaw()
        throw error
      }
      // It was told while the disk stood still: /health does not wait for it.
      try await disk.thaw()
      tell("the slowest answer of /health before a disk that stood still took \(slowest) s")
      try await until("it is well again") { try await daemon.isHealthy() }
      try await until("all are done") { try business.booked() == 3 }
      try await Shores.agree(
        business, daemon, [ada], belongs: Shores.firstAgency(business))
      try business.expectOnce(3)
      _ = try await daemon.stopInOrder()
    }
  }
}
