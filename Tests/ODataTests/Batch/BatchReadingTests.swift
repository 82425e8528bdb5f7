import FerryOData
import FerryODataBatch
import FerryODataShell
import Testing

@Suite("Batch: reading") struct BatchReadingTests {
  @Test("A multipart batch of requests: queries, a changeset, Content-IDs, folded and nested heads")
  func requests() throws {
    let parts = try BatchSamples.read(BatchSamples.requests.bytes)
    #expect(parts.count == 4)
    #expect(parts[0].method == "GET" && parts[0].url == "/service/Customers('ALFKI')")
    #expect(parts[0].header("HOST") == "host" && parts[0].group == nil && parts[0].body.isEmpty)
    #expect(parts[1].group == "changeset_77162fcd" && parts[1].id == "1")
    #expect(parts[1].text == "<entry/>" && parts[1].header("Content-Length") == nil)
    #expect(parts[2].group == parts[1].group && parts[2].url == "$1/Address")
    #expect(parts[2].text == "{\"City\":\r\n\"Köln\"}" && parts[2].header("If-Match") == "W/\"a\"")
    #expect(parts[3].group == nil && parts[3].url == "/service/Products?$filter=Price gt 5")
    #expect(parts[3].body.isEmpty)
  }

  @Test("A multipart batch of responses, with preamble and epilogues that nobody reads")
  func responses() throws {
    let parts = try BatchSamples.read(
      BatchSamples.responses.bytes, contentType: "multipart/mixed; boundary=b")
    #expect(parts.map(\.status) == [200, 201, 204, 404])
    #expect(parts.map(\.group) == [nil, "cs", "cs", nil])
    #expect(parts.map(\.id) == [nil, "1", "2", nil])
    #expect(parts.map(\.text) == ["{\"a\":\"b\"}", "{}", "", "<error/>"])
    #expect(try BatchSamples.read(BatchSamples.responses.bytes) == parts)
  }

