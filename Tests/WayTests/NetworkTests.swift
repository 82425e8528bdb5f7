import FerryModel
import FerryTestTraits
import Foundation
import Testing

extension Way {
  /// The network as it is: real sockets, with everything that happens to bytes on their way.
  @Suite struct NetworkTests {
    @Test(
      "Through cut, late, doubled and throttled bytes nothing is lost or done twice",
      .reference("sync/P25", "sync/P26"),
      arguments: [UInt64(1), 2])
    func storm(seed: UInt64) async throws {
      let business = try await Business.flights(bookings: 400)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let network = try RoughNetwork(before: daemon, seed: seed)
      let ada = try await Phone.start(
        business, "ada", user: "ada", network.address, silence: 4)
      let dora = try await Phone.start(
        business, "dora", user: "dora", network.address, silence: 4)
      network.set(
        RoughNetwork.Weather(
          delayMilliseconds: 20, bytesPerSecond: 200_000, cuts: 60, doubles: 60, turnedAway: 15,
          stalls: 5))
      // Sixty, and more where the dice have not yet thrown a cut and a double.
      var count = 0
      while count < 60 || network.counts.cuts == 0 || network.counts.doubles == 0 {
        let number = count
        count += 1
        try await (number % 2 == 0 ? ada : dora).book(number..<(number + 1), business)
        if number % 5 == 4 {
          try await ada.ask(#"["submitAll"]"#)
          try await dora.ask(#"["submitAll"]"#)
          try business.run(
            "UPDATE Flights SET Price = Price + 1 WHERE FlightID % 7 = \(number % 7)")
        }
        pauseOfThread()
      }
      for phone in [ada, dora] { try await phone.ask(#"["submitAll"]"#) }
      let begin = Stopwatch()
      network.set(.calm)
      try await settled(count, business, daemon, [ada, dora])
      let counts = network.counts
      tell(
        "storm \(seed): \(counts.connections) connections, \(counts.turnedAway) turned away, "
          + "\(counts.cuts) cut, \(counts.doubles) doubled, \(counts.stalls) stalled pieces; equal "
          + "\(begin.time) after it")
    }

    @Test("Connections that are taken and never answered are given up, and devices come back")
    func halfOpen() async throws {
      let business = try await Business.flights(bookings: 300)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let network = try RoughNetwork(before: daemon)
      let ada = try await Phone.start(
        business, "ada", user: "ada", network.address, silence: 4)
      // The other end of all that is open vanishes without a FIN, and what comes new is half open.
      let before = network.counts.connections
      network.set(RoughNetwork.Weather(isHalfOpen: true))
      network.vanish()
      try await ada.book(0..<5, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("the device has given one up and tried another") {
        network.counts.connections > before
      }
      network.set(.calm)
      // With 4 s of silence instead of 40: once more that, and a pause of some seconds.
      let seconds = try await until("what waited is done") {
        try business.booked() == 5
      }
      tell("after half-open connections the device was back within \(seconds) s")
      try await settled(5, business, daemon, [ada])
    }

    @Test(
      "With a tenth of all packets lost everything arrives, once",
      .reference("sync/P25", "sync/P26"))
    func loss() async throws {
      let business = try await Business.flights(bookings: 300)
      let name = "ferry-\(getpid())"
      let isMade = await Namespace.make(name, lossPercent: 10)
      defer { Namespace.remove(name) }
      guard isMade else {
        return tellNotShown(
          .network, "it needs ip netns and nft, as root; NetworkTests.lossByProxy stands in")
      }
      let daemon = try await Daemon.start(business, prefix: Namespace.prefix(name))
      let ada = try Phone(business, "ada", daemon.address, prefix: Namespace.prefix(name))
      let dora = try Phone(business, "dora", daemon.address, prefix: Namespace.prefix(name))
      try await ada.begin(user: "ada")
      try await dora.begin(user: "dora")
      let begin = Stopwatch()
      try await work(40, business, ada, dora)
      try await settled(40, business, daemon, [ada, dora])
      let dropped = await Namespace.dropped(name)
      #expect(dropped > 0, "no packet was lost")
      tell(
        "40 creates over 10 % lost packets: equal after \(begin.time); "
          + "\(dropped) packets were dropped")
    }

    @Test(
      "With a tenth of the connections turned away and of the pieces late everything arrives, once")
    func lossByProxy() async throws {
      let business = try await Business.flights(bookings: 300)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let network = try RoughNetwork(
        before: daemon, RoughNetwork.Weather(turnedAway: 10, stalls: 10))
      let ada = try await Phone.start(business, "ada", user: "ada", network.address)
      let dora = try await Phone.start(business, "dora", user: "dora", network.address)
      let begin = Stopwatch()
      try await work(40, business, ada, dora)
      try await settled(40, business, daemon, [ada, dora])
      let counts = network.counts
      #expect(counts.stalls > 0, "no piece was late")
      tell(
        "40 creates through that proxy: equal after \(begin.time); "
          + "\(counts.turnedAway) connections turned away, \(counts.stalls) pieces late")
    }

    @Test("A thousand clients that feed a byte a second keep nobody else waiting", .alone)
    func drip() async throws {
      let business = try await Business.flights(bookings: 500)
      // Feeders and devices have one address here, which would have its share of connections.
      let daemon = try await Daemon.start(business, more: ["--connections-per-address", "2048"])
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let ben = try await Phone.start(business, "ben", user: "ben", daemon.address)
      let health = try await healthTimes(daemon)
      let delta = try await deltaTimes(business, ada, ben)
      let before = (threads: daemon.process.threadCount, bytes: residentKilobytes(daemon))
      let feeders = DripFeeders(1_000, port: daemon.port)
      try await until("a thousand are connected") { feeders.connected >= 990 }
      let healthUnder = try await healthTimes(daemon)
      let deltaUnder = try await deltaTimes(business, ada, ben)
      // Long enough for the first heads to meet their deadline of 15 s.
      try await until("the server has cut some") { feeders.cut > 100 }
      let healthAgain = try await healthTimes(daemon)
      let under = (threads: daemon.process.threadCount, bytes: residentKilobytes(daemon))
      feeders.stop()
      tell("/health alone: \(health.text)")
      tell(
        "/health beside 1,000 drip feeders: \(healthUnder.text); while they are cut: \(healthAgain.text)"
      )
      tell("a change from device to device alone: \(delta.text); beside them: \(deltaUnder.text)")
      tell(
        "threads \(before.threads) -> \(under.threads), resident \(before.bytes) KB -> "
          + "\(under.bytes) KB, \(feeders.cut) connections cut")
      // Whoever waits for a feeder waits for its deadline: 15 s for a head, 60 s for a body. A server
      // that looks at each of them for each request takes longer than on its own by far.
      let limit = max(health.at(0.99) * 50, .seconds(5))
      #expect(healthUnder.at(0.99) < limit)
      #expect(healthAgain.at(0.99) < limit)
      #expect(deltaUnder.at(0.5) < max(delta.at(0.5) * 20, .seconds(5)))
      #expect(under.threads <= Daemon.mostThreads)
      #expect(under.bytes - before.bytes < 64 * 1_024)
      try await Shores.agree(business, daemon, [ada, ben], belongs: Shores.firstAgency(business))
    }

    private func healthTimes(_ daemon: Daemon) async throws -> Quantiles {
      var times: [Duration] = []
      for _ in 0..<200 {
        let begin = Stopwatch()
        let reply = try await daemon.health()
        #expect(reply.status == 200)
        times.append(begin.time)
      }
      return Quantiles(times)
    }

    /// From submit on one device to sight on another.
    private func deltaTimes(
      _ business: Business, _ from: Phone, _ to: Phone
    ) async throws -> Quantiles {
      let key = String(
        try business.value(
          """
          SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
          WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
          """))
      var times: [Duration] = []
      for number in 0..<20 {
        let text = "T\(number)-\(times.count)-\(UInt32.random(in: 0...9_999_999))"
        try await from.update("Bookings", key, #"{"passenger":"\#(text)"}"#)
        let begin = Stopwatch()
        try await from.submit("Bookings", key)
        try await until("it is on the other device") {
          try await to.text("Bookings", key, "passenger") == text
        }
        times.append(begin.time)
        try await until("it is answered") {
          try await from.show("Bookings", key)["pending"]?.string == "N"
        }
      }
      return Quantiles(times)
    }

    private func residentKilobytes(_ daemon: Daemon) -> Int {
      let text =
        (try? String(contentsOfFile: "/proc/\(daemon.process.id)/status", encoding: .utf8)) ?? ""
      let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS") } ?? ""
      return Int(line.filter(\.isNumber)) ?? 0
    }

    private func work(
      _ count: Int, _ business: Business, _ ada: Phone, _ dora: Phone
    ) async throws {
      for number in 0..<count {
        try await (number % 2 == 0 ? ada : dora).book(number..<(number + 1), business)
        if number % 4 == 3 {
          try await ada.ask(#"["submitAll"]"#)
          try await dora.ask(#"["submitAll"]"#)
        }
      }
    }

    /// All is there once, and all shores agree; nobody was started again, asked for anything or told of
    /// the network.
    private func settled(
      _ count: Int, _ business: Business, _ daemon: Daemon, _ phones: [Phone]
    ) async throws {
      try await until("all are done") {
        try business.booked() == count
      }
      let firstAgency = Shores.firstAgency(business)
      for phone in phones {
        let seesAll = phone.database.contains("dora")
        try await Shores.agree(business, daemon, [phone]) { entity, values in
          seesAll || firstAgency(entity, values)
        }
      }
      try business.expectOnce(count)
      #expect(phones.allSatisfy { $0.events("replayUnknown").isEmpty })
    }
  }
}
