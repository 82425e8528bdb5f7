import FerryJSON
import Testing

@Suite("Texts and places") struct TextTests {
  @Test("Lines and characters of long texts are counted as one by one")
  func places() {
    var text: [UInt8] = []
    for number in 0..<3_000 {
      text += (number % 7 == 0 ? "a\n" : number % 5 == 0 ? "ü🙂" : "plain").utf8
    }
    for length in [0, 1, 7, 8, 9, 2_039, 2_040, 2_041, 4_080, 4_088, text.count] {
      var line = 1
      var column = 1
      for byte in text[..<length] {
        if byte == 0x0A {
          (line, column) = (line + 1, 1)
        } else if byte & 0xC0 != 0x80 {
          column += 1
        }
      }
      #expect(TextPlace(offset: length, in: text) == TextPlace(line: line, column: column))
    }
    let breaks = [UInt8](repeating: 0x0A, count: 10_000)
    #expect(TextPlace(offset: 10_000, in: breaks) == TextPlace(line: 10_001, column: 1))
    let goingOn = [UInt8](repeating: 0x80, count: 10_000)
    #expect(TextPlace(offset: 10_000, in: goingOn) == TextPlace(line: 1, column: 1))
  }

  @Test("Bytes that are no UTF-8 make no text, wherever they stand")
  func checking() {
    for bad: [UInt8] in [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xC3]] {
      for before in 0..<20 {
        let bytes = [UInt8](repeating: 0x61, count: before) + bad
        #expect(bytes.withUnsafeBufferPointer { String(checking: $0) } == nil)
      }
    }
    for text in ["", "a", "12345678", "123456789 and more than fifteen", "ü🙂 and ASCII"] {
      #expect(Array(text.utf8).withUnsafeBufferPointer { String(checking: $0) } == text)
    }
  }
}