  @Test("Lines may end with CR LF or LF alone: the same parts but for line ends in bodies")
  func lineEnds() throws {
    for text in [BatchSamples.requests, BatchSamples.responses] {
      let crlf = try BatchSamples.read(text.bytes)
      let lf = try BatchSamples.read(text.replacing("\r\n", with: "\n").bytes)
      #expect(
        lf.map { $0.text.replacing("\n", with: "") }
          == crlf.map { $0.text.replacing("\r\n", with: "") })
      #expect(lf.map(\.headers) == crlf.map(\.headers) && lf.map(\.subject) == crlf.map(\.subject))
    }
  }

  @Test("A JSON batch: groups, dependsOn, if, and bodies of JSON, text and base 64 in any order")
  func json() throws {
    let parts = try BatchSamples.read(BatchSamples.json.bytes)
    #expect(parts.map(\.id) == ["0", "1", "2", "3", "4"])
    #expect(parts.map(\.method) == ["GET", "POST", "PATCH", "PUT", "PUT"])
    #expect(parts.map(\.group) == [nil, "g1", "g1", nil, nil])
    #expect(parts[1].text == #"{"Name": "K\u00f6ln", "n": [1, 2.5e3]}"#)
    #expect(parts[2].dependsOn == ["1"] && parts[2].text == #"{"City": "x"}"#)
    #expect(parts[2].header("if-match") == "W/\"a\"")
    #expect(parts[3].condition == "$1/Total gt 5" && parts[3].text == "a\n\"b\" 😀")
    #expect(parts[4].body == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    let responses = try BatchSamples.read(BatchSamples.jsonResponses.bytes)
    #expect(responses.map(\.status) == [201, 200, 424])
    #expect(responses.map(\.text) == ["", #"{"value":[]}"#, ""])
  }

  static let documents = [
    BatchSamples.requests, BatchSamples.responses, BatchSamples.json, BatchSamples.jsonResponses,
  ]

  @Test(
    "Cut in two at every byte, and into single bytes, a batch reads the same", arguments: documents)
  func pieces(_ text: String) throws {
    let bytes = text.bytes
    let whole = try BatchSamples.read(bytes)
    for cut in 0...bytes.count {
      let parts = try BatchSamples.read(bytes, cutAt: [cut])
      #expect(parts == whole, "cut at \(cut)")
    }
    #expect(try BatchSamples.read(bytes, cutAt: Array(1..<bytes.count)) == whole)
  }

  @Test("A body of 5 MB passes in pieces, and none of them is large", arguments: [true, false])
  func large(isJSON: Bool) throws {
    let block = [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)
    let reader = ODataBatchReader()
    var length = 0
    var most = 0
    func push(_ bytes: [UInt8]) throws {
      reader.push(bytes)
      while let item = try reader.next() {
        guard case .body(let piece) = item else { continue }
        length += piece.count
        most = max(most, piece.count)
      }
    }
    if isJSON {
      try push(
        #"{"requests":[{"id":"1","method":"PUT","url":"A","headers":{"Content-Type":"text/plain"},"body":""#
          .bytes)
    } else {
      try push("--b\r\nContent-Type: application/http\r\n\r\nPUT A HTTP/1.1\r\n\r\n".bytes)
    }
    for _ in 0..<50 { try push(block) }
    try push(isJSON ? #""}]}"#.bytes : "\r\n--b--".bytes)
    reader.finish()
    try push([])
    #expect(length == 5_000_000 && most <= (1 << 20) + (64 << 10))
  }

  @Test("A boundary that begins another, or stands inside a line, ends nothing")
  func boundaries() throws {
    let text = """
      --b
      Content-Type: multipart/mixed; boundary=b-1

      --b-1
      Content-Type: application/http

      POST A HTTP/1.1

      --b-
      --bb
      --b x
       --b
      x--b
      --b-12
      --b--x
      -- b
      --b-1--
      --b
      Content-Type: application/http

      GET A HTTP/1.1

      --b-1
      --b--
      """
    let parts = try BatchSamples.read(text.bytes)
    #expect(parts.count == 2)
    #expect(
      parts[0].text == "--b-\n--bb\n--b x\n --b\nx--b\n--b-12\n--b--x\n-- b"
        && parts[1].text == "--b-1")
    for inner in ["b", "b--"] {
      let refusal = BatchSamples.refusal(
        "--b\nContent-Type: multipart/mixed; boundary=\"\(inner)\"\n\n--\(inner)\n")
      #expect(refusal?.code == .malformed && refusal?.place?.path == "/part[1]")
    }
  }

  @Test("A Content-Length that lies is reported, and the boundary decides; strictly it is refused")
  func lengths() throws {
    let text =
      "--b\r\nContent-Type: application/http\r\nContent-Length: 9999\r\n\r\n"
      + "POST A HTTP/1.1\r\nContent-Length: 2\r\n\r\nabcd\r\n--b--"
    let reader = ODataBatchReader()
    reader.push(text.bytes)
    reader.finish()
    var body: [UInt8] = []
    while let item = try reader.next() { if case .body(let bytes) = item { body += bytes } }
    #expect(body == "abcd".bytes && reader.diagnostics.count == 2)
    #expect(reader.diagnostics.first?.place.line == 9)
    #expect(throws: ODataError.self) { try ODataBatch.read(text.bytes, strict: true) }
    let right = text.replacing("9999", with: "42").replacing("Length: 2", with: "Length: 4")
    #expect(try ODataBatch.read(right.bytes, strict: true).parts.count == 1)
  }

  @Test("Answers are found by id, by order, and for a whole changeset that failed")
  func answers() throws {
    let requests = ODataBatch(try BatchSamples.read(BatchSamples.requests.bytes))
    let responses = ODataBatch(try BatchSamples.read(BatchSamples.responses.bytes))
    #expect(responses.answers(to: requests).map { $0?.status } == [200, 201, 204, 404])
    let failed = ODataBatch([.response(200), .response(412)])
    #expect(failed.answers(to: requests).map { $0?.status } == [200, 412, 412, nil])
    let json = ODataBatch(try BatchSamples.read(BatchSamples.json.bytes))
    let answers = ODataBatch(try BatchSamples.read(BatchSamples.jsonResponses.bytes))
    #expect(answers.answers(to: json).map { $0?.status } == [200, 201, nil, 424, nil])
  }

  @Test("Describe counts the parts of a batch and their kinds, as a stream")
  func describe() throws {
    func counts(_ text: String) throws -> [String: Int] {
      try ODataDescriber.describe(text.bytes).counts
    }
    #expect(
      try counts(BatchSamples.requests) == [
        "parts": 3, "requests": 4, "responses": 0, "changesets": 1, "failedResponses": 0,
      ])
    #expect(
      try counts(BatchSamples.responses) == [
        "parts": 3, "requests": 0, "responses": 4, "changesets": 1, "failedResponses": 1,
      ])
    #expect(
      try counts(BatchSamples.json) == [
        "parts": 5, "requests": 5, "responses": 0, "changesets": 1, "failedResponses": 0,
      ])
    // The list is not the first member.
    let late = "{\"@context\":1," + BatchSamples.jsonResponses.drop { $0 == "{" || $0 == "\n" }
    #expect(try counts(late)["responses"] == 3)
    #expect(ODataBatch.continuesOnError(prefer: "respond-async, odata.continue-on-error=true"))
    #expect(ODataBatch.continuesOnError(prefer: "continue-on-error"))
    #expect(!ODataBatch.continuesOnError(prefer: "continue-on-error=false;x, ;,"))
  }
}
