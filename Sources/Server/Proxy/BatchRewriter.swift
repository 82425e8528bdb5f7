/// Rewrites the links of a batch, a multipart text whose parts are requests or answers of HTTP, while
/// it passes: in the heads of the parts, and in bodies of JSON and XML.
///
/// The length that a part announces becomes that of the new body. Of a part that announces one, so
/// much is held back; a longer part loses the announcement, and ends at its boundary.
struct BatchRewriter: TextRewriter {
  /// What of one part is held back.
  static let heldBytes: Int = 256 * 1024
  /// The longest head of a part; behind a longer one everything passes as it is.
  static let headBytes: Int = 32 * 1024
  /// A boundary has at most 70 bytes (RFC 2046).
  private static let boundaryLineBytes: Int = 128

  private enum State { case outside, partHead, startLine, innerHead, body, raw }

  private let links: LinkAddress
  /// What the path of a request becomes, where its line has no whole address.
  private let paths: (door: [UInt8], service: [UInt8])?
  private var boundaries: [[UInt8]]
  private var state = State.outside
  private var line: [UInt8] = []
  /// Whether the line can still be a boundary.
  private var isLineHeld = true
  private var type = ""
  private var head: [[UInt8]] = []
  private var headCount = 0
  private var lengthLine: Int?
  private var length = 0
  private var inner: LinkRewriter?
  private var isHolding = false
  private var held: [UInt8] = []

  init(_ links: LinkAddress, boundary: String, paths: (door: String, service: String)? = nil) {
    self.links = links
    self.paths = paths.map { (Array($0.door.utf8), Array($0.service.utf8)) }
    boundaries = [Array("--\(boundary)".utf8)]
  }

  /// The boundary that a media type names; nil where it is no multipart/mixed.
  static func boundary(of type: String) -> String? {
    let parts = type.split(separator: ";", omittingEmptySubsequences: false)
    guard parts.first?.filter({ $0 != " " }).lowercased() == "multipart/mixed" else { return nil }
    for part in parts.dropFirst() {
      let text = part.drop { $0 == " " || $0 == "\t" }
      guard text.lowercased().hasPrefix("boundary=") else { continue }
      let value = text.dropFirst(9).filter { $0 != "\"" }
      guard (1...70).contains(value.utf8.count) else { return nil }
      return String(value)
    }
    return nil
  }

