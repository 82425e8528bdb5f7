import FerryHTTP
import FerryJSON
import FerryOData
import FerryODataService
import Testing

/// A service over lists, asked as a client asks.
struct Desk {
  static let root = "http://h/s/"
  let source: ListSource
  let service: ODataService

  init(
    customers: Int = 4, orders: Int = 12, limits: ODataServiceLimits = ODataServiceLimits()
  ) throws {
    source = ListSource(customers: customers, orders: orders)
    service = try ODataService(
      ListSource.metadata, limits: limits, now: { nil }, uptime: { .zero })
  }

  struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let bytes: [UInt8]
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var json: JSONNode? { try? JSONNode.parse(bytes) }
    var value: [JSONNode] { json?["value"]?.array ?? [] }
    var code: String? { json?["error"]?["code"]?.string }
    /// The values of a member of each entity.
    func all(_ name: String) -> [String] {
      value.map { node in
        switch node[name]?.content {
        case .string(let text), .number(let text): text
        case .boolean(let flag): flag ? "true" : "false"
        default: "null"
        }
      }
    }
  }

  func get(_ address: String, _ headers: HTTPHeaders = [:]) async -> Answer {
    await send(.get, address, headers)
  }

  func send(
    _ method: HTTPMethod, _ address: String, _ headers: HTTPHeaders = [:], _ body: String = ""
  ) async -> Answer {
    var rest = address.hasPrefix(Self.root) ? String(address.dropFirst(Self.root.count)) : address
    var query: String?
    if let mark = rest.firstIndex(of: "?") {
      query = String(rest[rest.index(after: mark)...])
      rest = String(rest[..<mark])
    }
    var headers = headers
    if !body.isEmpty, headers["Content-Type"] == nil {
      headers["Content-Type"] = "application/json"
    }
    let request = HTTPRequest(
      method: method, path: "/s/" + rest, query: query, headers: headers, body: Array(body.utf8))
    let response = await service.answer(request, rest: rest, root: Self.root, source: source)
    var bytes: [UInt8] = []
    switch response.body {
    case .bytes(let whole): bytes = whole
    case .stream(let stream):
      reading: while true {
        switch await stream.next() {
        case .bytes(let piece): bytes += piece
        case .end: break reading
        case .abort:
          bytes += Array("ABORTED".utf8)
          break reading
        }
      }
    }
    return Answer(status: response.status, headers: response.headers, bytes: bytes)
  }
}
