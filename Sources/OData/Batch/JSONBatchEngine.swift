import FerryJSON
import FerryOData

/// Reads a JSON batch by pieces: a body is handed on as it comes once the rest of its part is known.
final class JSONBatchEngine: BatchEngine {
  private enum Place { case top, part }
  private enum Sink: Equatable { case none, key, member, body }
  private enum State {
    case start, key(Place, isFirst: Bool), colon(Place), value(Place), pass(Place, Sink)
    case element(isFirst: Bool), end
  }

  var items: [ODataBatchItem] = []
  private(set) var ledger: BatchLedger
  private let limits: ODataLimits
  private var decoding = TextDecoding()
  private var bytes: [UInt8] = []
  private var position = 0
  private var count = PlaceCount()
  private var state = State.start
  private var pass = JSONPass(depthLimit: 0)
  /// The text of a key, of a member, or of a body while it is held.
  private var kept: [UInt8] = []
  private var key = ""
  private var list: String?
  private var number = 0
  private var draft = JSONPartDraft()
  private var body: JSONBodyReading?
  private var isSent = false

  init(limits: ODataLimits, isStrict: Bool) {
    self.limits = limits
    ledger = BatchLedger(isJSON: true, limits: limits, isStrict: isStrict)
  }

  func push(_ piece: [UInt8], isLast: Bool) throws(ODataError) {
    let text = try decoding.decode(piece, isLast: isLast)
    count.drop(bytes.count, of: bytes)
    bytes = text
    position = 0
    while position < bytes.count { try step() }
    guard isLast else { return }
    guard case .end = state else {
      throw ODataError(.truncated, "the batch ends too early", at: place)
    }
    if list == nil {
      throw ODataError(
        .unexpectedDocument, "the object has neither requests nor responses", at: place)
    }
  }

  private var place: ODataPlace { place(position) }

  private func place(_ offset: Int) -> ODataPlace {
    let (line, column) = count.place(offset, in: bytes)
    var path = ""
    if let list, number > 0 { path = "/\(list)[\(number)]" }
    return ODataPlace(line: line, column: column, path: path)
  }

  private func malformed(_ message: String) -> ODataError {
    ODataError(.malformed, message, at: place)
  }

