import FerryHTTP
import FerryHTTPClient
import FerryLogger
import FerryTelemetry
import FerryTestTraits
import FerryTrace
import FerryWorld
import Synchronization
import Testing

/// A body in given pieces; broken at the end if it is to be.
final class GivenBody: TransportBody {
  private let pieces: Mutex<[[UInt8]]>
  private let isCut: Bool
  init(_ pieces: [[UInt8]], isCut: Bool) {
    self.pieces = Mutex(pieces)
    self.isCut = isCut
  }
  func next() async throws(TransportError) -> [UInt8]? {
    if let piece = pieces.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return piece }
    if isCut { throw TelemetryTests.broken }
    return nil
  }
  func cancel() {}
}

/// Keeps what it is given and answers with one status.
final class GivenTransport: Transport {
  let requests = Mutex<[TransportRequest]>([])
  private let status: Int?
  private let isCut: Bool
  init(status: Int?, isCut: Bool = false) {
    self.status = status
    self.isCut = isCut
  }
  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    requests.withLock { $0.append(request) }
    guard let status else { throw TelemetryTests.broken }
    return TransportResponse(
      status: status, headers: [:], body: GivenBody([[1, 2], [3]], isCut: isCut))
  }
}

@Suite("Requests in a trace")
struct TelemetryTests {
  static let broken = TransportError(
    code: .cut, message: "the line is cut", hint: "try again", isTransient: true,
    requestWasSent: true)

  private func controller() -> TraceController { TraceController(world: .system()) }

  @Test(
    "While no trace runs a request is as it was, and nothing is kept",
    .reference("ios/TRC-14", "adr/PAS-1"))
  func off() async throws {
    let (trace, transport) = (controller(), GivenTransport(status: 200))
    let traced = TracedTransport(transport, trace: trace)
    let body = try await traced.send(TransportRequest(url: "http://h/A?b=c")).body
    #expect(try await body.collect() == [1, 2, 3])
    #expect(transport.requests.withLock { $0[0].headers.fields.isEmpty })
    #expect(throws: TraceError.self) { try trace.record() }
  }

