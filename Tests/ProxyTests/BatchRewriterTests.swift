import Testing

@testable import FerryProxy

@Suite("Links in the parts of a batch")
struct BatchRewriterTests {
  private let links = LinkAddress(
    of: "http://business:8000/odata/", becomes: "https://gate.example.com/flights/")!

  private func rewrite(_ text: String, by size: Int = .max) -> String {
    var rewriter = BatchRewriter(
      links, boundary: "b1", paths: (door: "/odata", service: "/flights"))
    let bytes = Array(text.replacing("\n", with: "\r\n").utf8)
    var out: [UInt8] = []
    var place = 0
    while place < bytes.count {
      let end = size > bytes.count - place ? bytes.count : place + size
      out += rewriter.take(Array(bytes[place..<end]))
      place = end
    }
    out += rewriter.finish()
    return String(decoding: out, as: UTF8.self).replacing("\r\n", with: "\n")
  }

  private static let answer = """
    --b1
    Content-Type: application/http
    Content-Length: 999

    HTTP/1.1 200 OK
    Content-Type: application/json;charset=utf-8
    Content-Length: 41

    {"id":"http://business:8000/odata/F(1)"}

    --b1
    Content-Type: multipart/mixed; boundary=c1

    --c1
    Content-Type: application/http

    HTTP/1.1 201 Created
    Location: http://business:8000/odata/F(2)
    Content-Type: application/atom+xml

    <id>http://business:8000/odata/F(2)</id>
    --c1
    Content-Type: application/http

    HTTP/1.1 204 No Content
    Content-Length: 0
    OData-EntityId: http://business:8000/odata/F(3)


    --c1--
    --b1
    Content-Type: application/http

    GET /odata/F?$top=1 HTTP/1.1
    Host: a


    --b1
    Content-Type: application/http

    HTTP/1.1 200 OK
    Content-Type: text/plain
    Content-Length: 29

    "http://business:8000/odata/"
    --b1--

    """

  private static let rewritten = """
    --b1
    Content-Type: application/http

    HTTP/1.1 200 OK
    Content-Type: application/json;charset=utf-8
    Content-Length: 48

    {"id":"https://gate.example.com/flights/F(1)"}

    --b1
    Content-Type: multipart/mixed; boundary=c1

    --c1
    Content-Type: application/http

    HTTP/1.1 201 Created
    Location: https://gate.example.com/flights/F(2)
    Content-Type: application/atom+xml

    <id>https://gate.example.com/flights/F(2)</id>
    --c1
    Content-Type: application/http

    HTTP/1.1 204 No Content
    Content-Length: 0
    OData-EntityId: https://gate.example.com/flights/F(3)


    --c1--
    --b1
    Content-Type: application/http

    GET /flights/F?$top=1 HTTP/1.1
    Host: a


    --b1
    Content-Type: application/http

    HTTP/1.1 200 OK
    Content-Type: text/plain
    Content-Length: 29

    "http://business:8000/odata/"
    --b1--

    """

  @Test(
    "Heads, bodies and their lengths, in sets of changes too", arguments: [1, 2, 5, 64, Int.max])
  func whole(size: Int) {
    let growth =
      "https://gate.example.com/flights".utf8.count - "http://business:8000/odata".utf8.count
    let expected = Self.rewritten.replacing(
      "Content-Length: 48", with: "Content-Length: \(41 + growth)")
    #expect(rewrite(Self.answer, by: size) == expected)
  }

  @Test(
    "A length that the body never had stays as it came",
    arguments: ["9223372036854775807", "0"])
  func falseLength(length: String) {
    let part = """
      --b1
      Content-Type: application/http

      POST x HTTP/1.1
      Content-Type: application/json
      Content-Length: \(length)

      {"u":"http://business:8000/odata/x"}
      --b1--

      """
    let out = rewrite(part)
    #expect(out.contains("https://gate.example.com/flights/x"))
    #expect(length == "0" || out.contains("Content-Length: \(length)\n"))
  }

  @Test("However a batch is cut, the result is the same")
  func cuts() {
    var seed: UInt64 = 7
    func draw(_ bound: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % bound
    }
    let lines = Self.answer.split(separator: "\n", omittingEmptySubsequences: false)
    for _ in 0..<300 {
      // Lines in any order: also what is no batch has to pass in one way.
      let text = (0..<draw(40)).map { _ in lines[draw(lines.count)] }.joined(separator: "\n")
      let whole = rewrite(text)
      #expect(rewrite(text, by: 1) == whole, "\(text)")
      #expect(rewrite(text, by: 1 + draw(30)) == whole, "\(text)")
    }
  }

  @Test("A part that is too long to be held passes without its length")
  func long() {
    let filler = String(repeating: "x", count: BatchRewriter.heldBytes)
    let text = """
      --b1
      Content-Type: application/http

      HTTP/1.1 200 OK
      Content-Length: 300000
      Content-Type: application/json

      {"a":"\(filler)","id":"http://business:8000/odata/F(1)"}
      --b1--

      """
    let result = rewrite(text, by: 4_096)
    #expect(!result.contains("Content-Length"))
    #expect(result.contains(#""https://gate.example.com/flights/F(1)""#))
  }

  @Test("The boundary is read from the media type")
  func boundary() {
    #expect(BatchRewriter.boundary(of: "multipart/mixed; boundary=a_1") == "a_1")
    #expect(BatchRewriter.boundary(of: "Multipart/Mixed;charset=x; Boundary=\"a b\"") == "a b")
    #expect(BatchRewriter.boundary(of: "multipart/form-data; boundary=a") == nil)
    #expect(BatchRewriter.boundary(of: "multipart/mixed") == nil)
  }
}
