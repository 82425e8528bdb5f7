import FerryJSON
import Foundation
import Testing

extension Way {
  /// Spans of a running server, taken by a collector.
  @Suite struct SpanTests {
    private struct Received {
      let trace: String
      let id: String
      let parent: String?
      let name: String
      let kind: Int64
      let start: Int64
      let end: Int64
      let failure: String?
      let attributes: [String: String]

      init(_ node: JSONNode) throws {
        trace = try #require(node["traceId"]?.string)
        id = try #require(node["spanId"]?.string)
        parent = node["parentSpanId"]?.string
        name = try #require(node["name"]?.string)
        kind = try #require(node["kind"]?.integer)
        start = try #require(node["startTimeUnixNano"]?.string.flatMap { Int64($0) })
        end = try #require(node["endTimeUnixNano"]?.string.flatMap { Int64($0) })
        failure = node["status"]?["message"]?.string
        var attributes: [String: String] = [:]
        for attribute in node["attributes"]?.array ?? [] {
          attributes[attribute["key"]?.string ?? ""] = attribute["value"]?["stringValue"]?.string
        }
        self.attributes = attributes
      }
    }

    /// What a collector has taken.
    private func spans(_ collector: ChildProcess) throws -> [Received] {
      var spans: [Received] = []
      for line in collector.lines where line.hasPrefix("200 /v1/traces ") {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        #expect(words[2] == "application/json")
        let document = try JSONNode.parse(Array(words[3].utf8))
        for resource in document["resourceSpans"]?.array ?? [] {
          let service = resource["resource"]?["attributes"]?.array?.first
          #expect(service?["key"]?.string == "service.name")
          #expect(service?["value"]?["stringValue"]?.string == "ferryd")
          for scope in resource["scopeSpans"]?.array ?? [] {
            for node in scope["spans"]?.array ?? [] { spans.append(try Received(node)) }
          }
        }
      }
      return spans
    }

    private func collector() async throws -> (ChildProcess, Int) {
      let process = try ChildProcess(
        "/usr/bin/env", ["python3", "-B", "\(Programs.root)/Tests/Fixtures/collector.py"])
      let port = try await poll("the collector listens") { () -> Int? in
        guard process.isRunning else { throw WayFailure("no collector: \(process.errorText)") }
        return process.lines.first.flatMap { Int($0) }
      }
      return (process, port)
    }

    /// The metrics that a collector has taken last, by name.
    private func metrics(_ collector: ChildProcess) throws -> [String: JSONNode] {
      guard let line = collector.lines.last(where: { $0.hasPrefix("200 /v1/metrics ") }) else {
        return [:]
      }
      let words = line.split(separator: " ", maxSplits: 3).map(String.init)
      #expect(words[2] == "application/json")
      var found: [String: JSONNode] = [:]
      for resource in try JSONNode.parse(Array(words[3].utf8))["resourceMetrics"]?.array ?? [] {
        let service = resource["resource"]?["attributes"]?.array?.first
        #expect(service?["value"]?["stringValue"]?.string == "ferryd")
        for scope in resource["scopeMetrics"]?.array ?? [] {
          for node in scope["metrics"]?.array ?? [] { found[node["name"]?.string ?? ""] = node }
        }
      }
      return found
    }

