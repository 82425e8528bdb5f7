import FerryConnector
import FerryHTTP
import FerryJSON
import FerryModel

/// The rows of a list, answer after answer.
struct ListPages {
  private let connection: RESTConnection
  private let list: RESTMapping.List
  private let reader: AnswerReader
  private let path: String
  private var url: String?
  private var visited: Set<String> = []
  private var seen = 0
  private var number = 0
  private var count: Int?
  private var lastRows: [UInt8] = []

  /// `path`: the first address, its values put in.
  init(
    _ connection: RESTConnection, _ list: RESTMapping.List, _ path: String, _ entity: Entity,
    _ form: RESTMapping.Form
  ) {
    self.connection = connection
    self.list = list
    self.path = path
    reader = AnswerReader(mapping: connection.mapping, entity: entity, form: form)
    url = connection.url(path)
    switch list.paging {
    case .offset, .page: url = counted
    case .none, .link, .next, .cursor: break
    }
  }

  /// The values of every list.
  static func standard(_ name: String, _ list: RESTMapping.List) -> String? {
    name == "limit" ? String(list.pageRows) : nil
  }

  /// Pages that a list has at most: a service that never ends is no list.
  private static let limit = 1_000_000

  /// Nil behind the last.
  mutating func next() throws(ConnectorError) -> [JSONNode]? {
    guard let address = url else { return try ended() }
    url = nil
    guard visited.insert(address).inserted, visited.count <= ListPages.limit else {
      throw error("the pages of \(list.address.text) lead in a circle", isTransient: false)
    }
    var headers: HTTPHeaders = ["Accept": "application/json"]
    for field in connection.mapping.headers.fields { headers[field.name] = field.value }
    let answer = connection.send(RESTRequest(url: address, headers: headers))
    let node: JSONNode
    let head: HTTPHeaders
    switch reader.meaning(answer) {
    case .done(let body?, let found, _): (node, head) = (body, found)
    case .done(nil, _, _): throw error("\(list.address.text) gave no text", isTransient: true)
    // Behind the last page there is none.
    case .reply(.absent) where isCounted && number > 0: return try ended()
    case .reply(let reply): throw RESTDesk.error(reply)
    }
    guard let found = list.rows.node(in: node), let rows = found.array else {
      throw error(
        "\(list.address.text) has no list at \"\(list.rows)\"", isTransient: false,
        hint: "Correct \"rows\" in the mapping: it is the path of the list in the answer.")
    }
    if count == nil {
      count = list.count?.node(in: node).flatMap(\.integer).flatMap { Int(exactly: $0) }
    }
    try follow(node, head, rows, address)
    seen += rows.count
    number += 1
    return rows.isEmpty && url == nil ? try ended() : rows
  }

  private var isCounted: Bool {
    switch list.paging {
    case .offset, .page: true
    case .none, .link, .next, .cursor: false
    }
  }

  private mutating func ended() throws(ConnectorError) -> [JSONNode]? {
    url = nil
    if let count, seen < count {
      throw error(
        "The service counts \(count) rows at \(list.address.text) and gave \(seen)",
        isTransient: true, hint: "It is read again.")
    }
    return nil
  }

  private mutating func follow(
    _ node: JSONNode, _ head: HTTPHeaders, _ rows: [JSONNode], _ address: String
  ) throws(ConnectorError) {
    switch list.paging {
    case .none: return
    case .link:
      guard let link = LinkHeader.next(head.values("Link")) else { return }
      url = try service(link, address)
    case .next(let path):
      guard let link = path.node(in: node)?.string, !link.isEmpty else { return }
      url = try service(link, address)
    case .cursor(let name, let path):
      guard let cursor = path.node(in: node)?.plainText, !cursor.isEmpty else { return }
      url =
        connection.url(self.path) + separator(self.path)
        + "\(name)=\(PercentEncoding.encode(cursor))"
    case .offset, .page:
      guard !rows.isEmpty else { return }
      // The first and the last row tell a page from another.
      let mark = JSONDraft.array([rows[0], rows[rows.count - 1]].map { JSONDraft($0) }).bytes
      guard mark != lastRows else {
        throw error(
          "\(list.address.text) gives the same rows again and again", isTransient: false,
          hint: "Correct \"paging\" in the mapping: the service does not know its parameter.")
      }
      lastRows = mark
      seen += rows.count
      number += 1
      url = counted
      seen -= rows.count
      number -= 1
    }
  }

  /// The address of the page behind what was seen.
  private var counted: String? {
    var parameters = ""
    switch list.paging {
    case .offset(let name, let limit):
      parameters = "\(name)=\(seen)" + (limit.map { "&\($0)=\(list.pageRows)" } ?? "")
    case .page(let name, let size, let first):
      parameters = "\(name)=\(first + number)" + (size.map { "&\($0)=\(list.pageRows)" } ?? "")
    case .none, .link, .next, .cursor: return nil
    }
    return connection.url(path) + separator(path) + parameters
  }

  private func separator(_ path: String) -> String { path.contains("?") ? "&" : "?" }

  private func service(_ link: String, _ address: String) throws(ConnectorError) -> String {
    guard let url = connection.follow(link, from: address) else {
      throw error(
        "the next page of \(list.address.text) is not at the service", isTransient: false,
        hint: "A link of another host is never followed. Correct the service, or \"paging\".")
    }
    return url
  }

  private func error(
    _ message: String, isTransient: Bool, hint: String = "Correct the service or the mapping."
  ) -> ConnectorError {
    ConnectorError(message, hint: hint, isTransient: isTransient)
  }
}

/// The header `Link` (RFC 8288).
enum LinkHeader {
  /// The address with `rel="next"`.
  static func next(_ values: [String]) -> String? {
    for value in values {
      var rest = Substring(value)
      while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
        let address = rest[rest.index(after: open)..<close]
        rest = rest[rest.index(after: close)...]
        // Up to the next link; a comma may also be within quotes.
        var parameters = ""
        var isQuoted = false
        while let sign = rest.first, isQuoted || sign != "," {
          if sign == "\"" { isQuoted.toggle() }
          parameters.append(sign)
          rest.removeFirst()
        }
        if isNext(parameters) { return String(address) }
      }
    }
    return nil
  }

  /// Whether one of the parameters is `rel` with the word `next`; a text in quotes is one value.
  private static func isNext(_ parameters: String) -> Bool {
    var parts: [String] = [""]
    var isQuoted = false
    for sign in parameters {
      if sign == "\"" { isQuoted.toggle() }
      if sign == ";", !isQuoted { parts.append("") } else { parts[parts.count - 1].append(sign) }
    }
    return parts.contains { part in
      let sides = part.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, sides[0].filter({ $0 != " " }).lowercased() == "rel" else {
        return false
      }
      return sides[1].filter { $0 != "\"" }.split(separator: " ")
        .contains { $0.lowercased() == "next" }
    }
  }
}
