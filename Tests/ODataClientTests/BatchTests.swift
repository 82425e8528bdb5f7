import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataBatch
import FerryODataClient
import Testing

@Suite("A batch of a service")
struct BatchTests {
  private static func open(
    _ server: ScriptedService
  ) async throws(ODataClientError) -> ODataService {
    try await ODataService.open(server.root, session: ODataSession(SystemTransport.make()))
  }

  @Test("A batch is sent once, and each of its requests gets its own answer in order")
  func answers() async throws {
    let server = SmallService.serve { request, _ in
      guard request.method == "POST", request.target == "/$batch" else { return .status(404) }
      let parts = """
        --b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\n\
        Content-Type: application/json\r\n\r\n\(SmallService.item(1, "one", etag: "1"))\r\n\
        --b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 404 Not Found\r\n\
        Content-Type: application/json\r\n\r\n\
        {"error":{"code":"E4","message":"no such item"}}\r\n--b--\r\n
        """
      return .status(200, parts, [("Content-Type", "multipart/mixed;boundary=b")])
    }
    let service = try await Self.open(server)
    let batch = ODataBatch([.request("GET", "Items(1)"), .request("GET", "Items(9)")])
    let answers = try await service.send(batch)
    #expect(answers.map { $0?.status } == [200, 404])
    #expect(answers[0]?.failure == nil)
    #expect(answers[1]?.failure?.code == "E4")
    let sent = try #require(server.requests.last)
    #expect(sent.headers["Content-Type"]?.hasPrefix("multipart/mixed;boundary=") == true)
    #expect(sent.body.contains("GET Items(9) HTTP/1.1"))
    #expect(server.lines.filter { $0.hasPrefix("POST") }.count == 1)
  }

  @Test("A batch in JSON finds its answers by their ids, and what the service left out is nil")
  func json() async throws {
    let server = SmallService.serve { _, _ in
      .json(#"{"responses":[{"id":"2","status":204}]}"#)
    }
    let service = try await Self.open(server)
    let batch = ODataBatch([
      .request("DELETE", "Items(1)", id: "1"), .request("DELETE", "Items(2)", id: "2"),
    ])
    let answers = try await service.send(batch, isJSON: true, continuesOnError: true)
    #expect(answers.map { $0?.status } == [nil, 204])
    #expect(server.requests.last?.headers["Prefer"] == "continue-on-error")
  }

  @Test("A batch that is refused as a whole, or cannot be read, is one error and is not sent again")
  func refused() async throws {
    for answer in [
      ScriptedService.Answer.status(501), .status(200, "<html>", [("Content-Type", "text/html")]),
    ] {
      let server = SmallService.serve { _, _ in answer }
      let service = try await Self.open(server)
      let error = await failure { () throws(ODataClientError) in
        _ = try await service.send(ODataBatch([.request("GET", "Items(1)")]))
      }
      #expect(error?.requestWasSent == true)
      #expect(server.lines.filter { $0.hasPrefix("POST") }.count == 1)
    }
  }
}
