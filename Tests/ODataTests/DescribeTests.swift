import FerryJSON
import FerryOData
import FerryODataShell
import Foundation
import Testing

/// Judges a value by the few words of JSON Schema that our schema uses.
private func problems(_ value: JSONNode, _ schema: JSONNode, _ path: String = "") -> [String] {
  var found: [String] = []
  switch schema["type"]?.string {
  case "object":
    guard let members = value.object else { return ["\(path) is no object"] }
    for name in schema["required"]?.array ?? [] where value[name.string ?? ""] == nil {
      found.append("\(path) lacks \(name.string ?? "")")
    }
    for member in members {
      guard let inner = schema["properties"]?[member.key] else {
        found.append("\(path)/\(member.key) is not declared")
        continue
      }
      found += problems(member.value, inner, path + "/" + member.key)
    }
  case "array":
    guard let elements = value.array, let items = schema["items"] else {
      return ["\(path) is no array"]
    }
    for element in elements { found += problems(element, items, path + "[]") }
  case "string":
    guard let text = value.string else { return ["\(path) is no string"] }
    if let allowed = schema["enum"]?.array, !allowed.contains(where: { $0.string == text }) {
      found.append("\(path) is \(text)")
    }
  case "integer": if (value.integer ?? -1) < 0 { found.append("\(path) is no count") }
  default: found.append("\(path) has a schema without a type")
  }
  return found
}

