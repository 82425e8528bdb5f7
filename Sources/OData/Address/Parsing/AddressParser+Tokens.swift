import FerryOData

/// The smallest parts: bytes, blanks, names.
extension AddressParser {
  var byte: UInt8? { position < text.bytes.count ? text.bytes[position] : nil }

  func byte(ahead: Int) -> UInt8? {
    position + ahead < text.bytes.count ? text.bytes[position + ahead] : nil
  }

  func isBlank(_ place: Int) -> Bool {
    guard place < text.bytes.count else { return false }
    let byte = text.bytes[place]
    return byte == 0x20 || byte == 0x09
      || (byte == UInt8(ascii: "+") && text.plusIsBlank && !text.isEncoded(place))
  }

  /// Skips blanks; whether there were any.
  @discardableResult
  func blanks() -> Bool {
    let start = position
    while isBlank(position) { position += 1 }
    return position > start
  }

  func take(_ character: Unicode.Scalar) -> Bool {
    guard let byte, byte == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  func expect(_ character: Unicode.Scalar, _ why: String) throws(AddressFault) {
    guard take(character) else { throw failure("\(found) where \(why) was expected") }
  }

  /// What stands here, for a message.
  var found: String {
    guard let byte else { return "the end" }
    if isBlank(position) { return "a blank" }
    if byte >= 0x80 || byte < 0x20 { return "a character" }
    return String(Unicode.Scalar(byte))
  }

  func end() throws(AddressFault) {
    let start = position
    guard start < text.bytes.count else { return }
    blanks()
    guard position < text.bytes.count else {
      throw failure("a blank at the end", at: start, "leave it out")
    }
    let word = peekWord()
    let wanted = part.hasSuffix("$search") ? "a word" : "an operator such as eq"
    throw failure("\(word.isEmpty ? found : word) where the end or \(wanted) was expected")
  }

  func slice(_ range: Range<Int>) -> String { String(decoding: text.bytes[range], as: UTF8.self) }

  static func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 >= 0x30 && $0 <= 0x39 } ?? false }

  /// The length of a letter of a name at a place; nil where none stands.
  func letter(_ place: Int, isFirst: Bool) -> Int? {
    guard place < text.bytes.count else { return nil }
    let byte = text.bytes[place]
    switch byte {
    case 0x41...0x5A, 0x61...0x7A, 0x5F: return 1
    case 0x30...0x39: return isFirst ? nil : 1
    case 0..<0x80: return nil
    default:
      let length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      let scalar = slice(place..<min(place + length, text.bytes.count)).unicodeScalars.first
      guard let scalar, ODataNames.isLetter(scalar, isFirst: isFirst) else { return nil }
      return length
    }
  }

  /// A name without dots; nil where none stands.
  func word() throws(AddressFault) -> String? {
    guard let first = letter(position, isFirst: true) else { return nil }
    let start = position
    position += first
    var letters = 1
    while let next = letter(position, isFirst: false) {
      position += next
      letters += 1
    }
    guard letters <= limits.nameLength else {
      throw failure(
        "a name of \(letters) letters, more than \(limits.nameLength)", at: start, code: .limit)
    }
    return slice(start..<position)
  }

  func name(_ what: String) throws(AddressFault) -> String {
    guard let name = try word() else { throw failure("\(found) where \(what) was expected") }
    return name
  }

  /// A name that may have namespaces in front; nil where none stands.
  func qualifiedWord() throws(AddressFault) -> String? {
    let start = position
    guard try word() != nil else { return nil }
    while byte == UInt8(ascii: "."), letter(position + 1, isFirst: true) != nil {
      position += 1
      _ = try word()
    }
    return slice(start..<position)
  }

  /// A word that stands here, without taking it.
  func peekWord() -> String {
    var place = position
    while let next = letter(place, isFirst: place == position) { place += next }
    return slice(position..<place)
  }
}

/// What names are made of.
enum ODataNames {
  /// What no path can begin with, in any case.
  static let literals: Set<String> = ["true", "false", "null", "inf", "nan", "not"]

  static func isLetter(_ scalar: Unicode.Scalar, isFirst: Bool) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .letterNumber:
      true
    case .decimalNumber, .nonspacingMark, .spacingMark, .connectorPunctuation, .format:
      !isFirst || scalar == "_"
    default: false
    }
  }

  static func isName(_ text: some StringProtocol) -> Bool {
    var isFirst = true
    for scalar in text.unicodeScalars {
      guard isLetter(scalar, isFirst: isFirst) else { return false }
      isFirst = false
    }
    return !isFirst && text.unicodeScalars.count <= 128
  }

  static func isQualified(_ text: String) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isName($0) }
  }
}
