import FerryOData

/// `$search`: words and phrases with NOT, AND, OR, which are operators only between terms.
extension AddressParser {
  func search(isNested: Bool) throws(AddressFault) -> ODataSearch {
    if isOld { throw failure("$search is of V4", code: .notOffered) }
    blanks()
    if byte == UInt8(ascii: "'") { return .incomplete(try quoted()) }
    return try searchOr()
  }

  private func searchOr() throws(AddressFault) -> ODataSearch {
    try searchChain("OR") { (parser) throws(AddressFault) in
      try parser.searchChain("AND") { (parser) throws(AddressFault) in try parser.searchTerm() }
    }
  }

  private func searchChain(
    _ joint: String, _ next: (AddressParser) throws(AddressFault) -> ODataSearch
  ) throws(AddressFault) -> ODataSearch {
    var parts = [try next(self)]
    while searchContinues(joint) { parts.append(try next(self)) }
    guard parts.count > 1 else { return parts[0] }
    return joint == "OR" ? .or(parts) : .and(parts)
  }

  /// Takes the blanks and the operator before a further term; AND may be left out.
  private func searchContinues(_ joint: String) -> Bool {
    let start = position
    guard blanks(), beginsTerm else {
      position = start
      return false
    }
    let before = position
    let word = searchWordEnd.map { slice(position..<$0) } ?? ""
    if word == "OR" || word == "AND" {
      position += word.utf8.count
      if blanks(), beginsTerm {
        if word == joint { return true }
        position = start
        // Between terms, OR ends a chain of AND.
        return false
      }
      position = before
    }
    guard joint == "AND" else {
      position = start
      return false
    }
    return true
  }

  private var beginsTerm: Bool {
    byte == UInt8(ascii: "(") || byte == UInt8(ascii: "\"") || searchWordEnd != nil
  }

  /// The end of the word that stands here; nil where none does.
  private var searchWordEnd: Int? {
    var place = position
    while place < text.bytes.count, !isBlank(place) {
      let byte = text.bytes[place]
      if byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")") || byte == UInt8(ascii: "\"") {
        break
      }
      if byte == UInt8(ascii: ";"), !text.isEncoded(place) { break }
      if byte == UInt8(ascii: "'"), place == position { break }
      if byte < 0x20 || byte == 0x7F { break }
      place += 1
    }
    return place > position ? place : nil
  }

  private func searchTerm() throws(AddressFault) -> ODataSearch {
    try count()
    if take("(") {
      try enter()
      blanks()
      let inner = try searchOr()
      blanks()
      try expect(")", "a word or )")
      leave()
      return inner
    }
    if byte == UInt8(ascii: "\"") { return try phrase() }
    guard let end = searchWordEnd else {
      throw failure(
        "\(found) where a word was expected", "write special characters in double quotes")
    }
    let word = slice(position..<end)
    let start = position
    position = end
    if word == "NOT", blanks() {
      if beginsTerm {
        try enter()
        let inner = try searchTerm()
        leave()
        return .not(inner)
      }
      position = start + 3
    }
    return .word(word)
  }

  private func phrase() throws(AddressFault) -> ODataSearch {
    let start = position + 1
    guard let plain = closingQuote(from: start, readsEscapes: false) else {
      throw failure("the double quote is not closed")
    }
    guard plain > start else { throw failure("an empty phrase") }
    var text = slice(start..<plain)
    position = plain + 1
    // V4.0 writes a quote inside as `\"`. Later versions have no such mark: there the first quote
    // ends the phrase. What may follow a phrase tells which of the two was written.
    if let end = closingQuote(from: start, readsEscapes: true), end > plain, endsTerm(end + 1) {
      text = unescaped(start..<end)
      position = end + 1
    }
    if beginsTerm {
      throw failure("there is no blank after a phrase", "put a blank between phrase and word")
    }
    return .phrase(text)
  }

  private func closingQuote(from start: Int, readsEscapes: Bool) -> Int? {
    var place = start
    while place < text.bytes.count {
      if text.bytes[place] == UInt8(ascii: "\"") { return place }
      place += readsEscapes && isEscape(place) ? 2 : 1
    }
    return nil
  }

  private func isEscape(_ place: Int) -> Bool {
    guard text.bytes[place] == UInt8(ascii: "\\"), place + 1 < text.bytes.count else {
      return false
    }
    let next = text.bytes[place + 1]
    return next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\")
  }

  private func endsTerm(_ place: Int) -> Bool {
    guard place < text.bytes.count, !isBlank(place) else { return true }
    let byte = text.bytes[place]
    return byte == UInt8(ascii: ")") || byte == UInt8(ascii: ";") && !text.isEncoded(place)
  }

  private func unescaped(_ range: Range<Int>) -> String {
    var bytes: [UInt8] = []
    var place = range.lowerBound
    while place < range.upperBound {
      if isEscape(place) { place += 1 }
      bytes.append(text.bytes[place])
      place += 1
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
