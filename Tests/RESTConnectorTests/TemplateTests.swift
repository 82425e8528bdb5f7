import FerryHTTP
import FerryJSON
import Testing

@testable import FerryRESTConnector

/// Addresses by RFC 6570 and places by RFC 6901.
@Suite(.timeLimit(.minutes(60)))
struct TemplateTests {
  private func expanded(_ template: String, _ values: [String: String]) throws -> String? {
    try AddressTemplate(template).expanded { values[$0] }
  }

  @Test(arguments: [
    ("/items/{id}", "/items/7"), ("/items/{name}", "/items/a%20b%2Fc"),
    ("/items{/id}", "/items/7"), ("/items{?id,name}", "/items?id=7&name=a%20b%2Fc"),
    ("/items?x=1{&id}", "/items?x=1&id=7"), ("/items{?missing}", "/items"),
    ("/items{?id,missing}", "/items?id=7"), ("/items/{id},{id}", "/items/7,7"),
    ("/items{;id}", "/items;id=7"), ("/items{.id}", "/items.7"),
    ("/items{?empty}", "/items?empty="),
    ("/items/{+path}", "/items/a/b"), ("/items(key='{name}')", "/items(key='a%20b%2Fc')"),
  ])
  func valuesComeWhereTheyBelong(_ template: String, _ address: String) throws {
    let values = ["id": "7", "name": "a b/c", "empty": "", "path": "a/b"]
    #expect(try expanded(template, values) == address)
  }

  /// A value that would lead out of the service, or to the whole list, gives no address.
  @Test(arguments: ["..", ".", "", "../x", "a/../b", "%2e%2e/x", "a//b", "\u{0}", "a\\b", "/x"])
  func noValueLeadsAway(_ value: String) throws {
    for template in ["/items/{+id}", "/items/{id}"] {
      guard let address = try expanded(template, ["id": value]) else { continue }
      #expect(address.hasPrefix("/items/"))
      let parts = address.dropFirst("/items/".count).split(
        separator: "/", omittingEmptySubsequences: false)
      #expect(template == "/items/{+id}" || parts.count == 1)
      for part in parts {
        #expect(![".", "..", ""].contains(PercentEncoding.decode(part.utf8)), "\(address)")
      }
    }
    #expect(try expanded("/items/{id}", ["id": ".."]) == nil)
    #expect(try expanded("/items/{id}", ["id": ""]) == nil)
    #expect(try expanded("/items/{id}", [:]) == nil)
  }

  @Test(arguments: [
    ("", "{\"a\":{\"b/c\":[1,2],\"~\":3}}"), ("/a/b~1c/1", "2"), ("/a/~0", "3"),
    ("a/~0", "nothing"),
    ("/a/b~1c/01", "nothing"), ("/a/b~1c/-", "nothing"), ("/x", "nothing"),
    ("/a/b~1c/1/x", "nothing"),
  ])
  func aPointerFindsItsPlace(_ pointer: String, _ found: String) throws {
    let node = try JSONNode.parse(Array("{\"a\":{\"b/c\":[1,2],\"~\":3}}".utf8))
    let path = try #require(JSONPath(pointer))
    let text = path.node(in: node).map { String(decoding: JSONDraft($0).bytes, as: UTF8.self) }
    if pointer == "a/~0" {
      // Without a slash in front names stand as they are.
      #expect(text == nil)
    } else {
      #expect((text ?? "nothing") == found)
      if !pointer.isEmpty { #expect(path.description == pointer) }
    }
  }

  @Test(arguments: [
    ("<a?b=1>; rel=\"next\"", "a?b=1"), ("<p>; rel=\"prev\", <n>; rel=next", "n"),
    ("<p>; title=\"a, <x>; rel=next\"; rel=\"prev\", <n>; rel=\"last next\"", "n"),
    ("<p>; rel=\"prev\"", nil), ("", nil), ("<p", nil),
  ])
  func theNextLinkIsFound(_ header: String, _ link: String?) {
    #expect(LinkHeader.next([header]) == link)
  }

  @Test(arguments: [
    ("2026-11-27T08:00:00Z", "2026-11-27T08:00:00"),
    ("2026-11-27T08:00:00.5+02:30", "2026-11-27T05:30:00.5"),
    ("2026-01-01T00:30:00+0100", "2025-12-31T23:30:00"),
    ("2026-12-31T23:30:00-01", "2027-01-01T00:30:00"),
    ("2026-11-27T08:00:00", "2026-11-27T08:00:00"),
    ("2026-11-27T08:00:00+25:00", nil), ("2026-11-27", nil),
  ])
  func momentsBecomeUTC(_ text: String, _ utc: String?) {
    #expect(ServiceTime.utc(text) == utc)
  }

  @Test func momentsGoThereAndBack() {
    for milliseconds: Int64 in [0, 1, -1, 1_764_230_400_000, -86_400_001, 951_782_400_000] {
      let text = ServiceTime.text(milliseconds: milliseconds)
      #expect(text.flatMap { ServiceTime.milliseconds($0) } == milliseconds)
    }
    #expect(ServiceTime.httpDate(1_795_766_400_000) == "Fri, 27 Nov 2026 08:00:00 GMT")
    #expect(ServiceTime.httpDate(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
  }
}
