import FerryOData
import FerryODataShell
import Testing

/// One test for each row of Sources/OData/OData/FerryOData.docc/Limits.md.
@Suite("Limits") struct LimitTests {
  private func refusal(_ bytes: [UInt8]) -> ODataError? {
    do {
      _ = try ODataDescriber.describe(bytes)
      return nil
    } catch { return error }
  }

  private func refusal(_ text: String) -> ODataError? { refusal(text.bytes) }

  private func atom(_ value: String, _ type: String = "Edm.String") -> String {
    Samples.atomFeed(
      entries: """
        <entry><content type="application/xml"><m:properties><d:v m:type="\(type)">\(value)</d:v>
        </m:properties></content></entry>
        """)
  }

  @Test("DOCTYPE is refused before anything in it is read: bombs, external entities, parameters")
  func doctype() {
    let bombs = [
      "<!DOCTYPE a [<!ENTITY x \"x\"><!ENTITY y \"&x;&x;&x;\">]><a>&y;</a>",
      "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>",
      "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><a>&e;</a>",
      "<!DOCTYPE a [<!ENTITY % p SYSTEM \"http://127.0.0.1:1/\">%p;]><a/>",
      "<!DOCTYPE a PUBLIC \"x\" \"http://127.0.0.1:1/\"><a/>",
    ]
    for bomb in bombs { #expect(refusal(bomb)?.code == .doctype, "\(bomb)") }
    #expect(refusal("<a>&undeclared;</a>")?.code == .malformed)
  }

  @Test("10,000 nested elements or containers are refused, with a place, and no stack overflows")
  func depth() {
    let elements = String(repeating: "<a>", count: 10_000)
    #expect(refusal(elements)?.code == .limit)
    let entry = "<entry xmlns=\"http://www.w3.org/2005/Atom\">"
    #expect(refusal(String(repeating: entry, count: 10_000))?.code == .limit)
    #expect(refusal(String(repeating: "[", count: 10_000))?.code == .limit)
    let objects = String(repeating: "{\"a\":", count: 10_000)
    #expect(refusal(objects)?.code == .limit)
    #expect(refusal("{\"d\":{\"results\":[" + objects)?.code == .limit)
    #expect(refusal("{\"$Version\":\"4.01\",\"S\":" + objects)?.code == .limit)
    #expect(refusal(elements)?.place?.column ?? 0 > 1)
  }

  @Test("A document cut off at any byte is refused as truncated or malformed, never taken as whole")
  func truncation() throws {
    let documents = [
      Samples.atomFeed(entries: Samples.flightEntry), Samples.metadata2, Samples.metadata4,
      Samples.service, Samples.openSearch,
      #"{"d":{"results":[{"__metadata":{"uri":"u"},"a":"x\u00e9","b":[1.5e3,true,null]}],"__count":"1"}}"#,
      #"{"@odata.context":"c","value":[{"a":1},{"b":{"c":"d"}}],"@odata.nextLink":"n"}"#,
      #"{"error":{"code":"1","message":"m"}}"#,
    ]
    for text in documents {
      let bytes = text.bytes
      for end in 0..<bytes.count - 1 {
        let error = refusal(Array(bytes[..<end]))
        #expect(error != nil, "\(end) of \(text.prefix(40))")
        if let code = error?.code {
          #expect([.truncated, .malformed, .encoding].contains(code), "\(end): \(code)")
        }
      }
    }
  }

  @Test("Byte order marks and UTF-16 of either order are read; wrong and mixed encodings refused")
  func encodings() throws {
    let text =
      "<?xml version=\"1.0\"?>"
      + "<a:A xmlns:a=\"http://docs.oasis-open.org/odata/ns/data\">é😀</a:A>"
    func wide(_ text: String, little: Bool, mark: Bool) -> [UInt8] {
      ((mark ? "\u{FEFF}" : "") + text).utf16.flatMap { unit in
        little ? [UInt8(unit & 0xFF), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(unit & 0xFF)]
      }
    }
    let json = #"{"@odata.context":"c","value":[{"a":"é😀"}]}"#
    for form in [text, json] {
      #expect(refusal([0xEF, 0xBB, 0xBF] + form.bytes) == nil)
      for little in [true, false] {
        for mark in [true, false] {
          #expect(refusal(wide(form, little: little, mark: mark)) == nil, "\(little) \(mark)")
        }
      }
    }
    let read = try ODataFeed.read(wide(json, little: true, mark: true))
    #expect(read.entries.first?["a"] == .string("é😀"))
    let latin =
      "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><entry xmlns=\"http://www.w3.org/2005/Atom\"><title>"
      .bytes
      + [0xE9] + "</title></entry>".bytes
    #expect(try ODataEntry.read(latin).title == "é")
    let declaredWide =
      "<?xml version=\"1.0\" encoding=\"utf-16\"?><entry xmlns=\"http://www.w3.org/2005/Atom\"><title>é</title></entry>"
    #expect(try ODataEntry.read(declaredWide.bytes).title == "é")
    #expect(refusal("<?xml version=\"1.0\" encoding=\"EBCDIC-CP-US\"?><a/>")?.code == .encoding)
    #expect(refusal("<a>".bytes + [0xE9] + "</a>".bytes)?.code == .encoding)
    #expect(refusal(#"{"a":""#.bytes + [0xE9, 0x20] + #""}"#.bytes)?.code == .encoding)
    #expect(
      refusal([0xFF, 0xFE, 0, 0] + wide("<a/>", little: true, mark: false))?.code == .encoding)
    #expect(refusal([0xFF, 0xFE] + [0x3C, 0x00, 0x00, 0xDC])?.code == .encoding)
    #expect(
      refusal([0xEF, 0xBB, 0xBF] + "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a/>".bytes)?
        .code == .encoding)
  }

  @Test("Overlong UTF-8 and surrogates in UTF-8 are refused")
  func overlong() {
    for bad: [UInt8] in [
      [0xC0, 0x80], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
    ] {
      let xml =
        "<entry xmlns=\"http://www.w3.org/2005/Atom\"><title>".bytes + bad
        + "</title></entry>".bytes
      #expect(refusal(xml) != nil, "\(bad)")
      #expect(
        refusal(#"{"value":[{"a":""#.bytes + bad + #""}]}"#.bytes)?.code == .encoding, "\(bad)")
    }
  }

  @Test("Duplicate attributes are refused; of duplicate keys all are kept, the first is found")
  func duplicates() throws {
    #expect(refusal("<a b=\"1\" b=\"2\"/>")?.code == .malformed)
    let entry = try ODataEntry.read(#"{"@odata.context":"c/$entity","a":1,"a":2}"#.bytes)
    #expect(entry.properties.count == 2)
    #expect(entry["a"] == .int32(1))
    let twice = try #require(try ODataFeed.read(atom("1</d:v><d:v>2").bytes).entries.first)
    #expect(twice.properties.map(\.value.text) == ["1", "2"] && twice["v"]?.text == "1")
  }

  @Test("A prefix that is not declared is told, and refused when reading strictly")
  func prefixes() throws {
    let text = Samples.atomFeed(entries: "<entry><id>1</id><x:y>2</x:y></entry>").bytes
    let reader = ODataFeedReader()
    reader.push(text)
    reader.finish()
    #expect(try reader.nextEntry()?.id == "1")
    #expect(try reader.nextEntry() == nil)
    #expect(reader.diagnostics.map { $0.message.contains("prefix x") } == [true])
    let strict = ODataReadOptions(isStrict: true)
    #expect(#expect(throws: ODataError.self) { try ODataFeed.read(text, strict) }?.code == .strict)
  }

  @Test(
    "Numbers of 5,000 digits or out of range are a value with all digits, or told as invalid",
    arguments: ["Edm.Int32", "Edm.Int64", "Edm.Byte", "Edm.Double", "Edm.Single", "Edm.Decimal"])
  func numbers(_ type: String) throws {
    let digits = String(repeating: "9", count: 5_000)
    for text in [digits, "-" + digits, "1e400", "1e-400", "9223372036854775808"] {
      let value = try #require(try ODataFeed.read(atom(text, type).bytes).entries.first?["v"])
      #expect(value.text == text || value.primitive == .double || value.primitive == .single)
      let json = ##"{"value":[{"v@odata.type":"#\##(type)","v":\##(text)},{"v":\##(text)}]}"##
      let entries = try ODataFeed.read(json.bytes).entries
      #expect(entries.count == 2)
      let strict = ODataReadOptions(isStrict: true)
      if type != "Edm.Decimal", text.utf8.count > 4_000 {
        #expect(throws: ODataError.self) { try ODataFeed.read(json.bytes, strict) }
      }
    }
  }

  @Test("NUL and control characters are refused where the format has no place for them")
  func controls() throws {
    for byte: UInt8 in [0, 1, 0x0B, 0x1F] {
      let xml =
        "<entry xmlns=\"http://www.w3.org/2005/Atom\"><title>a".bytes + [byte]
        + "b</title></entry>".bytes
      #expect(refusal(xml)?.code == .malformed, "\(byte)")
      let json = #"{"value":[{"a":"b"#.bytes + [byte] + #"c"}]}"#.bytes
      #expect(refusal(json)?.code == .malformed, "\(byte)")
    }
    #expect(refusal("<a>&#0;</a>")?.code == .malformed)
    #expect(
      try ODataFeed.read(#"{"value":[{"a":"\u0000"}]}"#.bytes).entries.first?["a"] == .string("\0"))
    #expect(refusal("<a/>".bytes + [0])?.code == .malformed)
  }

  @Test("A text that is neither XML nor JSON is called that, and one of blanks empty")
  func neither() throws {
    for text in ["Not found", "#!/bin/sh\necho", "AAECAwQ=", "\u{FEFF}x", "  \n  Gone"] {
      let found = try #require(refusal(text))
      #expect(found.code == .malformed && found.message == "the document is neither XML nor JSON")
      #expect(found.hint == "check the address: an OData service answers with XML, JSON or a batch")
    }
    #expect(refusal("  \n Gone")?.place == ODataPlace(line: 2, column: 2))
    for text in ["", " ", " \n\n ", "\u{FEFF}"] {
      #expect(refusal(text)?.message == "the document is empty", "\(text.utf8.count)")
    }
  }

  @Test("A NUL in XML is told where it stands")
  func nullPlace() throws {
    let text =
      "<entry xmlns=\"http://www.w3.org/2005/Atom\">\n<id>é".bytes + [0] + "</id></entry>".bytes
    #expect(refusal(text)?.place == ODataPlace(line: 2, column: 6))
    let far =
      "<entry xmlns=\"http://www.w3.org/2005/Atom\">".bytes
      + Array(repeating: UInt8(ascii: "\n"), count: 100_000) + [0] + "</entry>".bytes
    #expect(refusal(far)?.place == ODataPlace(line: 100_001, column: 1))
  }

  @Test("20 MB in one value are read, and more than the limit refused")
  func longValue() throws {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 20 << 20)
    let head = atom("").bytes
    let cut = try #require(String(decoding: head, as: UTF8.self).firstRange(of: "</d:v>"))
    let offset = String(decoding: head, as: UTF8.self).utf8.distance(
      from: "".startIndex, to: cut.lowerBound)
    let xml = head[..<offset] + long + head[offset...]
    #expect(try ODataFeed.read(Array(xml)).entries.first?["v"]?.string?.utf8.count == 20 << 20)
    let json = #"{"value":[{"v":""#.bytes + long + #""}]}"#.bytes
    #expect(try ODataFeed.read(json).entries.first?["v"]?.string?.utf8.count == 20 << 20)
    var limits = ODataLimits()
    limits.valueBytes = 1 << 20
    limits.recordBytes = 2 << 20
    let options = ODataReadOptions(limits: limits)
    #expect(
      #expect(throws: ODataError.self) { try ODataFeed.read(Array(xml), options) }?.code == .limit)
    #expect(#expect(throws: ODataError.self) { try ODataFeed.read(json, options) }?.code == .limit)
  }

  @Test("A million keys, attributes or properties are refused, in time and memory that are bounded")
  func millions() {
    let members = (0..<1_000_000).map { "\"k\($0)\":1" }.joined(separator: ",")
    #expect(refusal("{\"value\":[{\(members)}]}")?.code == .limit)
    #expect(refusal("{\(members)}")?.code == .limit)
    let attributes = (0..<1_000_000).map { "a\($0)=\"\"" }.joined(separator: " ")
    #expect(refusal("<a \(attributes)/>")?.code == .limit)
    let many = String(repeating: "<d:p>1</d:p>", count: 110_000)
    #expect(refusal(atom("</d:v>\(many)<d:v>"))?.code == .limit)
  }

  @Test("Every refusal has a place, a cure and one line")
  func refusals() {
    for text in [
      "", "<", "{", "<a></b>", "{\"a\":}", "[1,]", "{\"a\":1,}", "<unknown/>", "nonsense",
    ] {
      let error = refusal(text)
      #expect(error != nil, "\(text)")
      #expect(error?.place != nil, "\(text)")
      #expect(error?.hint.isEmpty == false)
      #expect(error?.description.contains("\n") == false)
    }
  }

  @Test("A chain of 2,000 base types is cut at its limit and reported")
  func chain() throws {
    let types = (0..<2_000).map {
      "<EntityType Name=\"T\($0)\" BaseType=\"A.T\($0 + 1)\"/>"
    }
    let metadata = try EdmMetadata.read(
      "<Schema Namespace=\"A\" xmlns=\"http://docs.oasis-open.org/odata/ns/edm\">\(types.joined())</Schema>"
        .bytes)
    let first = try #require(metadata.entityType("A.T0"))
    #expect(metadata.lineage(of: first).count == 64)
    #expect(metadata.diagnostics.contains { $0.message == "A.T0 has too many base types" })
  }

  @Test("Four million references to a character in one value are read as what they stand for")
  func references() throws {
    let text = String(repeating: "&amp;", count: 4 << 20)
    let value = try ODataFeed.read(atom(text).bytes).entries.first?["v"]?.string
    #expect(value?.utf8.count == 4 << 20)
    #expect(value?.utf8.allSatisfy { $0 == UInt8(ascii: "&") } == true)
  }

  @Test("More elements than a record may have are refused, in entries and in metadata")
  func elements() {
    let many = String(repeating: "<a/>", count: 2_500_000)
    #expect(refusal("<entry xmlns=\"http://www.w3.org/2005/Atom\">\(many)</entry>")?.code == .limit)
    #expect(refusal("<Schema Namespace=\"A\">\(many)</Schema>")?.code == .limit)
  }

  @Test("More different names than members may be are refused, in however many entries they are")
  func names() {
    let entries = (0..<101).map { entry in
      let elements = (0..<1_000).map { "<d:p\(entry * 1_000 + $0)/>" }.joined()
      return "<entry><content><m:properties>\(elements)</m:properties></content></entry>"
    }
    #expect(refusal(Samples.atomFeed(entries: entries.joined()))?.code == .limit)
  }

  @Test("An enumeration of a million members in CSDL JSON is refused, and so are too many values")
  func jsonMetadata() {
    let members = (0..<1_000_000).map { "\"M\($0)\":\($0)" }.joined(separator: ",")
    let text = #"{"$Version":"4.01","S":{"E":{"$Kind":"EnumType",\#(members)}}}"#
    #expect(throws: ODataError.self) { try EdmMetadata.read(text.bytes) }
    #expect(refusal(text)?.code == .limit)
    let numbers = String(repeating: "0,", count: 1_100_000)
    #expect(refusal(#"{"$Version":"4.01","S":[\#(numbers)0]}"#)?.code == .limit)
  }

  @Test("A thousand faults at the end of large metadata are told with their places")
  func faultsAtTheEnd() throws {
    let sound = (0..<10_000).map { "<EntityType Name=\"T\($0)\"/>\n" }.joined()
    let wrong = (0..<1_000).map { "<EntityType Name=\"W\($0)\" BaseType=\"A.Gone\"/>\n" }
    let metadata = try EdmMetadata.read(
      "<Schema Namespace=\"A\">\n\(sound)\(wrong.joined())</Schema>".bytes)
    #expect(metadata.diagnostics.count == 1_000)
    #expect(metadata.diagnostics.last?.place.line == 11_001)
    #expect(metadata.diagnostics.last?.place.path == "/Schema/EntityType[11000]")
    let types = (0..<10_000).map { "\"T\($0)\":{\"$Kind\":\"EntityType\"},\n" }.joined()
    let faults = (0..<1_000).map {
      "\"W\($0)\":{\"$Kind\":\"EntityType\",\"$BaseType\":\"A.Gone\"}"
    }
    let json = "{\"$Version\":\"4.01\",\"A\":{\n\(types)\(faults.joined(separator: ",\n"))}}"
    let other = try EdmMetadata.read(json.bytes)
    #expect(other.diagnostics.count == 1_000)
    #expect(other.diagnostics.last?.place.line == 11_001)
  }

  @Test("More diagnostics than the limit are counted, not kept")
  func diagnostics() throws {
    let types = String(repeating: "<ComplexType Name=\"T\"/>", count: 5_000)
    let metadata = try EdmMetadata.read("<Schema Namespace=\"A\">\(types)</Schema>".bytes)
    #expect(metadata.diagnostics.count == 1_001)
    #expect(metadata.diagnostics.last?.message == "3999 more diagnostics")
  }
}
