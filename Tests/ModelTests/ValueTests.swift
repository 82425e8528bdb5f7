import FerryModel
import Testing

@Suite("When two values are the same")
struct ValueTests {
  /// One text for a reader and for `String`'s `==`, two for a database: é as one code point, and as
  /// an e with a combining accent.
  private let composed: String = "Andr\u{E9}"
  private let decomposed: String = "Andre\u{301}"

  @Test("Texts are compared byte for byte, so that a change of the Unicode form is a change")
  func unicodeForms() {
    #expect(composed == decomposed)
    #expect(AttributeValue.text(composed) != .text(decomposed))
    #expect(AttributeValue.text(composed) == .text("Andr" + "\u{E9}"))
    #expect(Set([AttributeValue.text(composed), .text(decomposed)]).count == 2)
    // As many bytes, in another order.
    #expect(AttributeValue.text("a\u{323}\u{302}") != .text("a\u{302}\u{323}"))
  }

  @Test("Keys are told apart as their database does")
  func keys() {
    let keys = [ObjectKey([.text(composed)]), ObjectKey([.text(decomposed)])]
    #expect(keys[0] != keys[1])
    #expect(Dictionary(grouping: keys, by: { $0 }).count == 2)
  }

  @Test("NaN is itself, and 0 is 0 with either sign")
  func numbers() {
    #expect(AttributeValue.double(.nan) == .double(-.nan))
    #expect(Set([AttributeValue.double(.nan), .double(-.nan)]).count == 1)
    #expect(AttributeValue.double(-0.0) == .double(0) && AttributeValue.double(1) != .integer(1))
  }
}
