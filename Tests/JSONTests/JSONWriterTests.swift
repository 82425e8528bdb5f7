import FerryJSON
import Testing

struct JSONWriterTests {
  @Test("What is written is read back equal, whatever characters it has")
  func roundTrip() throws {
    let scalars = (0..<0x300).compactMap(Unicode.Scalar.init) + ["\u{2028}", "🍎", "\u{10FFFF}"]
    for scalar in scalars {
      let text = "a\(Character(scalar))\"\\b"
      var writer = JSONWriter()
      writer.string(text)
      #expect(try JSONNode.parse(writer.bytes).string == text)
    }
  }

  @Test("Commas stand between values and nowhere else")
  func commas() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("a", 1)
    writer.field("b", String?.none)
    writer.key("c")
    writer.array([1, 2]) { $0.integer($1) }
    writer.key("d")
    writer.beginObject()
    writer.endObject()
    writer.field("e", true)
    writer.endObject()
    #expect(writer.text == #"{"a":1,"b":null,"c":[1,2],"d":{},"e":true}"#)
  }

  @Test("A double is read back as the same bits")
  func doubles() throws {
    var generator = SystemRandomNumberGenerator()
    var numbers: [Double] = [
      0, -0.0, 1, 0.1, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ]
    for _ in 0..<2_000 {
      let number = Double(bitPattern: generator.next())
      if number.isFinite { numbers.append(number) }
    }
    for number in numbers {
      var writer = JSONWriter()
      writer.double(number)
      let read = try writer.bytes.withUnsafeBufferPointer { buffer in
        var scanner = JSONScanner(buffer)
        return try scanner.double()
      }
      #expect(read.bitPattern == number.bitPattern, "\(number)")
    }
  }

  @Test("Infinities and no-numbers are strings, since JSON has no word for them")
  func specialDoubles() {
    var writer = JSONWriter()
    writer.array([Double.infinity, -.infinity, .nan]) { $0.double($1) }
    #expect(writer.text == #"["INF","-INF","NaN"]"#)
  }
}
