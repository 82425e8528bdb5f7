import FerryJSON
import FerryOData
import FerryODataBatch
import Testing

@Suite("Batch: writing") struct BatchWritingTests {
  static let formats: [ODataBatchFormat] = [.multipart(boundary: "b"), .json]

  @Test(
    "What is written is read the same, with random batches, also by single bytes",
    arguments: formats)
  func roundTrip(_ format: ODataBatchFormat) throws {
    for seed in UInt64(1)...80 {
      var maker = BatchMaker(seed)
      let batch = maker.batch(format == .json)
      let bytes = try batch.body(format)
      let shown = String(decoding: bytes, as: UTF8.self)
      let back = try ODataBatch.read(bytes, contentType: format.contentType, strict: true)
      #expect(back == batch, "seed \(seed): \(shown)")
      let cuts = Array(1..<max(bytes.count, 1))
      let parts = try BatchSamples.read(bytes, cutAt: cuts, contentType: format.contentType)
      #expect(parts == batch.parts, "seed \(seed): \(shown)")
      var writer = try ODataBatchWriter(format)
      var pieces: [UInt8] = []
      for part in batch.parts {
        try writer.begin(part)
        for byte in part.body { try writer.body([byte]) }
        try writer.end()
        pieces += writer.take()
      }
      try writer.finish()
      pieces += writer.take()
      #expect(
        try ODataBatch.read(pieces, contentType: format.contentType) == batch, "seed \(seed)")
    }
  }

  @Test(
    "A line end in a header, address, method or id is refused: no header can be injected",
    arguments: formats)
  func injection(_ format: ODataBatchFormat) throws {
    let evil = ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "a\u{7F}"]
    for text in evil {
      let parts: [ODataBatchPart] = [
        .request("GET", text, id: "1"), .request(text, "A", id: "1"),
        .request("GET", "A", headers: [.init(name: "X", value: text)], id: "1"),
        .request("GET", "A", headers: [.init(name: text, value: "x")], id: "1"),
        .request("GET", "A", id: text), .request("PUT", "A", id: "1", group: text),
        ODataBatchPart(.request(method: "PUT", url: "A"), id: "1", dependsOn: [text]),
        ODataBatchPart(.request(method: "PUT", url: "A"), id: "1", condition: text),
      ]
      for part in parts {
        let error = #expect(throws: ODataError.self) { try ODataBatch([part]).body(format) }
        #expect(error?.code == .unwritable && error?.hint.isEmpty == false)
      }
    }
    let blank = ODataBatchPart.request("GET", "A b", id: "1")
    #expect(throws: ODataError.self) { try ODataBatch([blank]).body(format) }
    if format != .json {
      let group = ODataBatchPart.request("POST", "A", id: "1", group: "g\r\nX: 1")
      #expect(throws: ODataError.self) { try ODataBatch([group]).body(format) }
    }
  }

  @Test("A boundary that stands in a body is refused, however the body is cut; a free one is found")
  func collision() throws {
    let bodies = ["--b", "x\r\n--b\r\ny", "x\n--b--", "--b \t", "a\n--g_b--\nb"]
    for text in bodies {
      let part = ODataBatchPart(
        .request(method: "POST", url: "A"), body: text.bytes, id: "1", group: "g")
      for step in 1...text.utf8.count {
        var writer = try ODataBatchWriter(.multipart(boundary: "b"))
        try writer.begin(part)
        let error = #expect(throws: ODataError.self) {
          for start in stride(from: 0, to: part.body.count, by: step) {
            try writer.body(Array(part.body[start..<min(start + step, part.body.count)]))
          }
          try writer.end()
        }
        #expect(error?.code == .unwritable)
      }
      var batch = ODataBatch([part])
      let free = batch.freeBoundary
      let bytes = try batch.body(.multipart(boundary: free))
      #expect(try ODataBatch.read(bytes) == batch)
      batch.parts[0].body = free.bytes
      #expect(batch.freeBoundary != free)
    }
    for text in ["--bb", "x--b", "--b-", "--b x", " --b"] {
      let part = ODataBatchPart(.response(status: 200), body: text.bytes)
      #expect(
        try ODataBatch.read(ODataBatch([part]).body(.multipart(boundary: "b"))).parts == [part])
    }
  }

  @Test("What a form cannot say is refused, never dropped")
  func unwritable() throws {
    func error(_ parts: [ODataBatchPart], _ format: ODataBatchFormat) -> ODataError.Code? {
      do throws(ODataError) {
        _ = try ODataBatch(parts).body(format)
        return nil
      } catch { return error.code }
    }
    let multipart = ODataBatchFormat.multipart(boundary: "b")
    let first = ODataBatchPart.request("POST", "A", id: "1", group: "g")
    var second = ODataBatchPart.request("POST", "$1/B", id: "2", group: "g")
    #expect(error([first, second], multipart) == nil && error([first, second], .json) == nil)
    #expect(error([second], multipart) == .reference && error([first, first], .json) == .reference)
    second.dependsOn = ["1"]
    #expect(error([first, second], multipart) == .unwritable)
    #expect(error([first, second], .json) == nil)
    let other = ODataBatchPart.request("POST", "A", id: "3")
    #expect(error([first, other, second], .json) == .reference)
    #expect(error([.request("GET", "A", group: "g")], multipart) == .unwritable)
    #expect(error([.request("GET", "A")], .json) == .unwritable)
    #expect(error([.response(200), first], multipart) == .malformed)
    var body = ODataBatchPart(.request(method: "POST", url: "A"), body: "no JSON".bytes, id: "1")
    #expect(error([body], .json) == .unwritable && error([body], multipart) == nil)
    body.headers = [.init(name: "content-type", value: "text/plain")]
    #expect(error([body], .json) == nil)
    body.body = [0xFF]
    #expect(error([body], .json) == .unwritable)
    body.headers = [.init(name: "content-type", value: "image/png")]
    #expect(error([body], .json) == nil)
    body.headers += [.init(name: "A", value: "1"), .init(name: "a", value: "2")]
    #expect(error([body], .json) == .unwritable && error([body], multipart) == nil)
    for boundary in ["", "a b ", "a\r\nb", "ü", String(repeating: "b", count: 71)] {
      #expect(throws: ODataError.self) { try ODataBatchWriter(.multipart(boundary: boundary)) }
    }
  }

  @Test("JSON names in dependsOn what an address refers to, and its group where that is another")
  func references() throws {
    let batch = ODataBatch([
      .request("POST", "A", id: "1", group: "g"), .request("POST", "$1/B", id: "2", group: "g"),
      .request("POST", "$2/C", id: "3"), .request("POST", "/$3/D", id: "4"),
      .request("GET", "$metadata", id: "5"),
    ])
    let back = try ODataBatch.read(batch.body(.json))
    #expect(back.parts.map(\.dependsOn) == [[], ["1"], ["2", "g"], ["3"], []])
    #expect(try ODataBatch.read(back.body(.json)) == back)
    for method in ["MERGE", "get"] {
      let error = #expect(throws: ODataError.self) {
        try ODataBatch([.request(method, "A", id: "1")]).body(.json)
      }
      #expect(error?.code == .unwritable)
    }
  }

  @Test("The POST of a batch names its type, boundary and wish to go on behind a failure")
  func request() throws {
    let batch = ODataBatch([.request("GET", "Products", id: "1")])
    let json = try batch.request(.json, continuesOnError: true)
    #expect(json.method == "POST" && json.header("Content-Type") == "application/json")
    #expect(json.header("Prefer") == "continue-on-error" && json.header("OData-Version") == "4.01")
    #expect(try JSONNode.parse(json.body)["requests"]?.array?.count == 1)
    let text = try batch.request(.multipart(boundary: "a=b"))
    #expect(text.header("Content-Type") == "multipart/mixed;boundary=\"a=b\"")
    #expect(
      ODataBatchFormat(contentType: try #require(text.header("Content-Type")))
        == .multipart(boundary: "a=b"))
    #expect(try ODataBatch.read(text.body) == batch)
    let old = ODataBatchFormat(contentType: "Multipart/Mixed; charset=x;Boundary=\"a\\b\" ; y=z")
    #expect(old == .multipart(boundary: "ab"))
  }
}

