import FerryFuzzTargets
import Testing

@Suite("Numbers at their limits") struct NumberExtremesTests {
  @Test("No number ends the program, whatever reads it", arguments: NumberExtremes.texts)
  func everyReader(_ text: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == "numbers" })
    #expect(target.run(Array(text.utf8)) == nil)
  }

  /// Targets whose documents are texts with numbers in them.
  static let documents = [
    "messages", "contents", "tokens", "model", "http", "json", "atom", "batch", "address", "seed",
  ]

  @Test("No number of a document ends who reads it", arguments: documents)
  func everyPlace(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    var count = 0
    for document in try CorpusTests.documents(name) where document.count <= 800 {
      for place in NumberExtremesTests.numbers(in: document).prefix(8) {
        for text in NumberExtremes.inJSON {
          var changed = document
          changed.replaceSubrange(place, with: text.utf8)
          _ = target.run(changed)
          count += 1
        }
      }
    }
    #expect(count > 20, "\(name) has hardly any number")
  }

  /// Where digits stand that no letter, digit or point touches before them.
  static func numbers(in document: [UInt8]) -> [Range<Int>] {
    let isDigit = { (byte: UInt8) in (48...57).contains(byte) }
    var places: [Range<Int>] = []
    var index = 0
    while index < document.count {
      guard isDigit(document[index]) else {
        index += 1
        continue
      }
      var end = index
      while end < document.count, isDigit(document[end]) { end += 1 }
      let start = index > 0 && document[index - 1] == UInt8(ascii: "-") ? index - 1 : index
      places.append(start..<end)
      index = end
    }
    return places
  }
}
