import FerryJSON
import Testing

@testable import FerryCommand

/// Texts of others on the operator's terminal.
struct TerminalTests {
  private static let evil =
    "a\u{1B}]52;c;ZXZpbA==\u{07}\u{1B}[2J\rok\u{9B}1m\u{202E}x\u{7F}\u{E0041}é"

  @Test("What would steer a terminal is written out, and lines and words stay")
  func harmless() {
    #expect(
      Terminal.harmless(Self.evil)
        == #"a\u{1B}]52;c;ZXZpbA==\u{7}\u{1B}[2J\u{D}ok\u{9B}1m\u{202E}x\u{7F}\u{E0041}é"#)
    #expect(Terminal.harmless("Zürich – 東京 😀") == "Zürich – 東京 😀")
  }

  @Test("A document of JSON means the same afterwards, and steers nothing")
  func json() throws {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("name", Self.evil + "\n\t\"\\")
    writer.field(Self.evil, Int64(1))
    writer.endObject()
    let shown = Terminal.harmlessJSON(writer.text + "\n")
    #expect(
      !shown.unicodeScalars.contains { scalar in
        scalar != "\n" && [.control, .format].contains(scalar.properties.generalCategory)
      })
    let node = try JSONNode.parse(Array(shown.utf8))
    #expect(node["name"]?.string == Self.evil + "\n\t\"\\")
    #expect(node[Self.evil]?.integer == 1)
  }
}