@Suite("Describe and convert") struct DescribeTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static let documents: [(String, String)] = [
    ("service-document", Samples.service), ("metadata", Samples.metadata2),
    ("metadata", Samples.metadata4), ("feed", Samples.atomFeed(entries: Samples.flightEntry)),
    ("entry", "<entry xmlns=\"http://www.w3.org/2005/Atom\"><id>1</id></entry>"),
    ("opensearch", Samples.openSearch),
    ("error", "<error><code>1</code><message>m</message></error>"),
    ("error", #"{"error":{"code":"1","message":"m"}}"#),
    ("error", #"{"odata.error":{"code":"1","message":{"lang":"en","value":"m"}}}"#),
    ("service-document", #"{"d":{"EntitySets":["A"]}}"#),
    ("service-document", #"{"@odata.context":"h/$metadata","value":[{"name":"A","url":"A"}]}"#),
    ("csdl-json", #"{"$Version":"4.01","S":{"T":{"$Kind":"ComplexType","a":{}}}}"#),
    (
      "json-v2",
      #"{"d":{"results":[{"__metadata":{"uri":"u","type":"T"},"a":null}],"__count":"1"}}"#
    ),
    ("json-v2", #"{"d":{"__metadata":{"uri":"u"},"a":1}}"#),
    ("json-v4", #"{"@odata.context":"$metadata#A","value":[{"a":1}],"@odata.nextLink":"n"}"#),
    ("json-v4", #"{"@odata.context":"$metadata#A/$entity","a":1}"#),
    ("json-v4", #"{"@odata.context":"$metadata#Edm.Int32","value":1}"#),
    ("batch", #"{"requests":[{"id":"1","method":"GET","url":"A"}]}"#),
    ("batch", "--b\r\nContent-Type: application/http\r\n\r\nGET A HTTP/1.1\r\n\r\n--b--\r\n"),
    (
      "value",
      "<d:A xmlns:d=\"http://schemas.microsoft.com/ado/2007/08/dataservices\">1</d:A>"
    ),
  ]

  @Test("Every kind of document is told, as its JSON Schema says", arguments: documents)
  func kinds(_ kind: String, _ text: String) throws {
    let description = try ODataDescriber.describe(text.bytes)
    #expect(description.kind.rawValue == kind)
    let file = Self.root.appendingPathComponent("Documentation/odata-describe.schema.json")
    let schema = try JSONNode.parse(Array(Data(contentsOf: file)))
    let printed = try JSONNode.parse(description.json().bytes)
    #expect(problems(printed, schema) == [])
    let names = Set((schema["properties"]?.object ?? []).map(\.key))
    let ours = Set(ODataDescription.countNames + ODataDescription.textNames)
    #expect(ours.union(["kind", "schemas", "diagnostics"]) == names)
    let kinds = schema["properties"]?["kind"]?["enum"]?.array?.compactMap(\.string) ?? []
    #expect(Set(kinds) == Set(ODataDescription.Kind.allCases.map(\.rawValue)))
  }

  @Test(
    "A service document of V2 is told however long it is, and no entry for one",
    arguments: [2, 40, 4_000])
  func longServiceDocuments(_ count: Int) throws {
    let names = (1...count).map { "\"Collection\($0)\"" }.joined(separator: ",")
    for text in ["{\"d\":{\"EntitySets\":[\(names)]}}", "{\"EntitySets\":[\(names)]}"] {
      let found = try ODataDescriber.describe(text.bytes)
      #expect(found.kind == .serviceDocument && found.counts["entitySets"] == count)
    }
    let entry =
      "{\"d\":{\"__metadata\":{\"uri\":\"u\"},\"Name\":\"x\",\"EntitySets\":\"\(count) of them\"}}"
    #expect(try ODataDescriber.describe(entry.bytes).kind == .jsonV2)
  }

  @Test("The counts of metadata are those of its elements")
  func metadata() throws {
    let two = try ODataDescriber.describe(Samples.metadata2.bytes).counts
    #expect(two["entityTypes"] == 2 && two["complexTypes"] == 1 && two["associations"] == 1)
    #expect(
      two["entitySets"] == 2 && two["functionImports"] == 1 && two["navigationProperties"] == 1)
    #expect(two["entityProperties"] == 11 && two["complexProperties"] == 2)
    #expect(two["sapAttributes"] == 13 && two["annotations"] == 0)
    let four = try ODataDescriber.describe(Samples.metadata4.bytes)
    #expect(four.schemas == ["Shop.Model"])
    #expect(four.counts["annotations"] == 4 && four.counts["singletons"] == 1)
    #expect(four.counts["functions"] == 1 && four.counts["actions"] == 1)
    #expect(four.counts["actionImports"] == 1 && four.counts["typeDefinitions"] == 1)
  }

  @Test("The counts of a feed are those of its elements at all depths")
  func feed() throws {
    let text = Samples.atomFeed(
      entries: Samples.flightEntry + "<at:deleted-entry ref=\"x\"/>",
      head: "<m:count>00012</m:count><link rel=\"next\" href=\"n\"/>")
    let found = try ODataDescriber.describe(text.bytes)
    #expect(found.counts["entries"] == 1 && found.counts["entriesIncludingInline"] == 3)
    #expect(found.counts["inlineFeeds"] == 1 && found.counts["properties"] == 11)
    #expect(found.counts["nullProperties"] == 2 && found.counts["links"] == 6)
    #expect(found.counts["mediaEntries"] == 1 && found.counts["deletedEntries"] == 1)
    #expect(found.counts["entriesWithETag"] == 2)
    #expect(found.texts["count"] == "00012" && found.texts["next"] == "n")
    #expect(found.texts["firstID"] == "http://host/service/FlightCollection('AA')")
    #expect(found.texts["firstType"] == "FLIGHT.Flight")
  }

  @Test("The command ends with 0 when read, 1 with one line when refused, 2 when misused")
  func command() {
    let files = [
      "feed": Samples.atomFeed(entries: Samples.flightEntry), "m": Samples.metadata2,
      "bad": "<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<entry></feed>",
    ]
    struct Missing: Error {}
    func run(_ arguments: String...) -> ODataShell.Outcome {
      ODataShell.run(arguments) { path in
        guard let text = files[path] else { throw Missing() }
        return text.bytes
      }
    }
    let read = run("describe", "feed", "--json", "--metadata", "m")
    #expect(read.status == 0 && read.output.starts(with: "{\"kind\":\"feed\"".utf8))
    #expect(run("describe", "feed").output.starts(with: "kind: feed\n".utf8))
    let refused = run("describe", "bad", "--strict")
    #expect(refused.status == 1 && refused.complaint.hasPrefix("bad:2:"))
    #expect(!refused.complaint.contains("\n"))
    #expect(run("describe", "gone").status == 1)
    #expect(run("describe", "feed", "--version", "5").status == 2)
    #expect(run("describe").status == 2)
    let json = run("convert", "feed", "--to", "json")
    #expect(json.status == 0 && json.output.starts(with: "{\"d\":{\"results\":[".utf8))
  }

  @Test(
    "A feed is converted by pieces, whose bytes come out while it is read", arguments: [1, 999])
  func streams(_ size: Int) throws {
    let atom = Samples.atomFeed(
      entries: String(repeating: Samples.flightEntry, count: 20), head: "<m:count>20</m:count>"
    ).bytes
    let metadata = try EdmMetadata.read(Samples.metadata2.bytes)
    let options = ODataReadOptions(metadata: metadata, set: "FlightCollection")
    let json = try ODataConversion.convert(atom, to: .json, options)
    let late = #"{"value":[{"@odata.id":"1","a":1}],"@odata.count":7,"@odata.context":"c"}"#.bytes
    for (text, format) in [(atom, ODataFormat.json), (json, .atom), (atom, .atom), (late, .json)] {
      let options = text == late ? ODataReadOptions() : options
      let conversion = ODataConversion(to: format, options)
      var early: [UInt8] = []
      for start in stride(from: 0, to: text.count, by: size) {
        early += try conversion.push(Array(text[start..<min(start + size, text.count)]))
      }
      if text.count > 1_000 { #expect(early.count > 1_000) }
      let all = try early + conversion.finish()
      let before = try ODataFeed.read(text, options)
      let after = try ODataFeed.read(all, options)
      #expect(after.entries.map { $0["PRICE"] } == before.entries.map { $0["PRICE"] })
      #expect(after.entries.map { essence($0) } == before.entries.map { essence($0) })
      #expect(after.count == before.count && after.head.context == before.head.context)
    }
  }

  @Test("A feed of JSON is described in the memory of an entry, a document of another kind is kept")
  func describesByPieces() throws {
    var limits = ODataLimits()
    limits.recordBytes = 10_000
    let options = ODataReadOptions(limits: limits)
    let entries = (0..<2_000).map { "{\"@odata.id\":\"\($0)\",\"a\":\($0)}" }
    let feed = "{\"value\":[\(entries.joined(separator: ","))]}"
    let found = try ODataDescriber.describe(feed.bytes, options)
    #expect(found.kind == .jsonV4 && found.counts["entries"] == 2_000)
    let items = (0..<2_000).map { "{\"name\":\"\($0)\",\"url\":\"\($0)\"}" }
    let service = "{\"value\":[\(items.joined(separator: ","))]}"
    let error = #expect(throws: ODataError.self) {
      try ODataDescriber.describe(service.bytes, options)
    }
    #expect(error?.code == .limit)
  }

  @Test("A feed converted to the other format and back is equal")
  func convert() throws {
    let metadata = try EdmMetadata.read(Samples.metadata2.bytes)
    let options = ODataReadOptions(metadata: metadata, set: "FlightCollection")
    let atom = Samples.atomFeed(entries: Samples.flightEntry).bytes
    let json = try ODataConversion.convert(atom, to: .json, options)
    let back = try ODataConversion.convert(json, to: .atom, options)
    let first = try ODataFeed.read(atom, options)
    let last = try ODataFeed.read(back, options)
    // Verbose JSON has no mark for the type of a property that the schema does not declare.
    var expected = try #require(first.entries.first).properties
    #expect(last.entries.first?["Undeclared"] == .string("INF"))
    expected["Undeclared"] = .string("INF")
    #expect(last.entries.map(\.properties) == [expected])
    #expect(last.entries.first?.inline("Carrier")?.entry?.etag == "c")
    let modern = try ODataConversion.convert(atom, to: .json, version: .v4)
    #expect(
      String(decoding: modern, as: UTF8.self).contains(
        "\"fldate\":\"2026-11-21T08:00:00.1234567Z\""))
  }
}
