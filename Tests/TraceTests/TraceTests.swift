import FerryJSON
import FerryTestTraits
import FerryTrace
import FerryWorld
import Foundation
import Synchronization
import Testing

final class StepClock: WorldClock {
  private let state = Mutex<(now: Int64, uptime: Duration)>((0, .zero))
  /// Each look is a millisecond later than the one before.
  var now: Timestamp {
    state.withLock {
      $0.now += 1
      return Timestamp(milliseconds: $0.now)
    }
  }
  var uptime: Duration { state.withLock { $0.uptime } }
  func pass(_ duration: Duration) { state.withLock { $0.uptime += duration } }
}

final class Counting: Chance {
  private let last = Mutex<UInt64>(0)
  func next() -> UInt64 {
    last.withLock {
      $0 += 1
      return $0 &* 0x0101_0101_0101_0101
    }
  }
}

final class KeptLog: Log {
  private let state = Mutex<[String]>([])
  var lines: [String] { state.withLock { $0 } }
  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    state.withLock { $0.append(message + fields.map { " \($0.0)=\($0.1)" }.joined()) }
  }
}

struct NoAnswer: Error {}

final class Collector: TraceReceiver {
  private let state = Mutex<(bodies: [String], status: Int)>(([], 200))
  var bodies: [String] { state.withLock { $0.bodies } }
  func answer(_ status: Int) { state.withLock { $0.status = status } }
  func send(_ body: [UInt8], contentType: String) async throws -> Int {
    try state.withLock { state in
      guard state.status != 0 else { throw NoAnswer() }
      state.bodies.append(contentType + "\n" + String(decoding: body, as: UTF8.self))
      return state.status
    }
  }
}

func makeTrace() -> TraceController {
  TraceController(world: World(clock: StepClock(), chance: Counting(), log: SilentLog()))
}

/// The code of the error that a call throws.
func code<Result>(_ body: () throws(TraceError) -> Result) -> TraceError.Code? {
  do throws(TraceError) {
    _ = try body()
    return nil
  } catch {
    return error.code
  }
}

@Suite("Traces")
struct TraceTests {
  @Test(
    "Off by default; each call without a start is E2E_NOT_STARTED",
    .reference("ios/RST-7", "ios/TRC-2", "adr/RST-18", "adr/PAS-1")
  )
  func notStarted() async {
    let trace = makeTrace()
    #expect(!trace.isOn)
    #expect(code { () throws(TraceError) in try trace.createStep() } == .notStarted)
    #expect(code { () throws(TraceError) in try trace.createRequest() } == .notStarted)
    #expect(code { () throws(TraceError) in try trace.stop() } == .notStarted)
    #expect(code { () throws(TraceError) in try trace.record() } == .notStarted)
    let collector = Collector()
    let error = await #expect(throws: TraceError.self) { try await trace.upload(to: collector) }
    #expect(error?.code.referenceName == "E2E_NOT_STARTED" && collector.bodies.isEmpty)
    trace.start()
    #expect(trace.isOn)
    #expect(code { () throws(TraceError) in try trace.stop() } == nil && !trace.isOn)
    #expect(code { () throws(TraceError) in try trace.stop() } == .notStarted)
  }

  @Test(
    "Levels are 0 to 3, medium at first; a running trace keeps its own",
    .reference("ios/RST-6", "ios/TRC-1", "ios/TRC-8", "adr/BTX-5")
  )
  func levels() throws {
    #expect(TraceLevel.allCases.map(\.rawValue) == [0, 1, 2, 3])
    #expect(TraceLevel.medium.rawValue == 2)
    let trace = makeTrace()
    #expect(trace.level == .medium)
    trace.start()
    trace.level = .high
    #expect(try trace.record().level == .medium)
    _ = try trace.createStep()
    let running = try trace.createRequest()
    #expect(running.passport.flags == TraceLevel.medium.flags)
    #expect(try Passport(header: running.headers[0].value).flags == TraceLevel.medium.flags)
    trace.level = .clientOnly
    #expect(try trace.createRequest().headers[2].value.hasSuffix("-01"))
    trace.level = .high
    trace.start()
    _ = try trace.createStep()
    let request = try trace.createRequest()
    #expect(try trace.record().level == .high)
    #expect(request.passport.flags == TraceLevel.high.flags)
    #expect(Set([TraceLevel.low, .medium, .high].map(\.flags)).count == 3)
  }

  @Test(
    "One root id for the session, another id for each request",
    .reference("ios/TRC-4", "ios/TRC-5", "adr/BTX-1", "adr/BTX-3"))
  func ids() throws {
    let trace = makeTrace()
    let root = trace.start()
    _ = try trace.createStep()
    let first = try trace.createRequest()
    _ = try trace.createStep()
    let second = try trace.createRequest()
    #expect(first.rootID == root && second.rootID == root)
    #expect(first.id != second.id && first.spanID != second.spanID)
    #expect(trace.start() != root)
    #expect(!first.markSending())
  }

