import FerryHTTP
import FerryTestTraits
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

@Suite("Cookies of a client")
struct CookieTests {
  private static let page = HTTPAddress("https://shop.example.com/a/b?q")!

  private static func jar(_ lines: String...) -> HTTPCookieJar {
    var jar = HTTPCookieJar()
    var headers = HTTPHeaders()
    for line in lines { headers.add("Set-Cookie", line) }
    jar.take(headers, from: page, now: 1000)
    return jar
  }

  private static func sent(_ jar: HTTPCookieJar, _ url: String, now: Int = 1000) -> String? {
    var jar = jar
    return HTTPAddress(url).flatMap { jar.header(for: $0, now: now) }
  }

  @Test(
    "A cookie goes back to its host and path, and to hosts below only where asked",
    .reference("ios/REQ-7"))
  func scope() {
    let jar = Self.jar("own=1", "all=2; Domain=example.com; Path=/", "deep=3; Path=/a/b")
    #expect(Self.sent(jar, "https://shop.example.com/a/b") == "deep=3; own=1; all=2")
    #expect(Self.sent(jar, "https://shop.example.com/a/bc") == "own=1; all=2")
    #expect(Self.sent(jar, "https://shop.example.com/") == "all=2")
    #expect(Self.sent(jar, "https://x.example.com/a/b") == "all=2")
    #expect(Self.sent(jar, "https://badexample.com/a/b") == nil)
  }

  @Test("What a host may not set is passed over")
  func refused() {
    let jar = Self.jar(
      "a=1; Domain=other.com", "b=1; Domain=com", "__Host-c=1; Path=/", "=x", "nothing",
      "big=\(String(repeating: "x", count: 5000))", "__Secure-d=1")
    #expect(jar.cookies.isEmpty)
    var plain = HTTPCookieJar()
    plain.take(["Set-Cookie": "s=1; Secure"], from: HTTPAddress("http://h/")!, now: 0)
    #expect(plain.cookies.isEmpty)
  }

  @Test("A secure cookie stays on https, and http cannot write over it")
  func secure() {
    var jar = Self.jar("s=1; Secure; Path=/")
    #expect(Self.sent(jar, "http://shop.example.com/") == nil)
    jar.take(["Set-Cookie": "s=2; Path=/"], from: HTTPAddress("http://shop.example.com/")!, now: 1)
    #expect(Self.sent(jar, "https://shop.example.com/") == "s=1")
  }

  @Test("Max-Age wins over Expires, and what is over is neither sent nor kept")
  func ages() {
    let jar = Self.jar(
      "a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
      "b=1; Expires=Thu, 01 Jan 1970 00:20:00 GMT", "c=1; Max-Age=0")
    #expect(Self.sent(jar, "https://shop.example.com/a/", now: 1009) == "a=1; b=1")
    #expect(Self.sent(jar, "https://shop.example.com/a/", now: 1010) == "b=1")
    #expect(Self.sent(jar, "https://shop.example.com/a/", now: 1200) == nil)
  }

  @Test("10,000 cookies leave 50 of a domain, those used last", .reference("ios/REQ-7"))
  func bounds() {
    var jar = HTTPCookieJar()
    for number in 0..<10_000 {
      jar.take(["Set-Cookie": "c\(number)=1"], from: Self.page, now: 0)
    }
    #expect(jar.cookies.count == 50)
    #expect(jar.cookies.last?.name == "c9999")
    jar.clear()
    #expect(jar.cookies.isEmpty)
  }

  @Test("Joined lines are taken apart between cookies, not inside a date")
  func joined() {
    let headers: HTTPHeaders = [
      "set-cookie": "a=1; Expires=Wed, 09 Jun 2038 10:18:14 GMT; Path=/, b=2,c=3"
    ]
    #expect(
      headers.setCookies == ["a=1; Expires=Wed, 09 Jun 2038 10:18:14 GMT; Path=/", "b=2", "c=3"])
  }

  @Test("A date is read in its three forms", .reference("ios/REQ-34"))
  func dates() {
    for text in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ] { #expect(HTTPDate.seconds(text) == 784_111_777) }
    for text in ["", "yesterday", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 25:00:00 GMT"] {
      #expect(HTTPDate.seconds(text) == nil)
    }
  }

  @Test(
    "A file's media type is that of its name's ending, and octets where nobody knows",
    .reference("ios/REQ-34"))
  func mediaTypes() {
    let known = [
      "photo.JPG": "image/jpeg", "/a.b/c.png": "image/png", "x.xml": "application/xml",
      "feed.atom": "application/atom+xml", "a.tar.gz": "application/gzip",
      "notes.txt": "text/plain", "report.pdf": "application/pdf", "d.json": "application/json",
    ]
    for (path, type) in known { #expect(HTTPMediaType.ofFile(at: path) == type) }
    for path in ["", ".", "x", "jpg", ".jpg", "a.jpg/b", "a.jpg/", "x.unknown", "x."] {
      #expect(HTTPMediaType.ofFile(at: path) == "application/octet-stream")
    }
  }

  @Test("Any text survives percent-encoding, and what is kept stays readable")
  func percent() {
    #expect(PercentEncoding.encode("a b/ü%", keeping: "/") == "a%20b/%C3%BC%25")
    #expect(PercentEncoding.decode("a%20b/%C3%BC%25".utf8) == "a b/ü%")
    #expect(PercentEncoding.decode("%4".utf8) == nil)
    #expect(PercentEncoding.decode("%FF".utf8) == nil)
  }

  @Test("An address names scheme, host and port, and what is none is refused")
  func addresses() {
    let address = HTTPAddress("HTTPS://me:pw@Host:8443/p?q#f")
    #expect(address?.origin == "https://host:8443" && address?.path == "/p")
    #expect(HTTPAddress("http://[::1]")?.origin == "http://[::1]:80")
    for text in [
      "", "host/x", "ftp://h/", "http://", "http://h:0/", "http://h:99999/", "http://a b/",
    ] {
      #expect(HTTPAddress(text) == nil, "\(text)")
    }
  }
}
