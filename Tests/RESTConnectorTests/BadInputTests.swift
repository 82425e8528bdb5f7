import FerryConnector
import FerryGenerator
import FerryModel
import FerryOpenAPIReading
import FerryRESTConnector
import Testing

/// What a service, or who writes a mapping, may get wrong: a clear word, and nothing half done.
@Suite(.timeLimit(.minutes(60)))
struct BadInputTests {
  @Test(
    "A version with a line end never becomes a header",
    arguments: ["\\r\\nX-Evil: 1", "\\n", "\\u0000"])
  func version(_ text: String) async throws {
    let bench = try Bench([.one], Bench.text("\"condition\": {\"etag\": \"/name\"}"))
    bench.service.change {
      $0.readFaults = [
        .status(
          200, isDone: false, body: "{\"id\":1,\"name\":\"v\(text)\",\"amount\":5,\"version\":1}")
      ]
    }
    guard case .notDone(let reason) = await bench.perform(bench.update()) else {
      Issue.record("it is sent")
      return
    }
    #expect(reason.contains("control character"))
    #expect(bench.service.writes == 0)
  }

  @Test(
    "A line end in a header of the mapping is a mistake with its place",
    arguments: [
      ("\"headers\": {\"X-A\": \"b\\r\\nX-Evil: 1\"}", "/headers/X-A"),
      ("\"headers\": {\"X A\": \"b\"}", "/headers/X A"),
      ("\"credential\": {\"header\": \"X-A\\r\\nX-Evil\", \"file\": \"f\"}", "/credential/header"),
    ])
  func header(_ top: String, _ place: String) {
    let fault = #expect(throws: RESTMappingFault.self) {
      try RESTMapping(Array(Bench.text(top: top).utf8), for: Bench.package)
    }
    #expect(fault?.place == place)
  }

  /// The service has the request in work and never ends it: nothing is refused, nothing made twice.
  @Test func aRequestThatIsInWorkForEver() async throws {
    let bench = try Bench([], Bench.text("\"memory\": {\"header\": \"Idempotency-Key\"}"))
    let inWork = FakeService.Fault.status(
      409, isDone: false, body: "{\"detail\": \"The request is in work.\"}")
    bench.service.change { $0.faults = [.lostBefore, inWork, inWork, inWork] }
    let order = bench.order()
    for _ in 0..<4 {
      let result = await bench.perform(order)
      guard case .done(let outcomes, _) = result, case .unknown? = outcomes.first else {
        Issue.record("\(result)")
        return
      }
      bench.clock.move(.seconds(121))
    }
    #expect(bench.service.rows("orders").isEmpty)
    guard case .accepted = try await bench.replay(order) else {
      Issue.record("it is not made in the end")
      return
    }
    #expect(bench.service.rows("orders").count == 1)
  }

  @Test func aDescriptionOf20MegabytesIsRead() throws {
    let long = String(repeating: "x", count: 1 << 20)
    let paths = (0..<20).map { number in
      """
      "/things\(number)": {"get": {"description": "\(long)", "responses": {"200": {"content":
      {"application/json": {"schema": {"type": "array", "items": {"type": "object",
      "properties": {"id": {"type": "integer"}}}}}}}}}},
      "/things\(number)/{id}": {"get": {"responses": {"200": {"content": {"application/json":
      {"schema": {"type": "object", "properties": {"id": {"type": "integer"}}}}}}}}}
      """
    }
    let text = "{\"openapi\": \"3.1.0\", \"paths\": {\(paths.joined(separator: ","))}}"
    let reading = try OpenAPIReading(Array(text.utf8), address: "http://service.test/openapi.json")
    #expect(reading.schema.tables.count == 20)
  }
}
