import FerryJSON
import FerryTestTraits
import Foundation
import Testing

extension Way {
  /// Disks that are slow, or break and turn read-only, while real processes work on them.
  @Suite struct FailingDiskTests {
    @Test(
      "On a disk that stands still again and again all is slower, and nothing is lost",
      .reference("sync/P25"))
    func slow() async throws {
      let business = try await Business.flights(bookings: 300)
      guard let disk = try await SmallDisk.freezable(business.place, "slow") else {
        return SmallDisk.tellMissing(.none, .fileDisk)
      }
      let daemon = try await Daemon.start(business, data: disk.file("data"))
      try await daemon.ready()
      let ada = try Phone(business, "slow/ada", daemon.address)
      try await ada.begin(user: "ada")
      let begin = Stopwatch()
      try await ada.book(0..<20, business)
      let quick = begin.time
      let slowness = try disk.slow(still: .milliseconds(150), moving: .milliseconds(20))
      var slowest = (create: Duration.zero, health: Duration.zero)
      var made = 20
      let pauses: Int
      do {
        // As many as it takes, however quick this machine is, until the disk stood still six times
        // and one of them had to wait for it: otherwise it was not slow, and nothing is shown.
        try await until("it stood still six times, and a save waited") {
          let asked = Stopwatch()
          try await ada.book(made..<made + 1, business)
          slowest.create = max(slowest.create, asked.time)
          made += 1
          if made % 10 == 0 { try await ada.ask(#"["submitAll"]"#) }
          return try slowness.pauses >= 6 && slowest.create > .milliseconds(100)
        }
        try await ada.ask(#"["submitAll"]"#)
        try await until("all are answered by a slow disk") {
          let asked = Stopwatch()
          let health = try await daemon.health()
          slowest.health = max(slowest.health, asked.time)
          #expect(health.status == 200, "\(health.text)")
          return try business.booked() == made
        }
        try await Shores.agree(
          business, daemon, [ada], belongs: Shores.firstAgency(business))
        pauses = try slowness.end()
      } catch {
        _ = try? slowness.end()
        throw error
      }
      tell(
        "20 creates on a quick disk: \(quick); \(made - 20) on one that stood still \(pauses) times, "
          + "the slowest \(slowest.create); the slowest /health \(slowest.health)")
      #expect(ada.events("replayUnknown").isEmpty)
      try business.expectOnce(made)
    }

    @Test("A server whose disk breaks says what to do; on a new disk with the old data all goes on")
    func serverBreaks() async throws {
      let business = try await Business.flights(bookings: 300)
      guard let disk = try await SmallDisk.breakable(business.place, "card") else {
        return SmallDisk.tellMissing(.none, .fileDisk)
      }
      let data = disk.disk.file("data")
      var daemon = try await Daemon.start(business, data: data)
      let port = daemon.port
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      try await ada.book(0..<20, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("some are done") { try business.booked() >= 3 }
      try await disk.snap()
      try await ada.book(20..<40, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("/health says what is wrong") {
        let health = try await daemon.health()
        return health.status == 503 && health.code == "storeFailing"
          && health.text.contains("another disk")
      }
      let before = try business.booked()
      try await until("the log says so") {
        daemon.process.errorLines.contains {
          $0.contains("the store cannot be used") && $0.contains("storeFailing")
        }
      }
      try await daemon.stopNow()
      try await disk.mend()
      daemon = try await Daemon.start(business, data: data, port: port)
      try await ada.ask(#"["network"]"#)
      let seconds = try await until("all are answered") {
        try business.booked() == 40 && Daemon.answered(data) >= 40
      }
      tell("the server's disk broke after \(before) of 40 creates; mended, all after \(seconds) s")
      try await Shores.agree(
        business, daemon, [ada], belongs: Shores.firstAgency(business))
      try business.expectOnce(40)
      _ = try await daemon.stopInOrder()
    }

    @Test(
      "A device whose disk breaks tells the app with the cure; what was saved is there",
      .reference("sync/P1"))
    func deviceBreaks() async throws {
      let business = try await Business.flights(bookings: 300)
      guard let disk = try await SmallDisk.breakable(business.place, "card") else {
        return SmallDisk.tellMissing(.none, .fileDisk)
      }
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let first = try Phone(business, "card/ada", daemon.address)
      try await first.begin(user: "ada")
      try await first.book(0..<5, business)
      try await first.ask(#"["submitAll"]"#)
      try await until("the server has them") { try business.booked() == 5 }
      try await disk.snap()
      let flight = try business.value(
        "SELECT FlightID FROM Flights WHERE Status = 'planned' LIMIT 1")
      let refused = try await first.ask(
        """
        ["create","Bookings",{"agencyID":"AG-01","flightID":\(flight),\
        "passenger":"Passenger 5","cabin":"economy","seats":1}]
        """, mayFail: true)
      #expect(refused["code"]?.string == "diskFailing", "\(refused)")
      #expect(refused["hint"]?.string?.contains("cannot write") ?? false, "\(refused)")
      try await first.process.killNow()
      try await disk.mend()
      let second = try Phone(business, "card/ada", daemon.address)
      try await second.ask(#"["start"]"#)
      try await second.ask(#"["submitAll"]"#)
      try await second.synchronize()
      try await Shores.agree(
        business, daemon, [second], belongs: Shores.firstAgency(business))
      try business.expectOnce(5)
    }
  }
}
