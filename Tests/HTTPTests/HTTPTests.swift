import FerryHTTP
import Testing

@Suite("HTTP words")
struct HTTPTests {
  @Test("Header names are the same in any case, and keep their order and spelling")
  func headers() {
    var headers: HTTPHeaders = ["Content-Type": "a", "Set-Cookie": "1"]
    headers.add("set-cookie", "2")
    #expect(headers["CONTENT-TYPE"] == "a")
    #expect(headers.values("SET-cookie") == ["1", "2"])
    headers["content-type"] = "b"
    #expect(headers.fields.map(\.name) == ["content-type", "Set-Cookie", "set-cookie"])
    headers["Set-Cookie"] = nil
    #expect(headers == ["CONTENT-type": "b"])
    #expect(headers["K"] == nil)
    // U+212A folds to k in Unicode; in a header it is another name.
    #expect(HTTPHeaders([.init(name: "\u{212A}", value: "x")])["k"] == nil)
  }

  @Test("A bearer token is taken only from one well-formed header")
  func bearer() {
    func token(_ values: String...) -> String? {
      HTTPRequest(
        method: .get, path: "/",
        headers: HTTPHeaders(values.map { .init(name: "authorization", value: $0) })
      ).bearerToken
    }
    #expect(token("Bearer abc.DEF-_~+/=") == "abc.DEF-_~+/=")
    #expect(token("bearer   abc") == "abc")
    #expect(token() == nil)
    #expect(token("Basic abc") == nil)
    #expect(token("Bearer") == nil)
    #expect(token("Bearer a b") == nil)
    #expect(token("Bearer a\u{7}b") == nil)
    #expect(token("Bearer a", "Bearer b") == nil)
  }

  @Test("A path is decoded part by part, and what could mean another path is refused")
  func path() {
    func parts(_ path: String) -> [String]? {
      HTTPRequest(method: .get, path: path).pathSegments
    }
    #expect(parts("/") == [])
    #expect(parts("/a//b%20c/%C3%BC") == ["a", "b c", "ü"])
    for bad in ["/a/../b", "/%2e%2E/b", "/a%2fb", "/%00", "/%", "/%4", "/%zz", "/%FF"] {
      #expect(parts(bad) == nil, "\(bad)")
    }
  }

  @Test("A query value is decoded, the first one counts, and a name alone is empty")
  func query() {
    let request = HTTPRequest(method: .get, path: "/", query: "a=1+2%2B&b&a=3&c=x=y")
    #expect(request.queryValue("a") == "1 2+")
    #expect(request.queryValue("b") == "")
    #expect(request.queryValue("c") == "x=y")
    #expect(request.queryValue("d") == nil)
  }
}