  private func step() throws(ODataError) {
    if case .pass(let owner, let sink) = state { return try goOn(owner, sink) }
    let byte = bytes[position]
    if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
      return
    }
    switch state {
    case .start:
      guard byte == UInt8(ascii: "{") else { throw malformed("an object was expected") }
      position += 1
      state = .key(.top, isFirst: true)
    case .key(let place, let isFirst): try beginKey(byte, place, isFirst)
    case .colon(let place):
      guard byte == UInt8(ascii: ":") else { throw malformed("a colon was expected") }
      position += 1
      state = .value(place)
    case .value(let place): try beginValue(byte, place)
    case .element(let isFirst): try beginElement(byte, isFirst)
    case .end: throw malformed("text follows the end of the batch")
    case .pass: break
    }
  }

  /// The comma before a member or element; true when there is more to read before it.
  private func comma(_ byte: UInt8, _ isFirst: Bool) throws(ODataError) -> Bool {
    if isFirst { return false }
    guard byte == UInt8(ascii: ",") else { throw malformed("a comma was expected") }
    position += 1
    return true
  }

  private var sawComma = false

  private func beginKey(_ byte: UInt8, _ owner: Place, _ isFirst: Bool) throws(ODataError) {
    if byte == UInt8(ascii: "}"), !sawComma {
      position += 1
      if owner == .top {
        state = .end
      } else {
        try endPart()
        state = .element(isFirst: false)
      }
      return
    }
    if !isFirst, !sawComma {
      sawComma = try comma(byte, isFirst)
      return
    }
    sawComma = false
    guard byte == UInt8(ascii: "\"") else { throw malformed("a key was expected") }
    begin(owner, .key)
  }

  private func begin(_ owner: Place, _ sink: Sink) {
    kept.removeAll(keepingCapacity: true)
    pass = JSONPass(depthLimit: limits.depth)
    state = .pass(owner, sink)
  }

  private func beginValue(_ byte: UInt8, _ owner: Place) throws(ODataError) {
    guard owner == .part else {
      guard key == "requests" || key == "responses" else { return begin(.top, .none) }
      guard list == nil else { throw malformed("a second list of requests or responses") }
      guard byte == UInt8(ascii: "[") else { throw malformed("\(key) is not an array") }
      list = key
      position += 1
      state = .element(isFirst: true)
      return
    }
    if JSONPartDraft.names.contains(key) {
      guard draft.seen.insert(key).inserted else { throw malformed("\(key) is written twice") }
    }
    if key == "body" {
      begin(.part, .body)
    } else {
      begin(.part, JSONPartDraft.names.contains(key) ? .member : .none)
    }
  }

  private func beginElement(_ byte: UInt8, _ isFirst: Bool) throws(ODataError) {
    if byte == UInt8(ascii: "]"), !sawComma {
      position += 1
      number = 0
      state = .key(.top, isFirst: false)
      return
    }
    if !isFirst, !sawComma {
      sawComma = try comma(byte, isFirst)
      return
    }
    sawComma = false
    number += 1
    guard byte == UInt8(ascii: "{") else { throw malformed("a part is not an object") }
    position += 1
    draft = JSONPartDraft()
    draft.isRequest = list == "requests"
    body = nil
    isSent = false
    state = .key(.part, isFirst: true)
  }

  private func goOn(_ owner: Place, _ sink: Sink) throws(ODataError) {
    let end: Int
    do throws(JSONError) { end = try pass.take(bytes, from: position) } catch {
      throw fail(error)
    }
    if sink == .body {
      try takeBody(end)
    } else if sink != .none {
      guard kept.count + end - position <= limits.headBytes else {
        throw ODataError(
          .limit, "\(sink == .key ? "a key" : key) is longer than \(limits.headBytes) bytes",
          at: place)
      }
      kept += bytes[position..<end]
    }
    guard pass.isDone else {
      position = end
      return
    }
    if sink == .key {
      position = end
      key = try node(kept).string ?? ""
      state = .colon(owner)
      return
    }
    if sink == .member { try draft.take(key, try node(kept), at: place, &ledger) }
    position = end
    state = .key(owner, isFirst: false)
  }

  private func fail(_ error: JSONError) -> ODataError {
    let code: ODataError.Code =
      error.problem.hasPrefix("more than")
      ? .limit : error.problem.contains("UTF-8") ? .encoding : .malformed
    return ODataError(code, error.problem, at: place(error.offset))
  }

  private func node(_ text: [UInt8]) throws(ODataError) -> JSONNode {
    do throws(JSONError) {
      return try JSONNode.parse(text, depthLimit: limits.depth)
    } catch {
      throw ODataError(
        error.problem.contains("UTF-8") ? .encoding : .malformed, error.problem, at: place)
    }
  }

  /// A body is held until the part is complete, or until it is too long for that: then the rest of
  /// the part must be known, and the body is handed on as it comes.
  private func takeBody(_ end: Int) throws(ODataError) {
    if body != nil {
      try hand(on: Array(bytes[position..<end]), isLast: pass.isDone)
      return
    }
    let room = limits.heldBytes - kept.count
    if end - position <= room {
      kept += bytes[position..<end]
      if pass.isDone {
        draft.body = kept
        kept = []
      }
      return
    }
    guard draft.isComplete, draft.seen.contains("headers") else {
      throw ODataError(
        .limit, "a body of more than \(limits.heldBytes) bytes is before other members of its part",
        at: place, hint: "write the body last, after headers")
    }
    kept += bytes[position..<end]
    try sendPart()
    let held = kept
    kept = []
    try beginBody(held)
    try hand(on: held, isLast: pass.isDone)
  }

  private func beginBody(_ raw: [UInt8]) throws(ODataError) {
    let form = JSONBodyForm(contentType: draft.contentType)
    if form != .json, raw.first != UInt8(ascii: "\"") {
      throw malformed("a body of \(BatchText.shown(draft.contentType ?? "")) is not a string")
    }
    body = JSONBodyReading(form)
  }

  private func hand(on raw: [UInt8], isLast: Bool) throws(ODataError) {
    guard let bytes = body?.take(raw, isLast: isLast) else {
      throw ODataError(
        .invalidValue, "the body does not match its Content-Type: it must be text, or base64url",
        at: place)
    }
    if !bytes.isEmpty { items.append(.body(bytes)) }
  }

  private func sendPart() throws(ODataError) {
    let part = try draft.part(at: place)
    try ledger.enter(part, at: place)
    items.append(.part(part))
    isSent = true
  }

  private func endPart() throws(ODataError) {
    if isSent {
      if draft.hasLateMember {
        throw ODataError(
          .limit,
          "a member of the part is after a body of more than \(limits.heldBytes) bytes",
          at: place, hint: "write the body last")
      }
    } else {
      try sendPart()
      if let raw = draft.body, !raw.elementsEqual("null".utf8) {
        try beginBody(raw)
        try hand(on: raw, isLast: true)
      }
    }
    items.append(.end)
  }
}
