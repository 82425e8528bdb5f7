import FerrySQLite
import Foundation
import Testing

extension Way {
  /// `/metrics` of a running server, and the alerts that are made of them.
  @Suite struct MetricsTests {
    /// The samples of an answer, by their name and labels.
    private func samples(_ text: String) throws -> [String: Double] {
      var samples: [String: Double] = [:]
      for line in text.split(separator: "\n") where !line.hasPrefix("#") {
        let parts = line.split(separator: " ")
        try #require(parts.count == 2, "no sample: \(line)")
        let name = String(parts[0])
        #expect(name.hasPrefix("ferry_") && name.hasSuffix("}"), "\(line)")
        #expect(samples[name] == nil, "twice: \(line)")
        let value: Double = try #require(Double(parts[1]), "no number: \(line)")
        samples[name] = value
      }
      return samples
    }

    /// The metrics that a text declares, with their kinds.
    private func declared(_ text: String) -> [String: String] {
      var found: [String: String] = [:]
      for line in text.split(separator: "\n") where line.hasPrefix("# TYPE ") {
        let words = line.split(separator: " ")
        found[String(words[2])] = String(words[3])
      }
      return found
    }

    private func names(in text: String) -> Set<String> {
      Set(text.matches(of: #/ferry_[a-z_]+/#).map { String($0.output) })
    }

    @Test(
      "Polls, replays, refusals, lag and the age of a delivered change are counted; the key opens them"
    )
    func counted() async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let url = "\(daemon.address)/metrics"
      #expect(try await Wires.get(url).status == 401)
      let key = try String(contentsOfFile: "\(daemon.data)/operator.key", encoding: .utf8)
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      try await ada.book(0..<3, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("they are done") { try business.booked() == 3 }
      // A change of others goes over the open channel.
      try business.run(
        """
        UPDATE Bookings SET Passenger = 'By Others' WHERE BookingID =
          (SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
           WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1)
        """)
      let package = business.package.id
      let label = #"package="\#(package)""#
      var text = ""
      try await until("the change was delivered, and the lag is small again") {
        let reply = try await Wires.get(url, token: key)
        text = reply.text
        let now = try samples(text)
        return now["ferry_delivery_age_seconds_count{\(label)}"] ?? 0 >= 1
          && now["ferry_channels{\(label)}"] ?? 0 >= 1
          && now["ferry_capture_lag_seconds{\(label)}"] ?? 99 < 5
          && now["ferry_waiting_operations{\(label)}"] == 0
      }
      let found = try samples(text)
      #expect(found[#"ferry_operations_total{\#(label),outcome="accepted"}"#] == 3)
      #expect(found[#"ferry_operations_total{\#(label),outcome="unknown"}"#] == 0)
      #expect(found["ferry_polls_total{\(label)}"] ?? 0 >= 1)
      #expect(found["ferry_channels_opened_total{\(label)}"] ?? 0 >= 1)
      #expect(found["ferry_replay_age_seconds{\(label)}"] == 0)
      #expect(found["ferry_loaded{\(label)}"] == 1)
      #expect(found["ferry_store_trouble{\(label)}"] == 0)
      #expect(found["ferry_load_age_seconds{\(label)}"] ?? -1 >= 0)
      #expect(found["ferry_store_latency_seconds_count{\(label)}"] ?? 0 >= 2)
      #expect(found[#"ferry_requests_refused_total{code="notOperator"}"#] == 1)
      let most = found[#"ferry_delivery_age_seconds_bucket{\#(label),le="15.0"}"#]
      #expect(most == found["ferry_delivery_age_seconds_count{\(label)}"])
      // Counters are named as counters.
      let kinds = declared(text)
      for (name, kind) in kinds {
        #expect(name.hasSuffix("_total") == (kind == "counter"), "\(name)")
      }
      // The alerts and the page name these metrics and no others.
      let root = Programs.root
      let alerts = try String(
        contentsOfFile: "\(root)/Samples/prometheus/alerts.yml", encoding: .utf8)
      let titles = alerts.matches(of: #/- alert: (\w+)/#).map { String($0.output.1) }
      #expect(titles.count == 10)
      let board = try String(
        contentsOfFile: "\(root)/Samples/grafana/ferry.json", encoding: .utf8)
      for text in [alerts, board] {
        let used = names(in: text).map { name in
          name.hasSuffix("_bucket") ? String(name.dropLast(7)) : name
        }
        #expect(!used.isEmpty && Set(used).isSubset(of: kinds.keys), "\(used)")
      }
      let shown = Set(names(in: board).map { $0.replacing("_bucket", with: "") })
      #expect(shown == Set(kinds.keys), "the dashboard shows every metric")
      let page = try String(contentsOfFile: "\(root)/Documentation/Metrics.md", encoding: .utf8)
      #expect(names(in: page) == Set(kinds.keys))
      for title in titles { #expect(page.contains("| `\(title)` | "), "\(title)") }
      try await ada.quit()
    }
  }
}
