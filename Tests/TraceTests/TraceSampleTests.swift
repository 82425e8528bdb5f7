import FerryTestTraits
import FerryTrace
import FerryWorld
import Foundation
import Testing

/// The samples of the reference, with its order of calls.
@Suite("Samples of the reference: traces")
struct TraceSampleTests {
  @Test(
    "Set the level, start, stop and upload, in one channel and the other",
    .reference(
      "ios/CS-29", "ios/CS-30", "ios/CS-49", "ios/CS-67", "ios/CS-68", "ios/CS-69", "ios/CS-124",
      "ios/REQ-35", "adr/A19", "adr/A36", "adr/A66", "adr/TRC-2")
  )
  func channel() async throws {
    let (connection, manager) = (makeTrace(), Collector())
    connection.level = .high
    connection.start()
    let passport = try Passport(
      header: try #require(connection.requestIfOn()?.headers.first { $0.name == "SAP-PASSPORT" })
        .value)
    #expect(passport.flags == TraceLevel.high.flags)
    try connection.stop()
    #expect(try await connection.upload(to: manager) == 200)
    #expect(manager.bodies.count == 1 && manager.bodies[0].contains("level=\"3\""))
    let error = #expect(throws: TraceError.self) { try connection.stop() }
    #expect(error?.code.referenceName == "E2E_NOT_STARTED")
  }

