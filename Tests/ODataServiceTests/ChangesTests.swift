import FerryHTTP
import FerryJSON
import FerryOData
import FerryODataService
import Testing

@Suite("Changes of a set since it was read")
struct ChangesTests {
  private static let follow: HTTPHeaders = ["Prefer": "odata.track-changes"]

  private func link(_ answer: Desk.Answer, _ name: String = "deltaLink") throws -> String {
    try #require(answer.json?["@odata.\(name)"]?.string, "\(answer.text)")
  }

  @Test(
    "A delta link gives what was made, changed and deleted since, and the next link of its kind")
  func changes() async throws {
    let desk = try Desk()
    let first = await desk.get("Customers?$select=ID,Name", Self.follow)
    #expect(first.headers["Preference-Applied"] == "odata.track-changes")
    #expect(first.value.count == 4)
    let nothing = await desk.get(try link(first))
    #expect(nothing.status == 200 && nothing.value.isEmpty, "\(nothing.text)")
    _ = await desk.send(.post, "Customers", [:], #"{"ID":"N","Name":"New"}"#)
    let tag = try #require((await desk.get("Customers('C1')")).headers["ETag"])
    _ = await desk.send(.patch, "Customers('C1')", ["If-Match": tag], #"{"Name":"Other"}"#)
    _ = await desk.send(.delete, "Customers('C2')", ["If-Match": "W/\"2\""])
    let answer = await desk.get(try link(nothing))
    #expect(
      answer.json?["@odata.context"]?.string
        == "http://h/s/$metadata#Customers(ID,Name)/$delta", "\(answer.text)")
    #expect(answer.value.compactMap { $0["Name"]?.string } == ["New", "Other"], "\(answer.text)")
    #expect(answer.value.allSatisfy { $0["City"] == nil })
    // As 4.0 has it.
    let gone = answer.value.filter { $0["reason"] != nil }
    #expect(gone.map { $0["id"]?.string } == ["http://h/s/Customers('C2')"], "\(answer.text)")
    #expect(gone.first?["reason"]?.string == "deleted")
    #expect(gone.first?["@odata.context"]?.string == "#Customers/$deletedEntity")
    let last = await desk.get(try link(answer))
    #expect(last.value.isEmpty && last.status == 200)
  }

  @Test("What a condition does not hold for any more is removed, and a condition needs no new read")
  func conditions() async throws {
    let desk = try Desk()
    let first = await desk.get("Customers?$filter=City%20eq%20'Rome'", Self.follow)
    #expect(first.value.count == 2)
    _ = await desk.send(
      .patch, "Customers('C0')", ["If-Match": "W/\"0\""], #"{"City":"Ulm"}"#)
    _ = await desk.send(
      .patch, "Customers('C1')", ["If-Match": "W/\"1\""], #"{"City":"Rome"}"#)
    let pages = desk.source.state.withLock { $0.pages }
    let answer = await desk.get(try link(first))
    #expect(answer.value.compactMap { $0["ID"]?.string } == ["C1"], "\(answer.text)")
    #expect(answer.value.compactMap { $0["reason"]?.string } == ["changed"], "\(answer.text)")
    #expect(desk.source.state.withLock { $0.pages } == pages)
  }

  @Test("Only the last page has the link, and it gives what was changed while the pages were read")
  func pages() async throws {
    let desk = try Desk()
    let first = await desk.get(
      "Customers", ["Prefer": "odata.track-changes, odata.maxpagesize=3"])
    #expect(first.json?["@odata.deltaLink"] == nil && first.value.count == 3)
    _ = await desk.send(
      .patch, "Customers('C0')", ["If-Match": "W/\"0\""], #"{"Name":"Meanwhile"}"#)
    let second = await desk.get(try link(first, "nextLink"))
    #expect(second.value.count == 1)
    let answer = await desk.get(try link(second))
    #expect(answer.value.compactMap { $0["Name"]?.string } == ["Meanwhile"], "\(answer.text)")
  }

  @Test("What cannot be followed by its own entities alone has no link")
  func unfollowed() async throws {
    let desk = try Desk()
    for query in [
      "?$top=2", "?$skip=1", "?$expand=Orders", "?$filter=Orders/any(o:o/Paid)", "('C1')",
      "/$ref", "?$filter=now()%20gt%202020-01-01T00:00:00Z%20or%20City%20eq%20null",
    ] {
      let answer = await desk.get("Customers" + query, Self.follow)
      #expect(answer.headers["Preference-Applied"] == nil, "\(query)")
      #expect(!answer.text.contains("deltaLink"), "\(query): \(answer.text)")
    }
    #expect(!(await desk.get("Customers")).text.contains("deltaLink"))
  }

  @Test("A token that leads nowhere is 410 with the address of a new start")
  func gone() async throws {
    var limits = ODataServiceLimits()
    limits.changedRows = 1
    let desk = try Desk(limits: limits)
    let first = try link(await desk.get("Customers?$filter=City%20eq%20'Rome'", Self.follow))
    let other = await desk.get(first.replacing("Rome", with: "Ulm"))
    #expect(other.status == 410, "\(other.text)")
    #expect(other.headers["Location"]?.contains("$filter=") == true)
    #expect(other.headers["Location"]?.contains("deltatoken") == false)
    for name in ["a", "b"] {
      _ = await desk.send(.post, "Customers", [:], #"{"ID":"\#(name)","City":"Rome"}"#)
    }
    let many = await desk.get(first)
    #expect(many.status == 410 && many.code == "deltaTokenGone", "\(many.text)")
    let start = try #require(many.headers["Location"])
    #expect((await desk.get(start, Self.follow)).value.count == 4)
    for query in ["&$top=1", "&$skip=1", "&$orderby=ID", "&$count=true"] {
      #expect((await desk.get(first + query)).status == 400, "\(query)")
    }
    #expect((await desk.get("Customers('C1')?$deltatoken=x")).status == 501)
  }
}
