import FerryOData
import Testing

/// Relative addresses, and what they stand beside.
@Suite("Bases") struct BaseTests {
  /// RFC 3986, section 5.4.
  static let examples: [(String, String)] = [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"),
    ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
    ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
    ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
    ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
    ("P(Name='a:b')", "http://a/b/c/P(Name='a:b')"),
  ]

  private func feed(_ base: String, _ links: [String], _ inner: String = "") -> String {
    let elements = links.map { "<link rel=\"x\" href=\"\($0)\"\(inner)/>" }.joined()
    return "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:base=\"\(base)\"><entry>\(elements)"
      + "</entry></feed>"
  }

  @Test("Links stand beside xml:base as RFC 3986 says, in all its examples")
  func examples() throws {
    let text = feed("http://a/b/c/d;p?q", Self.examples.map(\.0))
    let entry = try #require(try ODataFeed.read(text.bytes).entries.first)
    #expect(entry.links.map(\.href) == Self.examples.map(\.1))
  }

  @Test("An inner xml:base stands beside the outer one, and that beside the address asked for")
  func nested() throws {
    let text = feed("service/", ["P(1)"], " xml:base=\"deep/\"")
    let options = ODataReadOptions(base: "http://host/root/x?y")
    let entry = try #require(try ODataFeed.read(text.bytes, options).entries.first)
    #expect(entry.links.map(\.href) == ["http://host/root/service/deep/P(1)"])
    let without = try #require(try ODataFeed.read(text.bytes).entries.first)
    #expect(without.links.map(\.href) == ["P(1)"])
    var asIs = options
    asIs.resolvesLinks = false
    #expect(try ODataFeed.read(text.bytes, asIs).entries.first?.links.map(\.href) == ["P(1)"])
  }

  @Test("Media, actions, next and delta links of Atom stand beside the base too")
  func everything() throws {
    let text = Samples.atomFeed(
      entries: """
        <entry><content type="image/png" src="P(1)/$value"/><m:action metadata="#A" target="P(1)/A"/>
        <link rel="edit-media" href="P(1)/$value"/></entry>
        """, head: "<link rel=\"next\" href=\"p2\"/><link rel=\"delta\" href=\"/d2\"/>")
    let feed = try ODataFeed.read(text.bytes)
    #expect(feed.next == "http://host/service/p2" && feed.delta == "http://host/d2")
    let entry = try #require(feed.entries.first)
    #expect(entry.media?.source == "http://host/service/P(1)/$value")
    #expect(entry.media?.editLink == "http://host/service/P(1)/$value")
    #expect(entry.operations.first?.target == "http://host/service/P(1)/A")
  }

  @Test("Links of JSON stand beside an absolute context, else beside the address asked for")
  func json() throws {
    let members = #"""
      "value":[{"@odata.editLink":"P(1)","@odata.mediaReadLink":"P(1)/$value",
      "Whole@odata.navigationLink":"P(1)/Whole","#NS.A":{"target":"P(1)/A"}}],
      "@odata.nextLink":"p2"}
      """#
    let absolute = "{\"@odata.context\":\"http://host/service/$metadata#P\"," + members
    let options = ODataReadOptions(base: "http://host/service/P?$top=1")
    for (text, options) in [(absolute, ODataReadOptions()), ("{" + members, options)] {
      let feed = try ODataFeed.read(text.bytes, options)
      #expect(feed.next == "http://host/service/p2")
      let entry = try #require(feed.entries.first)
      #expect(entry.editLink == "http://host/service/P(1)")
      #expect(entry.media?.source == "http://host/service/P(1)/$value")
      #expect(entry.relatedLink("Whole")?.href == "http://host/service/P(1)/Whole")
      #expect(entry.operations.first?.target == "http://host/service/P(1)/A")
    }
    #expect(try ODataFeed.read(("{" + members).bytes).next == "p2")
    let verbose = #"{"d":{"results":[{"A":{"__deferred":{"uri":"P(1)/A"}}}],"__next":"p2"}}"#
    let old = try ODataFeed.read(verbose.bytes, options)
    #expect(old.next == "http://host/service/p2")
    #expect(old.entries.first?.relatedLink("A")?.href == "http://host/service/P(1)/A")
  }

  @Test("The context of a single entry gives its type, in Atom as in JSON")
  func context() throws {
    let metadata = try EdmMetadata.read(Samples.metadata4.bytes)
    let atom = """
      <entry xmlns="http://www.w3.org/2005/Atom"
        xmlns:d="http://docs.oasis-open.org/odata/ns/data"
        xmlns:m="http://docs.oasis-open.org/odata/ns/metadata"
        m:context="http://host/$metadata#Products/$entity">
        <content type="application/xml"><m:properties><d:Big>5</d:Big></m:properties></content>
      </entry>
      """
    let json = #"{"@odata.context":"http://host/$metadata#Products/$entity","Big":5}"#
    for text in [atom, json] {
      let entry = try ODataEntry.read(text.bytes, ODataReadOptions(metadata: metadata))
      #expect(entry.type == "Shop.Model.Product")
      #expect(entry["Big"] == .int64(5))
    }
  }
}
