import FerryJSON
import FerryOData

/// The members of one part of a JSON batch, gathered in whatever order they come.
struct JSONPartDraft {
  static let names: Set<String> = [
    "id", "method", "url", "status", "atomicityGroup", "dependsOn", "if", "headers", "body",
  ]

  var isRequest = true
  var seen: Set<String> = []
  /// The JSON text of a body that is held.
  var body: [UInt8]?
  private(set) var hasLateMember = false
  private var id: String?
  private var method: String?
  private var url: String?
  private var status: Int?
  private var group: String?
  private var dependsOn: [String] = []
  private var condition: String?
  private var headers: [ODataBatchPart.Header] = []

  /// Whether what every part must have is there.
  var isComplete: Bool {
    id != nil && (isRequest ? method != nil && url != nil : status != nil)
  }

  var contentType: String? {
    headers.first { BatchText.isSame($0.name, "Content-Type") }?.value
  }

  mutating func take(
    _ key: String, _ node: JSONNode, at place: ODataPlace, _ ledger: inout BatchLedger
  ) throws(ODataError) {
    func wrong(_ what: String) -> ODataError {
      ODataError(.malformed, "\(key) \(what)", at: place)
    }
    func text() throws(ODataError) -> String {
      guard let text = node.string, !text.isEmpty else {
        throw wrong("must be a string that is not empty")
      }
      return try line(text)
    }
    func line(_ text: String) throws(ODataError) -> String {
      guard BatchText.isLine(text) else { throw wrong("must be one line of text") }
      return text
    }
    if seen.contains("body"), body == nil { hasLateMember = true }
    switch key {
    case "id": id = try text()
    case "method":
      let word = try text()
      guard let known = BatchText.methodsOfJSON.first(where: { BatchText.isSame($0, word) }) else {
        throw wrong("is \(BatchText.shown(word)) and must be DELETE, GET, PATCH, POST or PUT")
      }
      method = known
    case "url":
      let found = try text()
      guard found.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw wrong("is not an address: it has a control character")
      }
      if !BatchText.isAddress(found) {
        try ledger.report("the address is not percent-encoded", place, "it is used unchanged")
      }
      url = found
    case "status":
      guard let number = node.integer, (100...999).contains(number) else {
        throw wrong("must be a status from 100 to 999")
      }
      status = Int(number)
    case "atomicityGroup": if !node.isNull { group = try text() }
    case "if": if !node.isNull { condition = try text() }
    case "dependsOn":
      if node.isNull { break }
      guard let list = node.array else { throw wrong("must be an array") }
      for element in list {
        guard let name = element.string else { throw wrong("must be an array of strings") }
        dependsOn.append(try line(name))
      }
    case "headers": try takeHeaders(node, at: place, &ledger)
    default: break
    }
  }

  private mutating func takeHeaders(
    _ node: JSONNode, at place: ODataPlace, _ ledger: inout BatchLedger
  ) throws(ODataError) {
    if node.isNull { return }
    guard let members = node.object else {
      throw ODataError(.malformed, "headers is not an object", at: place)
    }
    guard members.count <= ledger.limits.headFields else {
      throw ODataError(
        .limit, "the part has more than \(ledger.limits.headFields) headers", at: place)
    }
    for member in members {
      guard BatchText.isToken(member.key), let value = member.value.string,
        BatchText.isValue(value)
      else {
        throw ODataError(
          .malformed,
          "the header \(BatchText.shown(member.key)) has a line end or control character",
          at: place)
      }
      guard !headers.contains(where: { BatchText.isSame($0.name, member.key) }) else {
        throw ODataError(
          .malformed, "the header \(BatchText.shown(member.key)) is written twice", at: place)
      }
      headers.append(.init(name: member.key, value: value))
    }
    // They belong to the other form of a batch.
    headers.removeAll {
      BatchText.isSame($0.name, "Content-Length") || BatchText.isSame($0.name, "Content-ID")
    }
  }

  func part(at place: ODataPlace) throws(ODataError) -> ODataBatchPart {
    func missing(_ name: String) -> ODataError {
      ODataError(.missing, "the part has no \(name)", at: place)
    }
    let subject: ODataBatchPart.Subject
    if isRequest {
      guard let method else { throw missing("method") }
      guard let url else { throw missing("url") }
      subject = .request(method: method, url: url)
    } else {
      guard let status else { throw missing("status") }
      subject = .response(status: status)
    }
    guard let id else { throw missing("id") }
    return ODataBatchPart(
      subject, headers: headers, id: id, group: group, dependsOn: dependsOn, condition: condition)
  }
}