  @Test(
    "A whole trace of a connection, whose upload fails first and is tried again",
    .reference("ios/CS-50"))
  func whole() async throws {
    let (connection, manager) = (makeTrace(), Collector())
    connection.level = .high
    connection.start(name: "com.sap.NewFlight", clientHost: "device-1")
    let request = try #require(connection.requestIfOn(action: "GET /TravelagencyCollection"))
    request.markSending()
    request.markReceived()
    request.end()
    try connection.stop()
    manager.answer(401)
    let error = await #expect(throws: TraceError.self) {
      try await connection.upload(to: manager)
    }
    #expect(error?.code.referenceName == "BTX_UPLOAD_ERROR")
    manager.answer(200)
    #expect(try await connection.upload(to: manager) == 200)
  }

  @Test(
    "The stand-alone library in nine steps: passport, transaction, step, request, level, headers, marks, end, document",
    .reference("ios/CS-31", "ios/CS-34", "ios/CS-35")
  )
  func standAlone() async throws {
    let passport = Passport(Counting())
    #expect(passport.flags == TraceLevel.medium.flags)
    let controller = makeTrace()
    controller.level = .low
    let root = controller.start(name: "flights")
    let step = try controller.createStep()
    let request = try controller.createRequest()
    var headers: [String: String] = [:]
    for header in request.headers { headers[header.name] = header.value }
    #expect(headers["SAP-PASSPORT"] == request.passport.header)
    #expect(headers["X-CorrelationID"] == request.id.hexadecimal)
    #expect(request.markSending() && request.markSent())
    #expect(request.update(["Content-Type": "application/atom+xml"]))
    #expect(request.markReceiving() && request.markReceived())
    #expect(request.end() && step.end())
    try controller.stop()
    let text = BusinessTransactionDocument.xml(try controller.record())
    #expect(text.contains("id=\"\(root.hexadecimal)\"") && text.contains("received="))
    #expect(text.contains("<element name=\"Content-Type\" value=\"application/atom+xml\"/>"))
    #expect(try await controller.upload(to: Collector()) == 200)
  }

  @Test(
    "A session for an application and a device, with sizes sent and received",
    .reference("adr/A20", "adr/BTX-4", "adr/BTX-7")
  )
  func session() throws {
    let controller = makeTrace()
    controller.level = .medium
    let root = controller.start(name: "com.sap.NewFlight", clientHost: "4f2c__NewFlight")
    _ = try controller.createStep()
    let request = try controller.createRequest()
    #expect(request.rootID == root)
    #expect(request.update(["sentBytes": "120", "receivedBytes": "4096", "status": "200"]))
    try controller.stop()
    let record = try controller.record()
    #expect(record.name == "com.sap.NewFlight" && record.clientHost == "4f2c__NewFlight")
    #expect(record.steps[0].requests[0].elements["receivedBytes"] == "4096")
  }

  @Test(
    "Steps and requests count by themselves; the flags' two bytes can be set",
    .reference("ios/TRC-13"))
  func settings() throws {
    let controller = makeTrace()
    #expect(controller.stepCount == 0 && controller.requestCount == 0)
    #expect(controller.traceFlags == TraceLevel.medium.flags)
    #expect(controller.traceFlagsText == "890d")
    controller.start()
    _ = try controller.createStep()
    _ = try controller.createRequest()
    _ = try controller.createStep()
    _ = try controller.createRequest()
    #expect(controller.stepCount == 2 && controller.requestCount == 2)
    controller.setTraceFlags((0x12, 0x34))
    #expect(try controller.createRequest().passport.flags == [0x12, 0x34])
    #expect(controller.traceFlagsText == "1234")
    controller.setTraceFlags(nil)
    #expect(try controller.createRequest().passport.flags == TraceLevel.medium.flags)
    controller.start()
    #expect(controller.stepCount == 0 && controller.requestCount == 0)
  }

  @Test(
    "Four readings come from the marks of a request, and go to the log only when switched on",
    .reference("ios/PRF-1", "ios/PRF-2", "adr/PER-1", "adr/PER-2", "adr/PER-3")
  )
  func readings() throws {
    let log = KeptLog()
    let controller = TraceController(
      world: World(clock: StepClock(), chance: Counting(), log: log))
    func request() throws -> TraceRequestRecord {
      let request = try #require(controller.requestIfOn())
      request.markReached()
      request.markSending()
      request.markSent()
      request.markReceiving()
      request.markReceived()
      request.end()
      return try #require(try controller.record().steps.last?.requests.last)
    }
    controller.start()
    #expect(!controller.logsReadings)
    // Each mark looks once at a clock that goes on by a millisecond.
    let readings = try #require(try request().readings)
    #expect(
      readings.lines == ["E2E:RR 6", "ODP:RR 4", "IMO:RR 3", "Network:RR 1"])
    // End to end spans all, the network the least.
    #expect(readings.endToEnd > readings.online && readings.online > readings.forwarded)
    #expect(readings.messagingClientTime == .milliseconds(1))
    #expect(readings.proxyClientTime == .milliseconds(2))
    #expect(log.lines.isEmpty)
    controller.logsReadings = true
    let second = try request()
    #expect(
      log.lines == [
        "a request was timed correlation=\(second.id.hexadecimal) E2E:RR=6 ODP:RR=4 IMO:RR=3 Network:RR=1"
      ])
    let open = try #require(controller.requestIfOn())
    #expect(open.end() && log.lines.count == 1)
  }

  @Test("A transport's request opens a step where none is open; without a trace there is none")
  func requestIfOn() throws {
    let controller = makeTrace()
    #expect(controller.requestIfOn() == nil)
    controller.start()
    #expect(controller.requestIfOn()?.location == TraceLocation(step: 1, request: 1))
    let step = try controller.createStep()
    #expect(controller.requestIfOn()?.location == TraceLocation(step: 2, request: 1))
    step.end()
    #expect(controller.requestIfOn()?.location == TraceLocation(step: 3, request: 1))
    try controller.stop()
    #expect(controller.requestIfOn() == nil)
  }

  @Test("The trace leaves as OTLP too, under the service's name", .reference("ios/TRC-9"))
  func otlp() async throws {
    let (controller, collector) = (makeTrace(), Collector())
    controller.start()
    try controller.stop()
    #expect(
      try await controller.upload(to: collector, as: .openTelemetry(service: "flights")) == 200)
    #expect(collector.bodies[0].hasPrefix("application/json\n{\"resourceSpans\""))
    #expect(collector.bodies[0].contains("flights"))
  }
}