  mutating func take(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count + 256)
    for byte in bytes { take(byte, &out) }
    return out
  }

  mutating func finish() -> [UInt8] {
    var out: [UInt8] = []
    switch state {
    case .outside, .body: passBody(line, &out)
    case .startLine, .innerHead: out += head.joined() + line
    case .partHead, .raw: out += line
    }
    if state == .body { endPart(&out) }
    line = []
    state = .raw
    return out
  }

  private mutating func take(_ byte: UInt8, _ out: inout [UInt8]) {
    switch state {
    case .raw: out.append(byte)
    case .partHead, .startLine, .innerHead:
      line.append(byte)
      headCount += 1
      if headCount > BatchRewriter.headBytes {
        out += head.joined() + line
        (head, line, state) = ([], [], .raw)
      } else if byte == 10 {
        takeHeadLine(&out)
      }
    case .outside, .body:
      guard isLineHeld else {
        passBody([byte], &out)
        isLineHeld = byte == 10
        return
      }
      line.append(byte)
      let isMark = line.prefix(2).allSatisfy { $0 == UInt8(ascii: "-") }
      if byte == 10 {
        takeBodyLine(&out)
      } else if !isMark || line.count > BatchRewriter.boundaryLineBytes {
        passBody(line, &out)
        line = []
        isLineHeld = false
      }
    }
  }

  private mutating func takeBodyLine(_ out: inout [UInt8]) {
    let text = BatchRewriter.trimmed(line)
    let isEnd = text.suffix(2) == Array("--".utf8)[...]
    let isOpen = boundaries.contains { $0.elementsEqual(text) }
    let isClose = isEnd && boundaries.contains { $0.elementsEqual(text.dropLast(2)) }
    if isOpen || isClose {
      endPart(&out)
      out += line
      (state, type, headCount) = (isOpen ? .partHead : .outside, "", 0)
    } else {
      passBody(line, &out)
    }
    line = []
  }

  private mutating func passBody(_ bytes: [UInt8], _ out: inout [UInt8]) {
    let rewritten = inner?.take(bytes) ?? bytes
    guard isHolding else {
      out += rewritten
      return
    }
    held += rewritten
    guard held.count > BatchRewriter.heldBytes else { return }
    if let lengthLine { head.remove(at: lengthLine) }
    letGo(&out)
  }

  private mutating func letGo(_ out: inout [UInt8]) {
    out += head.joined() + held
    (head, held, isHolding) = ([], [], false)
  }

  private mutating func endPart(_ out: inout [UInt8]) {
    if var rewriter = inner {
      let rest = rewriter.finish()
      if isHolding { held += rest } else { out += rest }
      if isHolding, let lengthLine {
        // A length that the body never had stays as it came.
        let (sum, isTooLong) = length.addingReportingOverflow(rewriter.growth)
        if !isTooLong, sum >= 0 {
          head[lengthLine] = Array("Content-Length: \(sum)\r\n".utf8)
        }
      }
    }
    if isHolding { letGo(&out) }
    inner = nil
  }

  private mutating func takeHeadLine(_ out: inout [UInt8]) {
    let whole = line
    line = []
    let text = String(decoding: BatchRewriter.trimmed(whole), as: UTF8.self)
    let (name, value) = BatchRewriter.field(text)
    switch state {
    case .partHead:
      if name == "content-type" { type = value }
      // It means nothing in a part, and would no longer be true.
      if name != "content-length" { out += whole }
      guard text.isEmpty else { return }
      beginPart()
    case .startLine:
      head = [requestLine(whole, text)]
      (state, type, lengthLine) = (.innerHead, "", nil)
    default:
      guard text.isEmpty else {
        if name == "content-type" { type = value }
        if name == "content-length", let number = Int(value), number >= 0 {
          (lengthLine, length) = (head.count, number)
        }
        head.append(BatchRewriter.links.contains(name) ? linkLine(whole, text, value) : whole)
        return
      }
      head.append(whole)
      inner = LinkText.format(BatchRewriter.bare(type)).map { LinkRewriter(links, $0) }
      isHolding = inner != nil && lengthLine != nil
      if !isHolding { letGo(&out) }
      (state, isLineHeld) = (.body, true)
    }
  }

  private mutating func beginPart() {
    isLineHeld = true
    if BatchRewriter.bare(type) == "application/http" {
      state = .startLine
    } else {
      // Sets of changes have a boundary of their own; a handful at a time.
      if let nested = BatchRewriter.boundary(of: type) {
        boundaries = boundaries.prefix(1) + [Array("--\(nested)".utf8)]
      }
      inner = LinkText.format(BatchRewriter.bare(type)).map { LinkRewriter(links, $0) }
      state = inner == nil ? .outside : .body
    }
  }

  private static let links: Set = ["location", "content-location", "odata-entityid"]

  private func linkLine(_ whole: [UInt8], _ text: String, _ value: String) -> [UInt8] {
    let name = text.prefix { $0 != ":" }
    let end = whole.suffix(2) == [13, 10] ? "\r\n" : "\n"
    return Array("\(name): \(links.rewrite(value))\(end)".utf8)
  }

  /// `GET https://door/name/Set HTTP/1.1`, or with the path alone.
  private func requestLine(_ whole: [UInt8], _ text: String) -> [UInt8] {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/") else { return whole }
    var target = links.rewrite(String(words[1]))
    let bytes = Array(target.utf8)
    if let paths, bytes.starts(with: paths.door),
      bytes.count == paths.door.count || LinkAddress.ends(bytes[paths.door.count])
    {
      target = String(decoding: paths.service + bytes[paths.door.count...], as: UTF8.self)
    }
    let end = whole.suffix(2) == [13, 10] ? "\r\n" : "\n"
    return Array("\(words[0]) \(target) \(words[2])\(end)".utf8)
  }

  private static func trimmed(_ line: [UInt8]) -> ArraySlice<UInt8> {
    let end = line.lastIndex { $0 != 13 && $0 != 10 && $0 != 32 && $0 != 9 }
    return end.map { line[...$0] } ?? []
  }

  private static func field(_ text: String) -> (name: String, value: String) {
    guard let colon = text.firstIndex(of: ":") else { return ("", "") }
    let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    return (text[..<colon].lowercased(), String(value))
  }

  private static func bare(_ type: String) -> String {
    type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
  }
}
