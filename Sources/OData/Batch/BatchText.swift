import FerryOData

/// The small grammars of heads: names, values, media types, boundaries.
package enum BatchText {
  /// RFC 9110, 5.6.2.
  static func isToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
  }

  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  /// No line end and no other control character but a tab.
  static func isLine(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
  }

  /// What may stand in a head's line. Blanks at the ends would be lost.
  static func isValue(_ text: String) -> Bool {
    let bytes = text.utf8
    if bytes.first == 0x20 || bytes.first == 0x09 { return false }
    if bytes.last == 0x20 || bytes.last == 0x09 { return false }
    return isLine(text)
  }

  /// JSON Format 4.01, 19.1: in either case.
  static let methodsOfJSON = ["DELETE", "GET", "PATCH", "POST", "PUT"]

  /// What a request line can carry as an address.
  static func isAddress(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// RFC 2046, 5.1.1.
  package static let boundaryLimit = 70

  /// Why the boundary that a Content-Type or a line names is none.
  static func fault(ofBoundary text: String) -> String {
    let count = text.utf8.count
    return count > boundaryLimit
      ? "the boundary has \(count) characters, and at most \(boundaryLimit) are allowed"
      : "\"\(shown(text))\" is not a boundary"
  }

  /// 1 to 70 characters; a few more than its own are read.
  static func isBoundary(_ text: String) -> Bool {
    (1...boundaryLimit).contains(text.utf8.count) && text.utf8.last != 0x20
      && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
  }

  static func isSame(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
    left.utf8.count == right.utf8.count
      && zip(left.utf8, right.utf8).allSatisfy { lowercase($0) == lowercase($1) }
  }

  static func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
  }

  /// Type and parameters of a media type; names in small letters, the first of a name wins.
  static func mediaType(_ text: String) -> (type: String, parameters: [String: String]) {
    var rest = Substring(text)
    func trimmed(_ part: Substring) -> Substring {
      var part = part.drop { $0 == " " || $0 == "\t" }
      while let last = part.last, last == " " || last == "\t" { part.removeLast() }
      return part
    }
    let end = rest.firstIndex(of: ";") ?? rest.endIndex
    let type = trimmed(rest[..<end]).lowercased()
    rest = rest[end...].dropFirst()
    var parameters: [String: String] = [:]
    while !rest.isEmpty {
      guard let equals = rest.firstIndex(where: { $0 == "=" || $0 == ";" }) else { break }
      if rest[equals] == ";" {
        rest = rest[equals...].dropFirst()
        continue
      }
      let name = trimmed(rest[..<equals]).lowercased()
      rest = rest[equals...].dropFirst().drop { $0 == " " || $0 == "\t" }
      var value = ""
      if rest.first == "\"" {
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
          value.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
        }
        rest = rest.drop { $0 != ";" }.dropFirst()
      } else {
        let end = rest.firstIndex(of: ";") ?? rest.endIndex
        value = String(trimmed(rest[..<end]))
        rest = rest[end...].dropFirst()
      }
      if parameters[name] == nil { parameters[name] = value }
    }
    return (type, parameters)
  }

  /// Whether a JSON batch carries bodies of this type as JSON; nothing said means JSON.
  static func isJSON(_ contentType: String?) -> Bool {
    guard let contentType else { return true }
    let type = mediaType(contentType).type
    return type == "application/json" || type == "text/json" || type.hasSuffix("+json")
  }

  /// Whether a JSON batch carries bodies of this type as plain strings.
  static func isText(_ contentType: String?) -> Bool {
    guard let contentType else { return false }
    return mediaType(contentType).type.hasPrefix("text/")
  }

  static func shown(_ text: String) -> String {
    let clean = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : String($0) }
    return clean.count > 60 ? clean.prefix(40).joined() + "…" : clean.joined()
  }
}
