import Ferry
import FerryHTTPClient
import FerryLogger
import FerryODataClient
import FerryTelemetry
import FerryTrace
import FerryWorld

/// The trace and the log of this device.
struct Telemetry {
  let trace = TraceController(world: .system())
  let log = DeviceLog(world: .system())
  let transport: TracedTransport

  init(_ profile: ConnectionProfile) {
    transport = TracedTransport(SystemTransport.make(profile.transport), trace: trace)
    log.level = .info
  }

  /// Begins a trace with the tap of a button; gives its id.
  func begin() throws -> String {
    trace.start(name: "Save a booking", clientHost: "device")
    try trace.createStep().addUIAction("tap on Save")
    let id = try trace.record().rootID.hexadecimal
    log.info("the user saved", tag: "Bookings", correlationID: id)
    return id
  }

  /// How many entries an entity set of an OData service has, over requests of the same trace.
  func entries(of set: String, at root: String) async throws -> Int {
    let service = try await ODataService.open(root, session: ODataSession(transport))
    var count = 0
    for try await _ in service.entries(set) { count += 1 }
    return count
  }

  /// Ends the trace and sends it and the log to the server.
  func end(_ database: FerryDatabase) async throws {
    try trace.stop()
    _ = try await trace.upload(
      to: FunctionReceiver { body, _ in try await database.upload(body, as: .traces) },
      as: .openTelemetry(service: "ferry-device"))
    let upload = LogUpload(
      to: FunctionReceiver { body, _ in try await database.upload(body, as: .logs) })
    for record in log.records() { upload.handle(record) }
    _ = try await upload.upload()
  }
}
