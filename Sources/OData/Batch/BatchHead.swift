import FerryOData

/// Reads the lines of heads: those of a MIME part and those of the request or response inside.
struct BatchHead {
  private(set) var fields: [ODataBatchPart.Header] = []
  private var bytes = 0
  private var isFirst = true
  let limits: ODataLimits

  init(_ limits: ODataLimits) { self.limits = limits }

  /// Longest line that may still come.
  var room: Int { max(0, limits.headBytes - bytes) }

  /// Counts a line; the head as a whole has a limit.
  mutating func count(_ line: [UInt8], at place: ODataPlace) throws(ODataError) {
    guard line.count + 2 <= room else {
      throw ODataError(
        .limit, "the head of the part is longer than \(limits.headBytes) bytes", at: place)
    }
    bytes += line.count + 2
  }

  /// Takes a line that is not empty; a line that begins with a blank goes on with the one before.
  mutating func take(_ line: [UInt8], at place: ODataPlace) throws(ODataError) {
    try count(line, at: place)
    guard line.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
      throw ODataError(.malformed, "a header has a control character", at: place)
    }
    guard let text = String(validating: line, as: UTF8.self) else {
      throw ODataError(.encoding, "a header is not valid UTF-8", at: place)
    }
    if text.first == " " || text.first == "\t" {
      guard let last = fields.popLast() else {
        throw ODataError(.malformed, "a head begins with a blank", at: place)
      }
      let more = Self.trimmed(text[...])
      let value = last.value.isEmpty || more.isEmpty ? last.value + more : last.value + " " + more
      fields.append(.init(name: last.name, value: value))
      return
    }
    guard let colon = text.utf8.firstIndex(of: 0x3A), BatchText.isToken(text[..<colon]) else {
      throw ODataError(
        .malformed,
        "\"\(BatchText.shown(text))\" is not a header: a name and a colon were expected",
        at: place)
    }
    guard fields.count < limits.headFields else {
      throw ODataError(
        .limit, "the part has more than \(limits.headFields) headers", at: place)
    }
    let value = Self.trimmed(text[text.utf8.index(after: colon)...])
    fields.append(.init(name: String(text[..<colon]), value: String(value)))
  }

  /// Takes the fields of a name out, first to last.
  mutating func remove(_ name: String) -> [String] {
    let found = fields.filter { BatchText.isSame($0.name, name) }.map(\.value)
    if !found.isEmpty { fields.removeAll { BatchText.isSame($0.name, name) } }
    return found
  }

  /// The request or response that a first line begins.
  static func subject(
    _ line: [UInt8], at place: ODataPlace
  ) throws(ODataError) -> (subject: ODataBatchPart.Subject, note: String?) {
    guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
      let text = String(validating: line, as: UTF8.self)
    else {
      throw ODataError(
        .malformed, "a request line or status line is not text", at: place)
    }
    if text.hasPrefix("HTTP/") {
      let words = text.split(separator: " ", maxSplits: 2)
      guard words.count > 1, let status = status(words[1]) else {
        throw ODataError(
          .malformed, "\"\(BatchText.shown(text))\" is not a status line", at: place)
      }
      return (.response(status: status), nil)
    }
    let words = text.split(separator: " ", maxSplits: 1)
    guard words.count == 2, BatchText.isToken(words[0]) else {
      throw ODataError(.malformed, "\"\(BatchText.shown(text))\" is not a request line", at: place)
    }
    var url = trimmed(words[1])
    if let space = url.lastIndex(of: " "), url[space...].dropFirst().hasPrefix("HTTP/") {
      url = trimmed(url[..<space])
    }
    guard !url.isEmpty else {
      throw ODataError(.malformed, "\"\(BatchText.shown(text))\" names no address", at: place)
    }
    let note = BatchText.isAddress(String(url)) ? nil : "the address is not percent-encoded"
    return (.request(method: String(words[0]), url: String(url)), note)
  }

  static func status(_ text: some StringProtocol) -> Int? {
    guard text.utf8.count == 3, let status = Int(text), (100...999).contains(status) else {
      return nil
    }
    return status
  }

  static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
