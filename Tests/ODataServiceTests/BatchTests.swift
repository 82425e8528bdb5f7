import FerryHTTP
import FerryJSON
import FerryOData
import FerryODataBatch
import FerryODataService
import Testing

@Suite("A service of OData: batches") struct BatchTests {
  private func send(
    _ desk: Desk, _ batch: ODataBatch, _ format: ODataBatchFormat, _ headers: HTTPHeaders = [:]
  ) async throws -> [ODataBatchPart] {
    var headers = headers
    headers["Content-Type"] = format.contentType
    let body = String(decoding: try batch.body(format), as: UTF8.self)
    let answer = await desk.send(.post, "$batch", headers, body)
    #expect(answer.status == 200, "\(answer.text)")
    return try ODataBatch.read(answer.bytes, contentType: answer.headers["Content-Type"]).parts
  }

  private static let formats: [ODataBatchFormat] = [
    .multipart(boundary: "batch_id-1666-12"), .json,
  ]

  private func change(_ url: String, _ body: String, id: String, group: String?) -> ODataBatchPart {
    ODataBatchPart(
      .request(method: "POST", url: url),
      headers: [.init(name: "Content-Type", value: "application/json")], body: Array(body.utf8),
      id: id, group: group)
  }

  @Test("Reads and changes are answered in their order", arguments: formats)
  func order(_ format: ODataBatchFormat) async throws {
    let desk = try Desk()
    let batch = ODataBatch([
      .request("GET", "Customers('C1')", id: "1"),
      change("Customers", #"{"ID":"N","Name":"New"}"#, id: "2", group: "g"),
      .request("GET", "http://h/s/Customers('N')?$select=Name", id: "3"),
      .request("GET", "/s/Orders/$count", id: "4"),
    ])
    let answers = try await send(desk, batch, format)
    #expect(answers.map(\.status) == [200, 201, 200, 200])
    #expect(answers[0].text.contains("Name 1"), "\(answers[0].text)")
    #expect(answers[2].text.contains("New"), "\(answers[2].text)")
  }

  @Test("The first failure ends a batch unless the client wants the others", arguments: formats)
  func failures(_ format: ODataBatchFormat) async throws {
    let desk = try Desk()
    let batch = ODataBatch([
      .request("GET", "Customers('no')", id: "1"), .request("GET", "Customers('C1')", id: "2"),
    ])
    #expect(try await send(desk, batch, format).map(\.status) == [404])
    let all = try await send(desk, batch, format, ["Prefer": "odata.continue-on-error"])
    #expect(all.map(\.status) == [404, 200])
  }

  @Test("The changes of a set are done together", arguments: formats)
  func sets(_ format: ODataBatchFormat) async throws {
    let desk = try Desk()
    let batch = ODataBatch([
      .request("GET", "Customers('C1')", id: "0"),
      change("Customers", #"{"ID":"A"}"#, id: "1", group: "g"),
      change("Customers", #"{"ID":"B"}"#, id: "2", group: "g"),
      .request("GET", "Customers('B')", id: "3"),
    ])
    let answers = try await send(desk, batch, format)
    #expect(answers.map(\.status) == [200, 201, 201, 200])
    #expect(answers.map(\.id).suffix(3).first == "1" || format != .json)
  }

  @Test(
    "Where one change of a set cannot be done, none is, and one answer says why",
    arguments: formats, [#"{"ID":"B","Name":"refuse"}"#, #"{"ID":"B","No":1}"#, "{"])
  func failedSet(_ format: ODataBatchFormat, _ body: String) async throws {
    let desk = try Desk()
    // In JSON a body that is none cannot be sent.
    if format == .json, body == "{" { return }
    let batch = ODataBatch([
      change("Customers", #"{"ID":"A"}"#, id: "1", group: "g"),
      change("Customers", body, id: "2", group: "g"),
    ])
    let answers = try await send(desk, batch, format)
    #expect(answers.count == 1 && (answers[0].status ?? 0) >= 400, "\(answers.map(\.text))")
    #expect((await desk.get("Customers('A')")).status == 404)
  }

  @Test("A later request names the entity that an earlier one has made") func references()
    async throws
  {
    let desk = try Desk()
    let batch = ODataBatch([
      change("Customers", #"{"ID":"N","Name":"New"}"#, id: "1", group: "g"),
      ODataBatchPart(.request(method: "GET", url: "$1/Name"), id: "2", dependsOn: ["1"]),
      ODataBatchPart(.request(method: "GET", url: "Customers('no')"), id: "3"),
      ODataBatchPart(.request(method: "GET", url: "Customers"), id: "4", dependsOn: ["3"]),
    ])
    let answers = try await send(desk, batch, .json, ["Prefer": "continue-on-error"])
    #expect(answers.map(\.status) == [201, 200, 404, 424])
    #expect(answers[1].text.contains("New"), "\(answers[1].text)")
  }

  @Test("No line of the answer but the outer boundary begins with it (RFC 2046, 5.1.1)")
  func nested() async throws {
    let desk = try Desk()
    let batch = ODataBatch([change("Customers", #"{"ID":"N"}"#, id: "1", group: "g")])
    let format = ODataBatchFormat.multipart(boundary: "b")
    let answer = await desk.send(
      .post, "$batch", ["Content-Type": format.contentType],
      String(decoding: try batch.body(format), as: UTF8.self))
    let type = try #require(answer.headers["Content-Type"])
    let boundary = "--" + (type.split(separator: "boundary=").last.map(String.init) ?? "")
    let lines = answer.text.split(separator: "\r\n").filter { $0.hasPrefix(boundary) }
    #expect(lines.count == 2, "\(answer.text)")
  }

  @Test("Too many parts, and a batch inside of a batch, are refused") func bounds() async throws {
    var limits = ODataServiceLimits()
    limits.batchParts = 10
    let desk = try Desk(limits: limits)
    let many = ODataBatch((0..<20).map { .request("GET", "Customers", id: "\($0)") })
    let format = ODataBatchFormat.multipart(boundary: "b")
    let answer = await desk.send(
      .post, "$batch", ["Content-Type": format.contentType],
      String(decoding: try many.body(format), as: UTF8.self))
    #expect(answer.status == 413, "\(answer.text)")
    for url in ["$batch", "%24batch", "$batch?a=1"] {
      var part = ODataBatchPart(.request(method: "POST", url: url))
      part.body = Array("--c\r\n".utf8)
      let inner = ODataBatch([part])
      #expect(try await send(desk, inner, format).map(\.status) == [400], "\(url)")
    }
    #expect((await desk.send(.post, "$batch", ["Content-Type": "text/plain"], "x")).status == 415)
    #expect(
      (await desk.send(.post, "$batch", ["Content-Type": "application/json"], "{")).status == 400)
  }
}
