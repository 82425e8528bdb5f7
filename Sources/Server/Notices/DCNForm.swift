import FerryHTTP
import FerryJSON
import FerryModel
import FerryServer

/// A request in the reference's form of a data change notification, read but not looked up.
///
///     {"pkg": "name:1.0", "messages": [
///       {"id": "1", "mbo": "Customer", "op": ":upsert", "cols": {"id": "10001", "fname": "Adam"}}]}
struct DCNForm: Sendable {
  struct Message: Sendable {
    let id: String
    let entity: String
    let operation: String
    let columns: [(name: String, value: JSONNode)]
  }

  /// Why a request is none: a sentence.
  struct Fault: Error, Equatable {
    let status: Int
    let text: String

    init(_ text: String, status: Int = 400) {
      self.status = status
      self.text = text
    }
  }

  let user: String?
  let password: String?
  let package: String
  let messages: [Message]

  static let bodyBytes = 8 << 20

  /// `allowsPassword`: name and password may be in the address.
  init(_ request: HTTPRequest, allowsPassword: Bool) throws(Fault) {
    var parameters: [String: String] = [:]
    try DCNForm.take(request.query ?? "", into: &parameters)
    let isInAddress = parameters["password"] != nil
    guard !isInAddress || allowsPassword else {
      throw Fault(
        "a password is not taken from an address, which others log. Send it in the body, use "
          + "/dcn/HttpAuthDCNServlet, or switch on \"passwordInAddress\"")
    }
    var text: String?
    let isForm = (request.headers["Content-Type"] ?? "").lowercased()
      .hasPrefix("application/x-www-form-urlencoded")
    let body = String(decoding: request.body, as: UTF8.self)
    if body.drop(while: { $0.isWhitespace }).first == "{" {
      text = body
    } else if isForm {
      try DCNForm.take(body, into: &parameters)
    } else if !request.body.isEmpty {
      throw Fault("the body is neither JSON nor a form")
    }
    user = parameters["username"]
    password = parameters["password"]
    let command = parameters["cmd"] ?? ""
    switch command {
    case "dcn": break
    case "wf": throw Fault("cmd=wf is not offered: workflow messages have no place here")
    case "": throw Fault("the parameter cmd is missing")
    default: throw Fault("cmd=\(command.prefix(40)) is not known; write cmd=dcn")
    }
    if let filter = parameters["dcn_filter"], !filter.isEmpty {
      throw Fault(
        "the filter \(filter.prefix(80)) could not be loaded: there are no filter classes",
        status: 500)
    }
    guard let json = text ?? parameters["dcn_request"] else {
      throw Fault("the parameter dcn_request is missing")
    }
    guard let root = try? JSONNode.parse(Array(json.utf8), nodeLimit: 2_000_000),
      root.object != nil
    else { throw Fault("dcn_request is no JSON object") }
    guard let named = parameters["package"] ?? root["pkg"]?.string else {
      throw Fault("the parameter package is missing")
    }
    if let inner = root["pkg"]?.string, inner.lowercased() != named.lowercased() {
      throw Fault("package and pkg name different packages")
    }
    package = named
    guard let list = root["messages"]?.array else { throw Fault("messages is missing") }
    var messages: [Message] = []
    for node in list { messages.append(try DCNForm.message(node)) }
    self.messages = messages
  }

  private static func take(
    _ text: String, into parameters: inout [String: String]
  ) throws(Fault) {
    for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
      let sides = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decode(sides[0], plusIsBlank: true),
        let value = sides.count > 1 ? PercentEncoding.decode(sides[1], plusIsBlank: true) : ""
      else { throw Fault("a parameter is not encoded as UTF-8") }
      guard parameters.updateValue(value, forKey: name) == nil else {
        throw Fault("the parameter \(name.prefix(40)) is there twice")
      }
    }
  }

  private static func message(_ node: JSONNode) throws(Fault) -> Message {
    guard let id = node["id"]?.plainID, let entity = node["mbo"]?.string,
      let operation = node["op"]?.string
    else { throw Fault("a message has no id, mbo or op") }
    guard let columns = node["cols"]?.object else {
      throw Fault("message \(id.prefix(40)) has no cols")
    }
    var seen: Set<String> = []
    for column in columns where !seen.insert(column.key).inserted {
      throw Fault("message \(id.prefix(40)) has \(column.key.prefix(40)) twice")
    }
    return Message(
      id: id, entity: entity, operation: operation,
      columns: columns.map { ($0.key, $0.value) })
  }
}

extension JSONNode {
  /// A text, or a whole number as a text.
  fileprivate var plainID: String? { string ?? integer.map(String.init) }
}

/// The values of a message in the reference's form.
enum DCNValue {
  /// Strings, as the reference writes them; numbers and truth values are taken too. Of a date and time
  /// the zone is ignored: it is UTC.
  static func read(_ node: JSONNode, _ attribute: Attribute) -> AttributeValue? {
    guard let text = node.string else { return PlainNotice.read(node, attribute.type) }
    switch attribute.type {
    case .binary:
      guard text.hasPrefix("0x") || text.hasPrefix("0X") else {
        return PlainNotice.read(node, attribute.type)
      }
      return bytes(text.dropFirst(2)).map { .bytes($0) }
    case .dateTime:
      return attribute.type.canonical(.text(withoutZone(text)))
    default: return PlainNotice.read(node, attribute.type)
    }
  }

  private static func withoutZone(_ text: String) -> String {
    guard text.utf8.count > 19 else { return text }
    let head = text.prefix(19)
    let tail = text.dropFirst(19).prefix { $0 == "." || $0.isNumber }
    return String(head + tail)
  }

  private static func bytes(_ digits: Substring) -> [UInt8]? {
    let numbers = digits.utf8.map { digit -> UInt8? in
      switch digit {
      case 0x30...0x39: digit - 0x30
      case 0x41...0x46, 0x61...0x66: (digit | 0x20) - 0x57
      default: nil
      }
    }
    guard numbers.count % 2 == 0, numbers.allSatisfy({ $0 != nil }) else { return nil }
    let known = numbers.compactMap { $0 }
    return stride(from: 0, to: known.count, by: 2).map { known[$0] << 4 | known[$0 + 1] }
  }
}