/// Makes batches of every kind that a form can say.
struct BatchMaker {
  private var random: SeededGenerator

  init(_ seed: UInt64) { random = SeededGenerator(seed) }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  mutating func batch(_ isJSON: Bool) -> ODataBatch {
    let isRequests = chance(2) || isJSON && chance(2)
    var parts: [ODataBatchPart] = []
    var group: String?
    for number in 1...Int.random(in: 1...6, using: &random) {
      if chance(3) { group = group == nil ? "g\(number)" : nil }
      var part = part(number, isRequests, isJSON)
      part.group = group
      if isRequests, group != nil, part.method == "GET" { part.group = nil }
      if isRequests, !isJSON, part.group == nil { group = nil }
      if isRequests, isJSON, part.group == nil { group = nil }
      if isJSON, isRequests, let before = parts.last, chance(2) {
        let group = before.group == part.group ? nil : before.group
        part.dependsOn = [group ?? before.id ?? ""]
        if chance(2) { part.condition = "$\(before.id ?? "") gt 'a\"\t'" }
      }
      if isRequests, let before = parts.last?.id, chance(3),
        case .request(let method, _) = part.subject
      {
        part.subject = .request(method: method, url: "$\(before)/Items")
        let group = parts.last?.group
        let needed = [before] + (group == part.group ? [] : [group].compactMap { $0 })
        if isJSON { part.dependsOn += needed.filter { !part.dependsOn.contains($0) } }
      }
      parts.append(part)
    }
    return ODataBatch(parts)
  }

