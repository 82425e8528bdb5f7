import FerryHTTP
import FerryText

/// What of a request's target goes on, once nothing in it can mean something else to the service.
struct ForwardedTarget: Equatable {
  /// The name of the back end.
  let name: String
  /// Behind the name and its slash, as it came.
  let rest: String
  let query: String?

  /// Nil for a target that is none of the door's: another form, `.` and `..` in any spelling, zeros,
  /// backslashes, two slashes at the beginning.
  init?(path: String, query: String?) {
    let bytes = Array(path.utf8)
    guard bytes.first == ForwardedTarget.slash, ForwardedTarget.isPlain(bytes),
      ForwardedTarget.isPlain(Array((query ?? "").utf8))
    else { return nil }
    let inside = bytes.dropFirst()
    let end = inside.firstIndex(of: ForwardedTarget.slash) ?? inside.endIndex
    let name = inside[..<end]
    guard !name.isEmpty, name.allSatisfy(ForwardedTarget.isNameByte),
      !ForwardedTarget.climbs(bytes)
    else { return nil }
    self.name = String(decoding: name, as: UTF8.self)
    rest = String(decoding: inside[end...].dropFirst(), as: UTF8.self)
    self.query = query
  }

  private static let slash = UInt8(ascii: "/")

  /// Visible ASCII without what ends a path or is read as a slash.
  private static func isPlain(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { byte in
      (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "\\")
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-_.".utf8.contains(byte)
    }
  }

  /// Whether the path leaves its place when it is decoded, once or twice, as some servers do.
  private static func climbs(_ path: [UInt8]) -> Bool {
    var path = path
    for round in 0...2 {
      if round > 0 {
        guard let decoded = decode(path, isStrict: round == 1) else { return true }
        path = shortened(decoded)
      }
      let separators = [slash, UInt8(ascii: "\\")]
      for part in path.split(whereSeparator: { separators.contains($0) }) {
        // Some servers cut parameters off before they look at the dots.
        let bare = part.prefix { $0 != UInt8(ascii: ";") }
        if bare.elementsEqual(".".utf8) || bare.elementsEqual("..".utf8) { return true }
      }
      if path.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return true }
    }
    return false
  }

  /// Letters of ASCII in more bytes than they need (`%c0%ae` for a dot), as careless decoders read them.
  private static func shortened(_ bytes: [UInt8]) -> [UInt8] {
    var short: [UInt8] = []
    var index = 0
    func isTail(_ place: Int) -> Bool { place < bytes.count && bytes[place] & 0xC0 == 0x80 }
    while index < bytes.count {
      let byte = bytes[index]
      if byte & 0xFE == 0xC0, isTail(index + 1) {
        short.append((byte & 1) << 6 | bytes[index + 1] & 0x3F)
        index += 2
      } else if byte == 0xE0, isTail(index + 1), isTail(index + 2), bytes[index + 1] < 0x82 {
        short.append((bytes[index + 1] & 1) << 6 | bytes[index + 2] & 0x3F)
        index += 3
      } else {
        short.append(byte)
        index += 1
      }
    }
    return short
  }

  /// Nil where it is strict and a `%` has no two digits behind it.
  private static func decode(_ bytes: [UInt8], isStrict: Bool) -> [UInt8]? {
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%") {
        if index + 2 < bytes.count, let high = Hexadecimal.value(bytes[index + 1]),
          let low = Hexadecimal.value(bytes[index + 2])
        {
          decoded.append(high << 4 | low)
          index += 3
          continue
        }
        if isStrict { return nil }
      }
      decoded.append(bytes[index])
      index += 1
    }
    return decoded
  }
}
