import FerryHTTP
import FerryHTTPServer
import FerryJSON
import FerrySQLite
import FerryTestTraits
import Foundation
import Synchronization
import Testing

/// An OData service with two units; it notes who asked.
private final class ODataUnits: Sendable {
  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
    <edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Unit"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Units" EntityType="S.Unit"/></EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """
  private final class Seen: Sendable {
    let parents = Mutex<[String]>([])
  }

  private let server: HTTPServer
  private let seen: Seen
  let url: String

  init() throws {
    let seen = Seen()
    self.seen = seen
    server = try HTTPServer(configuration: HTTPServerConfiguration(port: 0)) { request in
      seen.parents.withLock { $0.append(request.headers["traceparent"] ?? "") }
      let (type, body) =
        switch request.path {
        case "/service/":
          (
            "application/json",
            #"{"@odata.context":"$metadata","value":[{"name":"Units","kind":"EntitySet","url":"Units"}]}"#
          )
        case "/service/$metadata": ("application/xml", ODataUnits.metadata)
        default:
          ("application/json", #"{"@odata.context":"$metadata#Units","value":[{"ID":1},{"ID":2}]}"#)
        }
      return HTTPResponse(
        status: 200, headers: ["Content-Type": type], body: .bytes(Array(body.utf8)))
    }
    try server.start()
    url = "http://127.0.0.1:\(server.boundPort)/service/"
    let server = self.server
    Thread.detachNewThread { server.run() }
  }

  var traceParents: [String] { seen.parents.withLock { $0 } }
  func stop() { server.stop(grace: .zero) }
}

extension Way {
  @Suite struct UploadTests {
    @Test(
      "One id goes from the button to the business system and to an OData service: it is in the app's log, in the server's, and in the trace beside it",
      .reference("adr/SV-35", "ios/SRV-23")
    )
    func oneID() async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let nobody = try Phone(business, "nobody", daemon.address)
      try await nobody.ask(#"["beginTrace"]"#)
      let refused = try await nobody.ask(#"["endTrace"]"#, mayFail: true)
      #expect(refused["message"]?.string?.contains("no valid session") == true, "\(refused)")
      try await nobody.quit()
      for path in ["logs", "traces"] {
        #expect(
          try await Wires.post("\(daemon.address)/ferry/1/\(path)", Array("x".utf8)).status == 401)
      }
      #expect(!FileManager.default.fileExists(atPath: "\(daemon.data)/device-traces"))
      let phone = try await Phone.start(business, "phone", user: "ada", daemon.address)
      let server = try Connection(path: business.database)
      let key = try #require(
        try server.value(
          """
          SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
          WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
          """)?.integer)
      let id = try #require(try await phone.ask(#"["beginTrace"]"#)["trace"]?.string)
      #expect(id.utf8.count == 32)
      try await phone.update("Bookings", "\(key)", #"{"passenger":"By Trace"}"#)
      try await phone.submit("Bookings", "\(key)")
      try await until("the change arrives") {
        try server.value("SELECT Passenger FROM Bookings WHERE BookingID = ?", .integer(key))?.text
          == "By Trace"
      }
      try await until("the server has performed it under the id") {
        daemon.process.errorText.split(separator: "\n").contains {
          $0.contains("a traced operation was performed") && $0.contains(id)
        }
      }
      let service = try ODataUnits()
      let entries = try await phone.ask(#"["entries","\#(service.url)","Units"]"#)
      #expect(entries["count"]?.integer == 2)
      // Each request of the service has the id, and each its own span.
      let parents = service.traceParents
      #expect(parents.count == 3 && Set(parents).count == 3)
      #expect(parents.allSatisfy { $0.hasPrefix("00-\(id)-") }, "\(parents)")
      service.stop()
      try await phone.ask(#"["endTrace"]"#)
      let log = daemon.process.errorText.split(separator: "\n").filter { $0.contains(id) }
      #expect(log.contains { $0.contains("a traced request was taken") })
      #expect(log.contains { $0.contains("the trace of a device was kept") })
      let traces = try FileManager.default.contentsOfDirectory(
        atPath: "\(daemon.data)/device-traces")
      #expect(traces.count == 1)
      let trace = try String(
        contentsOfFile: "\(daemon.data)/device-traces/\(traces[0])", encoding: .utf8)
      #expect(trace.contains(id) && trace.contains("/ferry/1/exchange"))
      #expect(trace.contains("\(service.url)Units"))
      let logs = try FileManager.default.contentsOfDirectory(atPath: "\(daemon.data)/device-logs")
      #expect(logs.count == 1)
      let ferry = try ChildProcess(
        try Programs.path("ferry"),
        ["log", "\(daemon.data)/device-logs/\(logs[0])", "--correlation", id])
      #expect(try await ferry.ended() == .exit(0))
      #expect(ferry.lines.contains { $0.contains("the user saved") && $0.contains(id) })
      try await phone.quit()
    }
  }
}
