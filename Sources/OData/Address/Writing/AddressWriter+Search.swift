import FerryOData

/// `$search`.
extension AddressWriter {
  func search(_ search: ODataSearch) throws(AddressFault) {
    try needs(.v4, "$search")
    let start = text.endIndex
    try term(search, 1)
    guard Self.hasOperatorWord(search) else { return }
    // AND, OR and NOT are words only where they cannot be operators: the reader decides.
    let parser = AddressParser(Array(text[start...].utf8), ODataAddressSettings())
    do {
      try parser.open(0..<parser.address.count, isQuery: true, part: "$search")
      if try parser.search(isNested: false) == search { return }
    } catch { throw error }
    throw unwritable(
      "AND, OR or NOT as a word between others", "make a phrase of it: .phrase(\"AND\")")
  }

  private static func hasOperatorWord(_ search: ODataSearch) -> Bool {
    switch search {
    case .word(let word): ["AND", "OR", "NOT"].contains(word)
    case .phrase, .incomplete: false
    case .not(let inner): hasOperatorWord(inner)
    case .and(let parts), .or(let parts): parts.contains { hasOperatorWord($0) }
    }
  }

  private func term(_ search: ODataSearch, _ least: Int) throws(AddressFault) {
    switch search {
    case .word(let word):
      guard ODataSearch.isWord(word) || Self.hasOperatorWord(search) else {
        throw unwritable("\"\(word)\" is not a single word", "make a phrase of it")
      }
      guard !isPlain || !word.contains(";") else {
        throw unwritable("; in a word of a text", "make a phrase of it")
      }
      data(word, encodingAlso: ";")
    case .phrase(let phrase):
      guard !phrase.isEmpty else {
        throw unwritable("an empty phrase", "give it the words it looks for")
      }
      encoded("\"")
      data(Self.escaped(phrase), encodingAlso: ";")
      encoded("\"")
    case .incomplete(let typed): quoted(typed)
    case .not(let inner):
      encoded("NOT ")
      try term(inner, 3)
    case .and(let parts): try chain(parts, "AND", 2, least)
    case .or(let parts): try chain(parts, "OR", 1, least)
    }
  }

  /// A quote inside, as V4.0 writes it; without one a backslash stands for itself.
  private static func escaped(_ phrase: String) -> String {
    guard phrase.utf8.contains(UInt8(ascii: "\"")) else { return phrase }
    var bytes: [UInt8] = []
    for byte in phrase.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        bytes.append(UInt8(ascii: "\\"))
      }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func chain(
    _ parts: [ODataSearch], _ joint: String, _ strength: Int, _ least: Int
  ) throws(AddressFault) {
    guard parts.count > 1 else {
      throw unwritable("\(joint) of \(parts.count)", "give it two parts or more")
    }
    if strength < least { raw("(") }
    for (index, part) in parts.enumerated() {
      if index > 0 { encoded(" \(joint) ") }
      try term(part, strength + 1)
    }
    if strength < least { raw(")") }
  }
}