    @Test(
      "A collector gets the metrics of /metrics; while it is away none are kept, and none is lost")
    func metricsSent() async throws {
      let business = try await Business.flights(bookings: 100)
      let (collector, port) = try await collector()
      defer { collector.kill() }
      let daemon = try await Daemon.start(
        business, more: ["--otlp", "http://127.0.0.1:\(port)", "--otlp-interval", "1"])
      try await daemon.ready()
      let key = try String(contentsOfFile: "\(daemon.data)/operator.key", encoding: .utf8)
      let text = try await Wires.get("\(daemon.address)/metrics", token: key).text
      let names = Set(text.matches(of: #/TYPE (\w+) /#).map { String($0.output.1) })
      try await until("the collector has metrics") { try !metrics(collector).isEmpty }
      #expect(try Set(metrics(collector).keys) == names)
      try collector.type("refuse")
      try await until("the collector has refused") {
        collector.lines.contains { $0.hasPrefix("503 /v1/metrics ") }
      }
      let phone = try await Phone.start(business, "phone", user: "ada", daemon.address)
      try await phone.book(0..<2, business)
      try await phone.ask(#"["submitAll"]"#)
      try await until("the bookings are there") { try business.booked() == 2 }
      try collector.type("take")
      func accepted() throws -> String? {
        let points = try metrics(collector)["ferry_operations_total"]?["sum"]?["dataPoints"]?.array
        return points?.first { point in
          point["attributes"]?.array?.contains { $0["value"]?["stringValue"]?.string == "accepted" }
            ?? false
        }?["asInt"]?.string
      }
      try await until("the sums have what happened meanwhile") { try accepted() == "2" }
      let all = try metrics(collector)
      let sum = try #require(all["ferry_operations_total"]?["sum"])
      #expect(sum["isMonotonic"]?.boolean == true && sum["aggregationTemporality"]?.integer == 2)
      let latency = try #require(
        all["ferry_store_latency_seconds"]?["histogram"]?["dataPoints"]?.array?.first)
      let buckets = (latency["bucketCounts"]?.array ?? []).compactMap {
        $0.string.flatMap { Int($0) }
      }
      #expect(buckets.count == (latency["explicitBounds"]?.array?.count ?? 0) + 1)
      #expect(buckets.allSatisfy { $0 >= 0 })
      #expect(latency["count"]?.string == "\(buckets.reduce(0, +))")
      let log = daemon.process.errorLines
      #expect(log.filter { $0.contains("metrics cannot be sent") }.count == 1)
      for (more, part) in [
        (["--otlp-interval", "5"], "--otlp-interval needs --otlp"),
        (["--otlp", "http://127.0.0.1:1", "--otlp-interval", "0"], "is not a number of seconds"),
      ] {
        let (end, text) = try await Daemon.refuse(
          Daemon.arguments(business, data: business.place.file("x"), more: more))
        #expect(end == .exit(2) && text.contains(part), "\(text)")
      }
      phone.process.kill()
    }

    @Test(
      "Spans of a traced save reach a collector, with the device's span as parent; while it refuses they wait"
    )
    func sent() async throws {
      let business = try await Business.flights(bookings: 100)
      let (collector, port) = try await collector()
      defer { collector.kill() }
      let daemon = try await Daemon.start(
        business, more: ["--otlp", "http://127.0.0.1:\(port)/"])
      try await daemon.ready()
      let phone = try await Phone.start(business, "phone", user: "ada", daemon.address)
      // Without a trace there is no span.
      try await phone.synchronize()
      #expect(try spans(collector).isEmpty)
      try collector.type("refuse")
      let id = try #require(try await phone.ask(#"["beginTrace"]"#)["trace"]?.string)
      try await phone.book(0..<1, business)
      try await phone.ask(#"["submitAll"]"#)
      try await until("the booking is there") { try business.booked() == 1 }
      try await until("the collector has refused") {
        collector.lines.contains { $0.hasPrefix("503 /v1/traces ") }
      }
      #expect(try spans(collector).isEmpty)
      try collector.type("take")
      let replay = try await poll("the span of the replay comes") { () -> Received? in
        try spans(collector).first { $0.name == "replay" }
      }
      let all = try spans(collector)
      let exchange = try #require(all.first { $0.id == replay.parent })
      #expect(replay.trace == id && replay.kind == 1 && replay.failure == nil)
      #expect(replay.attributes["ferry.entity"] == "Bookings")
      #expect(replay.attributes["ferry.kind"] == "create")
      #expect(exchange.trace == id && exchange.kind == 2 && exchange.name == "exchange")
      #expect(exchange.parent?.count == 16 && exchange.parent != "0000000000000000")
      #expect(exchange.attributes["ferry.operations"] == "1")
      for span in all {
        #expect(span.id.count == 16 && span.start > 0 && span.end >= span.start)
      }
      #expect(Set(all.map(\.id)).count == all.count)
      let log = daemon.process.errorLines
      #expect(log.filter { $0.contains("spans cannot be sent") }.count == 1)
      try await until("the log says that spans are sent again") {
        daemon.process.errorLines.contains { $0.contains("spans are sent to the collector again") }
      }
      let (end, text) = try await Daemon.refuse(
        Daemon.arguments(business, data: business.place.file("x"), more: ["--otlp", "collector"]))
      #expect(end == .exit(2) && text.contains("--otlp is not the address"), "\(text)")
      phone.process.kill()
    }
  }
}