  private mutating func part(_ number: Int, _ isRequest: Bool, _ isJSON: Bool) -> ODataBatchPart {
    let method = ["GET", "POST", "PATCH", "DELETE"].randomElement(using: &random) ?? "GET"
    var part = ODataBatchPart(
      isRequest
        ? .request(method: method, url: "Set('\(number)%20')?$top=1")
        : .response(status: Int.random(in: 100...599, using: &random)))
    if isJSON || chance(2) { part.id = "r\(number)" }
    if chance(2) { part.headers.append(.init(name: "X-Name", value: "a \"b\" ü\t😀")) }
    if chance(3) { part.headers.append(.init(name: "Empty", value: "")) }
    if chance(4) { return part }
    let kind = Int.random(in: 0..<3, using: &random)
    let type = ["application/json", "text/plain;charset=utf-8", "application/octet-stream"][kind]
    part.headers.append(.init(name: "Content-Type", value: type))
    switch kind {
    case 0: part.body = json().bytes
    case 1: part.body = text().bytes
    default:
      part.body = (0..<Int.random(in: 1...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
    }
    return part
  }

  private mutating func text() -> String {
    let words = [
      "a", "\r\n", "\n", "\r", "--", "--b-", "-", "\"", "\\", "ü", "😀", "\u{1}", " ", "b",
    ]
    return (0..<Int.random(in: 1...20, using: &random)).map { _ in
      words.randomElement(using: &random) ?? ""
    }.joined()
  }

  private mutating func json(_ depth: Int = 0) -> String {
    var writer = JSONWriter()
    switch Int.random(in: depth < 3 ? 0..<6 : 2..<6, using: &random) {
    case 0: return "[\(json(depth + 1)), \(json(depth + 1))]"
    case 1: return "{\"a\" : \(json(depth + 1)) ,\n\"b\":\(json(depth + 1))}"
    case 2: return "-12.50e+3"
    case 3: return "false"
    case 4: return "0"
    default:
      writer.string(text())
      return writer.text
    }
  }
}
