/// What relative addresses stand beside: RFC 3986, section 5.
final class ODataGround {
  private let scheme: Substring
  private let authority: Substring
  private let path: Substring
  private let query: Substring
  /// All up to the last step of the path, which most references only go on from.
  private let folder: String

  /// Nil where the text is no absolute address with an authority.
  init?(_ text: String) {
    let parts = Self.parts(text)
    guard let scheme = parts.scheme, let authority = parts.authority else { return nil }
    self.scheme = scheme
    self.authority = authority
    path = parts.path
    query = parts.query ?? ""
    let steps = parts.path.lastIndex(of: "/").map { parts.path[...$0] } ?? "/"
    folder = "\(scheme)://\(authority)" + Self.plain(steps)
  }

  /// The address that a reference means here.
  func resolve(_ reference: String) -> String {
    if Self.isSimple(reference) { return folder + reference }
    let parts = Self.parts(reference)
    if parts.scheme != nil { return reference }
    let start = "\(scheme)://"
    let end = (parts.query.map { "?" + $0 } ?? "") + (parts.fragment.map { "#" + $0 } ?? "")
    if let authority = parts.authority {
      return start + authority + Self.plain(parts.path) + end
    }
    if parts.path.isEmpty {
      let own = parts.query == nil && !query.isEmpty ? "?" + query : ""
      return start + authority + path + own + end
    }
    if parts.path.hasPrefix("/") { return start + authority + Self.plain(parts.path) + end }
    let steps = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    return start + authority + Self.plain(steps + parts.path) + end
  }

  /// Whether a reference begins with a step of a path and holds none to be taken out.
  private static func isSimple(_ reference: String) -> Bool {
    var last: UInt8 = 0
    var mayBeScheme = true
    for (index, byte) in reference.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"):
        if index == 0 { return false }
        mayBeScheme = false
      case UInt8(ascii: "."):
        if index == 0 || last == UInt8(ascii: "/") { return false }
      case UInt8(ascii: ":"):
        if mayBeScheme { return false }
      case UInt8(ascii: "("), UInt8(ascii: "'"), UInt8(ascii: "$"): mayBeScheme = false
      default: break
      }
      last = byte
    }
    return last != 0
  }

  private struct Parts {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring = ""
    var query: Substring?
    var fragment: Substring?
  }

  private static func parts(_ text: String) -> Parts {
    var parts = Parts()
    var rest = text[...]
    let head = rest.prefix { $0 != ":" && $0 != "/" && $0 != "?" && $0 != "#" }
    if let first = head.utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A,
      head.endIndex < rest.endIndex, rest[head.endIndex] == ":",
      head.allSatisfy({
        $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "-" || $0 == ".")
      })
    {
      parts.scheme = head
      rest = rest[rest.index(after: head.endIndex)...]
    }
    if rest.hasPrefix("//") {
      let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      parts.authority = authority
      rest = rest[authority.endIndex...]
    }
    if let mark = rest.firstIndex(of: "#") {
      parts.fragment = rest[rest.index(after: mark)...]
      rest = rest[..<mark]
    }
    if let mark = rest.firstIndex(of: "?") {
      parts.query = rest[rest.index(after: mark)...]
      rest = rest[..<mark]
    }
    parts.path = rest
    return parts
  }

  /// The path without `.` and `..`.
  private static func plain(_ path: some StringProtocol) -> String {
    var steps: [Substring] = []
    let all = Substring(path).split(separator: "/", omittingEmptySubsequences: false)
    for (index, step) in all.enumerated() {
      let isLast = index == all.count - 1
      if step == ".." {
        if steps.count > 1 { steps.removeLast() }
        if isLast { steps.append("") }
      } else if step == "." {
        if isLast { steps.append("") }
      } else {
        steps.append(step)
      }
    }
    return steps.joined(separator: "/")
  }
}
