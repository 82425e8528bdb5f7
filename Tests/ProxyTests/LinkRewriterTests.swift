import Testing

@testable import FerryProxy

@Suite("Links of a service lead back to the door")
struct LinkRewriterTests {
  private let links = LinkAddress(
    of: "http://Business:8000/odata/", becomes: "https://gate.example.com/flights/")!

  private func rewrite(
    _ text: String, _ format: LinkPlaces.Format, by size: Int = .max
  ) -> String {
    var rewriter = LinkRewriter(links, format)
    let bytes = Array(text.utf8)
    var out: [UInt8] = []
    var place = 0
    while place < bytes.count {
      let end = size > bytes.count - place ? bytes.count : place + size
      out += rewriter.take(Array(bytes[place..<end]))
      place = end
    }
    out += rewriter.finish()
    return String(decoding: out, as: UTF8.self)
  }

  private static let json: [(String, String)] = [
    (
      #"{"a":"http://business:8000/odata/F(1)"}"#, #"{"a":"https://gate.example.com/flights/F(1)"}"#
    ),
    (#"["HTTP://BUSINESS:8000/odata"]"#, #"["https://gate.example.com/flights"]"#),
    (
      #"{"a":"http:\/\/business:8000\/odata\/F"}"#,
      #"{"a":"https:\/\/gate.example.com\/flights\/F"}"#
    ),
    // Inside a text, behind an escaped quote, a longer name, another case of the path: no link.
    (#"{"a":"see http://business:8000/odata/F"}"#, #"{"a":"see http://business:8000/odata/F"}"#),
    (#"{"a":"\"http://business:8000/odata/F"}"#, #"{"a":"\"http://business:8000/odata/F"}"#),
    (#"{"a":"http://business:8000/odata2/F"}"#, #"{"a":"http://business:8000/odata2/F"}"#),
    (#"{"a":"http://business:8000/ODATA/F"}"#, #"{"a":"http://business:8000/ODATA/F"}"#),
    (#"{"a":"http://business:80/odata/F"}"#, #"{"a":"http://business:80/odata/F"}"#),
    (
      #"{"a":"http://business:8000/od","b":"http://business:8000/odata/G"}"#,
      #"{"a":"http://business:8000/od","b":"https://gate.example.com/flights/G"}"#
    ),
    (
      #"{"a":"http:\"http://business:8000/odata/F"}"#,
      #"{"a":"http:\"http://business:8000/odata/F"}"#
    ),
  ]

  private static let xml: [(String, String)] = [
    (
      #"<feed xml:base="http://business:8000/odata/">"#,
      #"<feed xml:base="https://gate.example.com/flights/">"#
    ),
    ("<id>http://business:8000/odata/F(1)</id>", "<id>https://gate.example.com/flights/F(1)</id>"),
    ("<id>\n  http://business:8000/odata</id>", "<id>\n  https://gate.example.com/flights</id>"),
    ("<a b='http://business:8000/odata/F'/>", "<a b='https://gate.example.com/flights/F'/>"),
    ("<t>see http://business:8000/odata/F</t>", "<t>see http://business:8000/odata/F</t>"),
    (
      "<!-- don't --><id>http://business:8000/odata/F</id>",
      "<!-- don't --><id>https://gate.example.com/flights/F</id>"
    ),
    ("<![CDATA[>http://business:8000/odata/F]]>", "<![CDATA[>http://business:8000/odata/F]]>"),
    (
      "<?x y='?><id>http://business:8000/odata/F</id>",
      "<?x y='?><id>https://gate.example.com/flights/F</id>"
    ),
    (
      "<id>http://business:8000.evil.com/odata/</id>",
      "<id>http://business:8000.evil.com/odata/</id>"
    ),
  ]

  @Test("Only where a link begins with the service's address", arguments: [1, 2, 3, 7, Int.max])
  func examples(size: Int) {
    for (text, expected) in Self.json {
      #expect(rewrite(text, .json, by: size) == expected, "by \(size): \(text)")
    }
    for (text, expected) in Self.xml {
      #expect(rewrite(text, .xml, by: size) == expected, "by \(size): \(text)")
    }
  }

  @Test("However a text is cut, the result is the same")
  func cuts() {
    let words = [
      "http://business:8000/odata", "/F", "\"", "\\", "\\/", "<", ">", "'", "http", "HTTP://", " ",
      "\n", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "business:8000", "/odata/", "&quot;",
      "=",
    ]
    var seed: UInt64 = 42
    func draw(_ bound: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % bound
    }
    for _ in 0..<4_000 {
      let text = (0..<draw(30)).map { _ in words[draw(words.count)] }.joined()
      for format in [LinkPlaces.Format.json, .xml] {
        let whole = rewrite(text, format)
        #expect(rewrite(text, format, by: 1) == whole, "\(text)")
        #expect(rewrite(text, format, by: 1 + draw(9)) == whole, "\(text)")
      }
    }
  }

  @Test("A service at the usual port is known with and without the port")
  func usualPort() {
    let links = LinkAddress(of: "https://business/", becomes: "https://gate/x/")!
    #expect(links.rewrite("https://business/F") == "https://gate/x/F")
    #expect(links.rewrite("https://business:443/F") == "https://gate/x/F")
    #expect(links.rewrite("https://business") == "https://gate/x")
    #expect(links.rewrite("https://business.evil/F") == "https://business.evil/F")
    #expect(links.rewrite("http://business/F") == "http://business/F")
  }
}
