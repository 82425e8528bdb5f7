import FerryHTTP
import FerryHTTPClient
import FerryTelemetry
import FerryTestTraits
import FerryTrace
import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

@Suite("Traces that are sent on", .timeLimit(.minutes(60)))
struct TraceForwardTests {
  private func desk(_ receiver: Peer) async throws -> Desk {
    var application = Desk.plain
    application.traces = "https://solution.example.com/traces"
    return try await Desk([application, Application(id: "com.example.other")], push: receiver)
  }

  @Test(
    "An app uploads its trace to the server, which sends it on to the address of the file",
    .reference("ios/SRV-24", "ios/RST-8", "adr/SV-32"))
  func forwarded() async throws {
    let receiver = Peer([Peer.Reply(status: 202), Peer.Reply(status: 503)])
    let desk = try await desk(receiver)
    let id = await desk.register()
    let trace = TraceController(world: desk.world)
    trace.start()
    try trace.stop()
    let server = TransportReceiver(
      DeskTransport(desk), address: "https://gate.example.com/btx",
      headers: ["Authorization": Desk.basic("anna"), "X-SUP-APPCID": id])
    let document = BusinessTransactionDocument.xml(try trace.record())
    #expect(try await trace.upload(to: server) == 202)
    let request = try #require(receiver.requests.first)
    #expect(request.url == "https://solution.example.com/traces" && request.method == .post)
    #expect(request.headers["X-SUP-APPCID"] == id && request.headers["Authorization"] == nil)
    #expect(String(decoding: request.body, as: UTF8.self) == document)
    // The receiver is away: the app hears so, and may repeat it.
    let answer = await desk.send("POST", "/btx", [("X-SUP-APPCID", id)], body: document)
    #expect(answer.status == 502 && answer.code == .traceNotTaken)
    #expect(answer.headers["Retry-After"] == "60")
    #expect(receiver.requests.count == 2)
  }

  @Test("Only a registered app sends traces, and nothing but a trace is sent on")
  func refused() async throws {
    let receiver = Peer([Peer.Reply(status: 200)])
    let desk = try await desk(receiver)
    let id = await desk.register()
    func code(
      _ body: String, user: String? = "anna", _ headers: [(String, String)]
    ) async -> RegistrationCode? {
      await desk.send("POST", "/btx", user: user, headers, body: body).code
    }
    let own = [("X-SUP-APPCID", id)]
    #expect(await code("<a/>", user: nil, own) == .wrongCredentials)
    #expect(await code("<a/>", user: "berta", own) == .wrongUserForRegistration)
    #expect(await code("<a/>", []) == .noConnectionID)
    for body in ["", "{}", "<!DOCTYPE a []><a/>", "<a>\u{0}</a>"] {
      #expect(await code(body, own) == .unreadableTrace, "\(body)")
    }
    let large = "<a>\(String(repeating: "x", count: 1 << 20))</a>"
    #expect(await desk.send("POST", "/btx", own, body: large).status == 413)
    #expect(await desk.send("GET", "/btx", own).code == .notOffered)
    let made = await desk.send("POST", "/odata/applications/v1/com.example.other/Connections")
    let other = try #require(made.headers["X-SUP-APPCID"])
    #expect(await code("<a/>", [("X-SUP-APPCID", other)]) == .notOffered)
    #expect(receiver.requests.isEmpty)
    #expect(await desk.send("POST", "/btx", own, body: "<a/>").status == 200)
  }

  @Test("The address for traces is one of HTTP")
  func file() throws {
    func read(_ traces: String) throws -> String? {
      let text = #"{"applications": [{"id": "a", "traces": \#(traces)}]}"#
      return try ApplicationsFile(Array(text.utf8), name: "f").applications.first?.traces
    }
    #expect(try read(#""https://solution.example.com/""#) == "https://solution.example.com/")
    for wrong in ["7", #""ftp://x""#, #""https://""#, #""x""#] {
      #expect(throws: ApplicationsError.self) { try read(wrong) }
    }
  }
}
