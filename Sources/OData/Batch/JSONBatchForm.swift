import FerryJSON
import FerryOData
import FerryText

/// Writes a JSON batch of V4.01; the body is the last member of each part.
struct JSONBatchForm: BatchForm {
  var output: [UInt8] = []
  var ledger: BatchLedger
  private let limits: ODataLimits
  private var isEmpty = true
  private var form = JSONBodyForm.json
  private var hasBody = false
  private var pass: JSONPass
  /// Bytes of the body that are not written yet: the rest of a character or of three bytes.
  private var held: [UInt8] = []

  init(limits: ODataLimits) {
    self.limits = limits
    ledger = BatchLedger(isJSON: true, limits: limits, isStrict: false)
    pass = JSONPass(depthLimit: limits.depth)
  }

  mutating func begin(_ part: ODataBatchPart, length: Int?) throws(ODataError) {
    guard let id = part.id else {
      throw BatchCheck.unwritable("a part of a JSON batch has no id")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("id", id)
    if let group = part.group {
      guard !group.isEmpty else { throw BatchCheck.unwritable("the name of a group is empty") }
      writer.field("atomicityGroup", group)
    }
    let named = part.dependsOn
    let dependsOn = named + ledger.needs(of: part).filter { !named.contains($0) }
    if !dependsOn.isEmpty {
      writer.key("dependsOn")
      writer.array(dependsOn) { $0.string($1) }
    }
    if let condition = part.condition {
      guard !condition.isEmpty else { throw BatchCheck.unwritable("the condition is empty") }
      writer.field("if", condition)
    }
    switch part.subject {
    case .request(let method, let url):
      guard BatchText.methodsOfJSON.contains(method) else {
        throw BatchCheck.unwritable(
          "JSON has no word for the method \(method)",
          hint: "it has DELETE, GET, PATCH, POST and PUT, in capitals; write the batch as multipart"
        )
      }
      writer.field("method", method)
      writer.field("url", url)
    case .response(let status): writer.field("status", status)
    }
    let headers = BatchCheck.headers(part)
    guard headers.count <= limits.headFields else {
      throw ODataError(.limit, "a part has more than \(limits.headFields) headers")
    }
    writer.key("headers")
    writer.beginObject()
    for (index, header) in headers.enumerated() {
      guard !headers[..<index].contains(where: { BatchText.isSame($0.name, header.name) }) else {
        throw BatchCheck.unwritable("JSON has no way to write two headers \(header.name)")
      }
      writer.field(header.name, header.value)
    }
    writer.endObject()
    guard writer.bytes.count <= limits.headBytes else {
      throw ODataError(.limit, "the head of a part is longer than \(limits.headBytes) bytes")
    }
    let list = part.isRequest ? "requests" : "responses"
    output += Array((isEmpty ? "{\"\(list)\":[" : ",").utf8)
    output += writer.bytes
    isEmpty = false
    form = JSONBodyForm(contentType: part.header("Content-Type"))
    hasBody = false
    held = []
    pass = JSONPass(depthLimit: limits.depth)
  }

  mutating func body(_ bytes: [UInt8]) throws(ODataError) {
    var bytes = bytes
    if form == .json, !hasBody { bytes = Array(bytes.drop(while: Self.isSpace)) }
    if bytes.isEmpty { return }
    if !hasBody {
      output += Array(",\"body\":".utf8)
      if form != .json { output.append(0x22) }
      hasBody = true
    }
    switch form {
    case .json: try json(bytes)
    case .text: try text(bytes, isLast: false)
    case .binary:
      held += bytes
      let count = held.count / 3 * 3
      output += Array(Base64.encode(Array(held[..<count]), .url).utf8)
      held.removeFirst(count)
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private var noJSON: ODataError {
    BatchCheck.unwritable(
      "a body is not the JSON that its Content-Type says", hint: "name its Content-Type")
  }

  private mutating func json(_ bytes: [UInt8]) throws(ODataError) {
    let end: Int
    do throws(JSONError) { end = try pass.take(bytes, from: 0) } catch {
      throw BatchCheck.unwritable(
        "a body is not the JSON that its Content-Type says: \(error.problem)",
        hint: "name its Content-Type")
    }
    output += bytes[..<end]
    guard bytes[end...].allSatisfy(Self.isSpace) else { throw noJSON }
  }

  private mutating func text(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    held += bytes
    // A character whose bytes are not all here waits, at most three of them.
    var count = held.count
    if !isLast {
      let start = held.indices.suffix(3).last { held[$0] >= 0xC0 }
      if let start, held.count - start < Self.width(held[start]) { count = start }
    }
    guard let text = String(validating: held[..<count], as: UTF8.self) else {
      throw BatchCheck.unwritable("a body of text is not valid UTF-8")
    }
    var writer = JSONWriter()
    writer.string(text)
    output += writer.bytes.dropFirst().dropLast()
    held.removeFirst(count)
  }

  private static func width(_ first: UInt8) -> Int { first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2 }

  mutating func end() throws(ODataError) {
    if hasBody {
      switch form {
      case .json: guard pass.finish() else { throw noJSON }
      case .text: try text([], isLast: true)
      case .binary: output += Array(Base64.encode(held, .url).utf8)
      }
      if form != .json { output.append(0x22) }
    }
    output.append(UInt8(ascii: "}"))
  }

  mutating func finish() throws(ODataError) {
    output += Array((isEmpty ? "{\"requests\":[]}" : "]}").utf8)
  }
}
