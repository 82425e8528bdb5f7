import FerryHTTP

/// An address and what stands in its place on the other side of the door.
struct LinkAddress: Sendable {
  /// Without the slash at its end; each spelling of the same address.
  let spellings: [[UInt8]]
  /// Up to here letters of either case are the same: scheme and authority.
  let authorityBytes: [Int]
  let replacement: [UInt8]

  /// Nil for what is no address of http.
  init?(of address: String, becomes replacement: String) {
    guard let parts = HTTPAddress(address) else { return nil }
    let path = parts.path.hasSuffix("/") ? String(parts.path.dropLast()) : parts.path
    let usual = parts.isSecure ? 443 : 80
    var authorities = ["\(parts.scheme)://\(parts.host):\(parts.port)"]
    if parts.port == usual { authorities.append("\(parts.scheme)://\(parts.host)") }
    spellings = authorities.map { Array(($0 + path).utf8) }
    authorityBytes = authorities.map(\.utf8.count)
    let bare = replacement.hasSuffix("/") ? String(replacement.dropLast()) : replacement
    self.replacement = Array(bare.utf8)
    let other = HTTPAddress(bare)?.path ?? "/"
    paths = (path, other == "/" ? "" : other)
  }

  /// The path of the address, and that of the other one; both without the slash at their end.
  let paths: (own: String, other: String)

  /// A value of a field that is a link, perhaps without scheme and host. One that begins with `//`
  /// has a host, and one that begins without a slash leads to the same place on both sides.
  func rewriteLink(_ text: String) -> String {
    guard text.hasPrefix("/"), !text.hasPrefix("//") else { return rewrite(text) }
    let bytes = Array(text.utf8)
    let path = Array(paths.own.utf8)
    guard bytes.starts(with: path), bytes.count == path.count || LinkAddress.ends(bytes[path.count])
    else { return text }
    return paths.other + String(decoding: bytes[path.count...], as: UTF8.self)
  }

  /// The text with the other address, where it begins with this one; else as it is.
  func rewrite(_ text: String) -> String {
    let bytes = Array(text.utf8)
    for (number, spelling) in spellings.enumerated() where bytes.count >= spelling.count {
      let isSame = spelling.indices.allSatisfy {
        LinkAddress.isSame(bytes[$0], spelling[$0], ignoringCase: $0 < authorityBytes[number])
      }
      guard isSame, bytes.count == spelling.count || LinkAddress.ends(bytes[spelling.count]) else {
        continue
      }
      return String(decoding: replacement + bytes[spelling.count...], as: UTF8.self)
    }
    return text
  }

  static func isSame(_ left: UInt8, _ right: UInt8, ignoringCase: Bool) -> Bool {
    left == right || ignoringCase && lower(left) == lower(right)
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
  }

  /// Whether an address can end before this byte; another would make it a longer name.
  static func ends(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x00...0x20: true
    default: "/\\\"'<>?#&)]},".utf8.contains(byte)
    }
  }
}