  @Test(
    "A passport is 230 bytes of version 3 and reads back; the headers carry it",
    .reference("ios/TRC-4", "ios/CS-32", "adr/BTX-1", "adr/A21")
  )
  func passport() throws {
    let passport = Passport(Counting(), componentName: "Flights", action: "GET /é", user: "anna")
    let header = passport.header
    #expect(header.count == 460 && header.hasPrefix("2A54482A0300E6890D466C6967687473"))
    #expect(header.hasSuffix("2A54482A"))
    #expect(try Passport(header: header) == passport)
    #expect(try Passport(header: header.lowercased()) == passport)
    #expect(passport.correlationID == passport.transactionID.hexadecimal)
    let long = Passport(Counting(), action: String(repeating: "é", count: 30))
    #expect(try Passport(header: long.header).action == String(repeating: "é", count: 20))
    let trace = makeTrace()
    trace.start()
    _ = try trace.createStep()
    let request = try trace.createRequest()
    #expect(request.headers.map(\.name) == ["SAP-PASSPORT", "X-CorrelationID", "traceparent"])
    #expect(request.headers[0].value == request.passport.header)
    #expect(request.headers[1].value == request.id.hexadecimal)
    #expect(
      request.headers[2].value == "00-\(request.rootID.hexadecimal)-\(request.spanID)-01")
  }

  @Test("A passport that is cut or has a digit changed is an error by name or reads back")
  func badPassports() throws {
    let header = Passport(Counting()).header
    for end in 0..<header.count {
      #expect(
        code { () throws(TraceError) in try Passport(header: String(header.prefix(end))) }
          == .invalidPassport)
    }
    let digits = Array(header)
    for place in digits.indices {
      var changed = digits
      changed[place] = changed[place] == "F" ? "0" : "F"
      if let read = try? Passport(header: String(changed)) { #expect(read.header.count == 460) }
      changed[place] = "x"
      #expect(
        code { () throws(TraceError) in try Passport(header: String(changed)) } == .invalidPassport)
    }
    let version = header.replacingOccurrences(of: "2A54482A03", with: "2A54482A04")
    #expect(code { () throws(TraceError) in try Passport(header: version) } == .invalidPassport)
  }

  @Test(
    "Steps with actions and requests with four marks, in their order",
    .reference("ios/TRC-10", "ios/TRC-11", "ios/TRC-12", "ios/CS-33", "adr/BTX-4")
  )
  func marks() throws {
    let trace = makeTrace()
    trace.start(name: "Book", clientHost: "phone")
    let step = try trace.createStep()
    #expect(step.addUIAction("tap"))
    let request = try trace.createRequest()
    #expect(
      request.markSending() && request.markSent() && request.markReceiving()
        && request.markReceived() && request.end())
    #expect(!request.markSending() && !request.end() && !request.update(["a": "b"]))
    #expect(step.end() && !step.end() && !step.addUIAction("late"))
    #expect(code { () throws(TraceError) in try trace.createRequest() } == .noStep)
    let record = try #require(try trace.record().steps.first?.requests.first)
    let moments = [
      record.started, record.sending, record.sent, record.receiving, record.received, record.ended,
    ].compactMap { $0?.milliseconds }
    #expect(moments.count == 6 && moments == moments.sorted() && Set(moments).count == 6)
  }

  @Test("A stop ends all that is open; a new step ends the one before")
  func stop() throws {
    let trace = makeTrace()
    trace.start()
    let first = try trace.createStep()
    let second = try trace.createStep()
    let request = try trace.createRequest()
    #expect(!first.end())
    try trace.stop()
    let record = try trace.record()
    #expect(record.ended != nil && record.steps.allSatisfy { $0.ended != nil })
    #expect(record.steps[1].requests[0].ended != nil)
    #expect(!request.markSent() && !second.end())
  }

  @Test(
    "A request is found by its passport and by the app's own key",
    .reference("ios/TRC-6", "ios/TRC-7"))
  func find() throws {
    let trace = makeTrace()
    trace.start()
    _ = try trace.createStep()
    _ = try trace.createRequest()
    _ = try trace.createStep()
    let request = try trace.createRequest()
    #expect(request.setSearchKey("order", "17") && request.update(["status": "200"]))
    #expect(request.update(["status": "404", "sentBytes": "12"]))
    let place = TraceLocation(step: 2, request: 1)
    #expect(request.location == place && trace.find(passport: request.passport.header) == place)
    #expect(trace.find(key: "order", value: "17") == place && trace.find(value: "17") == place)
    #expect(trace.find(key: "other", value: "17") == nil && trace.find(passport: "") == nil)
    #expect(
      try trace.record().steps[1].requests[0].elements == ["status": "404", "sentBytes": "12"])
  }

  @Test(
    "The document has what was traced, with signs of XML escaped",
    .reference("ios/TRC-9", "adr/BTX-6", "adr/BTX-7", "adr/A22", "adr/A23")
  )
  func document() throws {
    let trace = makeTrace()
    trace.start(name: "<Book> & \"go\"\u{1}", clientHost: "phone")
    let step = try trace.createStep()
    step.addUIAction("tap")
    let request = try trace.createRequest()
    request.update(["request": "GET /Flights", "status": "200"])
    let (id, passport) = (request.id.hexadecimal, request.passport.header)
    try trace.stop()
    let record = try trace.record()
    #expect(
      BusinessTransactionDocument.xml(record) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <businessTransaction xmlns="urn:ferry:business-transaction:1" id="\(record.rootID.hexadecimal)" name="&lt;Book&gt; &amp; &quot;go&quot;\u{FFFD}" clientHost="phone" level="2" started="1" ended="6">
          <step number="1" started="2" ended="6">
            <action name="tap"/>
            <request id="\(id)" passport="\(passport)" started="4" ended="6">
              <element name="request" value="GET /Flights"/>
              <element name="status" value="200"/>
            </request>
          </step>
        </businessTransaction>

        """)
  }

  @Test(
    "The same trace as spans of OTLP: one trace id, parents before children",
    .reference("ios/TRC-9"))
  func spans() throws {
    let trace = makeTrace()
    trace.start(name: "Book", clientHost: "phone")
    _ = try trace.createStep()
    _ = try trace.createRequest()
    try trace.stop()
    let bytes = TraceSpans.otlp(try trace.record(), service: "flights")
    let whole = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    let resource = try #require((whole["resourceSpans"] as? [[String: Any]])?.first)
    let scope = try #require((resource["scopeSpans"] as? [[String: Any]])?.first)
    let spans = try #require(scope["spans"] as? [[String: Any]])
    #expect(spans.compactMap { $0["name"] as? String } == ["Book", "step 1", "request"])
    #expect(Set(spans.compactMap { $0["traceId"] as? String }).count == 1)
    #expect(spans[0]["parentSpanId"] == nil)
    #expect(spans[1]["parentSpanId"] as? String == spans[0]["spanId"] as? String)
    #expect(spans[2]["parentSpanId"] as? String == spans[1]["spanId"] as? String)
    #expect(spans[0]["startTimeUnixNano"] as? String == "1000000")
    #expect(spans[2]["kind"] as? Int == 3)
  }

  @Test(
    "An upload answers with the status; others than 2xx and no answer are BTX_UPLOAD_ERROR",
    .reference("ios/RST-8", "ios/TRC-3", "ios/CS-69", "adr/TRC-2", "adr/BTX-8")
  )
  func upload() async throws {
    let trace = makeTrace()
    let collector = Collector()
    trace.start()
    try trace.stop()
    collector.answer(201)
    #expect(try await trace.upload(to: collector) == 201)
    #expect(collector.bodies.first?.hasPrefix("application/xml\n<?xml") == true)
    for status in [0, 199, 300, 503] {
      collector.answer(status)
      let error = await #expect(throws: TraceError.self) { try await trace.upload(to: collector) }
      #expect(error?.code.referenceName == "BTX_UPLOAD_ERROR")
      #expect(status == 0 || error?.message.contains("\(status)") == true)
    }
    collector.answer(200)
    #expect(try await trace.upload(to: collector) == 200)
  }

  @Test("Four readings and the two differences", .reference("ios/PRF-1", "adr/PER-1", "adr/PER-2"))
  func readings() {
    let readings = TraceReadings(
      endToEnd: .milliseconds(100), online: .milliseconds(90), forwarded: .milliseconds(70),
      network: .milliseconds(50))
    #expect(readings.lines == ["E2E:RR 100", "ODP:RR 90", "IMO:RR 70", "Network:RR 50"])
    #expect(readings.messagingClientTime == .milliseconds(20))
    #expect(readings.proxyClientTime == .milliseconds(10))
  }

  @Test("The timer counts nanoseconds and says milliseconds", .reference("ios/PRF-3"))
  func timer() {
    let clock = StepClock()
    var timer = TraceTimer(world: World(clock: clock, chance: Counting(), log: SilentLog()))
    clock.pass(.seconds(5))
    #expect(timer.elapsed == .zero)
    timer.start()
    clock.pass(.nanoseconds(1_999_999))
    #expect(timer.elapsed == .nanoseconds(1_999_999) && timer.elapsedMilliseconds == 1)
    timer.start()
    clock.pass(.nanoseconds(1))
    #expect(timer.elapsed == .nanoseconds(1))
    timer.reset()
    #expect(timer.elapsed == .zero && timer.elapsedMilliseconds == 0)
  }

  @Test("Request 10,001 of a trace is an error by name; what was traced stays")
  func full() throws {
    let trace = makeTrace()
    trace.start()
    _ = try trace.createStep()
    for _ in 0..<TraceController.requestLimit { _ = try trace.createRequest() }
    #expect(code { () throws(TraceError) in try trace.createRequest() } == .full)
    #expect(try trace.record().steps[0].requests.count == 10_000)
    trace.start()
    _ = try trace.createStep()
    #expect(code { () throws(TraceError) in try trace.createRequest() } == nil)
  }
}
