import FerryJSON
import Testing

struct JSONScannerTests {
  private func parse(_ text: String, depthLimit: Int = 64) throws(JSONError) -> JSONNode {
    try JSONNode.parse(Array(text.utf8), depthLimit: depthLimit)
  }

  private func problem(_ text: [UInt8]) -> JSONError? {
    do throws(JSONError) {
      _ = try JSONNode.parse(text)
      return nil
    } catch {
      return error
    }
  }

  @Test("Ten thousand nested arrays or objects are refused where the limit is passed")
  func deepNesting() {
    for (open, width) in [("[", 1), ("{\"a\":", 5)] {
      let text = Array(String(repeating: open, count: 10_000).utf8)
      let error = problem(text)
      #expect(error?.problem == "more than 64 levels are nested")
      #expect(error?.offset == 64 * width + 1)
    }
  }

  @Test("Skipping a value keeps the same limit as reading it")
  func deepSkipping() {
    let text = Array(String(repeating: "[", count: 10_000).utf8)
    text.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      #expect(throws: JSONError.self) { try scanner.skipValue() }
    }
  }

  @Test("A text that is nested as deep as the limit is read")
  func allowedNesting() throws {
    let text = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    #expect(try parse(text).array?.count == 1)
    #expect(throws: JSONError.self) { try parse("[\(text)]") }
  }

  @Test(
    "What RFC 8259 does not allow is refused",
    arguments: [
      "", " ", "[1,]", "{\"a\":1,}", "[,1]", "[1 2]", "[1", "{\"a\"", "{\"a\":}", "{a:1}", "[1}",
      "01", "-01", "1.", ".5", "+1", "-", "1e", "1e+", "0x10", "NaN", "tru", "nul", "1 2", "[] []",
      "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\n\"", "\"\t\"", "'a'", "[1]]", "// a\n1",
    ])
  func refused(_ text: String) {
    #expect(throws: JSONError.self) { try parse(text) }
  }

  @Test(
    "Bytes that are no UTF-8 are refused inside strings",
    arguments: [
      [0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82],
    ] as [[UInt8]])
  func invalidUTF8(_ bytes: [UInt8]) {
    #expect(problem([0x22] + bytes + [0x22])?.problem == "the string is not valid UTF-8")
    let afterEscape = Array("\"\\n".utf8) + bytes + [0x22]
    #expect(problem(afterEscape)?.problem == "the string is not valid UTF-8")
  }

  @Test("A surrogate pair is one character, half of one is refused")
  func surrogates() throws {
    #expect(try parse("\"\\uD83C\\uDF4E\"").string == "🍎")
    for half in [
      "\\uD83C", "\\uDF4E", "\\uD83Cx", "\\uD83C\\n", "\\uD83C\\u0041", "\\uDF4E\\uD83C",
    ] {
      #expect(throws: JSONError.self) { try parse("\"\(half)\"") }
    }
  }

  @Test("All escapes are read, a zero character among them")
  func escapes() throws {
    let text = try parse(#""\"\\\/\b\f\n\r\t\u0000\u00e9\u20AC""#).string
    #expect(text == "\"\\/\u{8}\u{c}\n\r\t\0é€")
  }

  @Test("Integers are read to the last of 64 bits and no further")
  func integers() throws {
    func integer(_ text: String) throws(JSONError) -> Int64 {
      let bytes = Array(text.utf8)
      let result: Result<Int64, JSONError> = bytes.withUnsafeBufferPointer { buffer in
        var scanner = JSONScanner(buffer)
        do throws(JSONError) { return .success(try scanner.integer()) } catch {
          return .failure(error)
        }
      }
      return try result.get()
    }
    #expect(try integer("9223372036854775807") == .max)
    #expect(try integer("-9223372036854775808") == .min)
    for text in ["9223372036854775808", "-9223372036854775809", "1.0", "1e3"] {
      #expect(throws: JSONError.self) { try integer(text) }
    }
  }

  @Test("A number keeps every digit it was written with")
  func numberText() throws {
    let digits = "12345678901234567890.000000000000000001E-5"
    guard case .number(let text) = try parse(digits).content else {
      Issue.record("no number")
      return
    }
    #expect(text == digits)
    #expect(throws: JSONError.self) {
      try Array("1e999".utf8).withUnsafeBufferPointer { buffer in
        var scanner = JSONScanner(buffer)
        _ = try scanner.double()
      }
    }
  }

  @Test("A problem is at the line and the character where it stands")
  func places() {
    let text = Array("{\n  \"ä🍎\": tru\n}".utf8)
    let error = problem(text)
    #expect(TextPlace(offset: error?.offset ?? 0, in: text).description == "2:9")
  }

  @Test("Members keep their order, and the offsets of their keys and values")
  func members() throws {
    let text = "{ \"b\" : 1, \"a\":[true, null] }"
    let members = try #require(try parse(text).object)
    #expect(members.map(\.key) == ["b", "a"])
    #expect(members.map(\.keyOffset).map { $0 <= 11 } == [true, true])
    #expect(members.map(\.value.offset) == [8, 15])
  }
}