  @Test(
    "Each request has its own passport and ids, and is recorded with times and sizes",
    .reference("ios/TRC-14", "ios/TRC-1", "adr/BTX-2", "adr/BTX-4")
  )
  func on() async throws {
    let (trace, transport) = (controller(), GivenTransport(status: 201))
    let traced = TracedTransport(transport, trace: trace)
    let root = trace.start(name: "Book")
    try trace.createStep()
    for _ in 0..<2 {
      let request = TransportRequest(
        url: "http://h/A?secret=1", method: .post, headers: ["X-CorrelationID": "own"], body: [9])
      #expect(try await traced.send(request).body.collect() == [1, 2, 3])
    }
    let sent = transport.requests.withLock { $0 }
    let passports = try sent.map { try Passport(header: try #require($0.headers["SAP-PASSPORT"])) }
    #expect(passports.map(\.rootID) == [root, root])
    #expect(passports[0].transactionID != passports[1].transactionID)
    #expect(sent[0].headers["X-CorrelationID"] == "own")
    let parents = try sent.map { try #require($0.headers["traceparent"]) }
    #expect(parents.allSatisfy { $0.hasPrefix("00-\(root.hexadecimal)-") && $0.hasSuffix("-01") })
    let records = try trace.record().steps.flatMap(\.requests)
    #expect(records.count == 2)
    for record in records {
      #expect(
        record.elements == [
          "method": "POST", "url": "http://h/A", "sentBytes": "1", "status": "201",
          "receivedBytes": "3",
        ])
      #expect(record.readings != nil)
    }
  }

  @Test("A line that is cut, before or inside the answer, ends the request with its error")
  func cut() async throws {
    let trace = controller()
    trace.start()
    for transport in [GivenTransport(status: nil), GivenTransport(status: 200, isCut: true)] {
      await #expect(throws: TransportError.self) {
        let traced = TracedTransport(transport, trace: trace)
        _ = try await traced.send(TransportRequest(url: "http://h/")).body.collect()
      }
    }
    // A body that nobody reads ends with its reader.
    _ = try await TracedTransport(GivenTransport(status: 200), trace: trace).send(
      TransportRequest(url: "http://h/"))
    let records = try trace.record().steps.flatMap(\.requests)
    #expect(records.map { $0.elements["error"] } == ["cut", "cut", nil])
    #expect(records.allSatisfy { $0.ended != nil && $0.readings == nil })
  }

  @Test("A trace that is full lets requests through untraced")
  func full() async throws {
    let (trace, transport) = (controller(), GivenTransport(status: 200))
    trace.start()
    try trace.createStep()
    for _ in 0..<TraceController.requestLimit { _ = try trace.createRequest() }
    _ = try await TracedTransport(transport, trace: trace).send(TransportRequest(url: "http://h/"))
    #expect(transport.requests.withLock { $0[0].headers["traceparent"] } == nil)
  }

  @Test("At level 0 headers ask no server to trace", .reference("ios/TRC-8"))
  func clientOnly() async throws {
    let (trace, transport) = (controller(), GivenTransport(status: 200))
    trace.level = .clientOnly
    trace.start()
    _ = try await TracedTransport(transport, trace: trace).send(TransportRequest(url: "http://h/"))
    #expect(transport.requests.withLock { $0[0].headers["traceparent"]?.hasSuffix("-00") } == true)
  }

  @Test(
    "A function of the app takes each body; where it throws, the records stay",
    .reference("adr/SV-35"))
  func function() async throws {
    let taken = Mutex<[String]>([])
    let isAway = Mutex(true)
    let receiver = FunctionReceiver { _, type in
      if isAway.withLock({ $0 }) { throw CancellationError() }
      taken.withLock { $0.append(type) }
    }
    let upload = LogUpload(to: receiver)
    let log = DeviceLog(world: .system(), handlers: [upload])
    log.level = .info
    for number in 0..<3 { log.info("record \(number)", tag: "a") }
    await #expect(throws: LogError.self) { try await upload.upload() }
    #expect(upload.count == 3)
    isAway.withLock { $0 = false }
    #expect(try await upload.upload() == 3 && upload.count == 0)
    #expect(taken.withLock { $0 } == ["application/gzip"])
    let trace = TraceController(world: .system())
    trace.start(name: "tap", clientHost: "phone")
    try trace.stop()
    #expect(try await trace.upload(to: receiver, as: .openTelemetry(service: "s")) == 200)
    #expect(taken.withLock { $0.last } == "application/json")
  }

  @Test(
    "Logs and traces leave by POST with a deadline; a refusal is an error",
    .reference("ios/TRC-9", "adr/BTX-8"))
  func uploads() async throws {
    let trace = controller()
    trace.start()
    try trace.stop()
    let transport = GivenTransport(status: 202)
    let receiver = TransportReceiver(
      transport, address: "http://c/v1/traces", headers: ["Authorization": "Bearer t"])
    #expect(try await trace.upload(to: receiver, as: .openTelemetry(service: "s")) == 202)
    #expect(try await trace.upload(to: receiver) == 202)
    let log = DeviceLog(world: .system())
    let waiting = LogUpload(to: receiver)
    log.handlers = [waiting]
    log.error("bad")
    #expect(try await waiting.upload() == 1)
    let sent = transport.requests.withLock { $0 }
    #expect(
      sent.map { $0.headers["Content-Type"] } == [
        "application/json", "application/xml", "application/gzip",
      ])
    #expect(
      sent.allSatisfy { $0.method == .post && $0.headers["Authorization"] == "Bearer t" })
    #expect(sent.allSatisfy { $0.deadlines.total == .seconds(30) })
    let refusing = TransportReceiver(GivenTransport(status: 503), address: "http://c/")
    let refused = LogUpload(to: refusing)
    log.handlers = [refused]
    log.error("bad")
    let error = await #expect(throws: LogError.self) { try await refused.upload() }
    #expect(error?.message.contains("503") == true && refused.count == 1)
  }
}
