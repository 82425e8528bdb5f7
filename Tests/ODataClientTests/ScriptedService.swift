import FerryHTTP
import FerryTestSupport
import Glibc
import Synchronization

/// A service on a real socket that answers each request as the test says, and keeps what came.
final class ScriptedService: Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    let headers: HTTPHeaders
    let body: String
  }

  struct Answer: Sendable {
    var status: Int = 200
    var headers: [(String, String)] = []
    var body: String = ""

    static func json(_ body: String, _ headers: [(String, String)] = []) -> Answer {
      Answer(headers: [("Content-Type", "application/json")] + headers, body: body)
    }

    static func xml(_ body: String) -> Answer {
      Answer(headers: [("Content-Type", "application/xml")], body: body)
    }

    static func status(
      _ status: Int, _ body: String = "", _ headers: [(String, String)] = []
    ) -> Answer { Answer(status: status, headers: headers, body: body) }
  }

  private let server: ScriptedServer
  private let kept: Kept

  private final class Kept: Sendable {
    let requests = Mutex<[Request]>([])
  }

  /// `answer` is given the request and how many came before it.
  init(_ answer: @escaping @Sendable (Request, Int) -> Answer) {
    let kept = Kept()
    self.kept = kept
    server = ScriptedServer { line in
      let request = Self.read(line)
      guard let request else { return }
      let number = kept.requests.withLock { list in
        list.append(request)
        return list.count - 1
      }
      let answer = answer(request, number)
      var head = "HTTP/1.1 \(answer.status) As Told\r\nConnection: close\r\n"
      for (name, value) in answer.headers { head += "\(name): \(value)\r\n" }
      if answer.status != 204 && answer.status != 304 {
        head += "Content-Length: \(answer.body.utf8.count)\r\n"
      }
      line.send(head + "\r\n" + (request.method == "HEAD" ? "" : answer.body))
      shutdown(line.socket, CInt(SHUT_WR))
      _ = line.waitForEnd()
    }
  }

  deinit { server.close() }

  var root: String { server.url }
  var requests: [Request] { kept.requests.withLock { $0 } }
  /// Method and target of all requests, in order.
  var lines: [String] { requests.map { "\($0.method) \($0.target)" } }

  private static func read(_ line: ScriptedServer.Line) -> Request? {
    let head = line.receiveHead().split(separator: "\r\n")
    guard let first = head.first else { return nil }
    let words = first.split(separator: " ")
    guard words.count == 3 else { return nil }
    var headers = HTTPHeaders()
    for field in head.dropFirst() {
      let sides = field.split(separator: ":", maxSplits: 1)
      guard sides.count == 2 else { continue }
      headers.add(String(sides[0]), String(sides[1].drop { $0 == " " }))
    }
    var left = headers["Content-Length"].flatMap { Int($0) } ?? 0
    var body: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while left > 0 {
      let got = recv(line.socket, &buffer, min(left, buffer.count), 0)
      if got <= 0 { break }
      body += buffer[..<got]
      left -= got
    }
    return Request(
      method: String(words[0]), target: String(words[1]), headers: headers,
      body: String(decoding: body, as: UTF8.self))
  }
}

/// The documents of a small service of V4.
enum SmallService {
  static let document = """
    {"@odata.context":"$metadata","value":[{"name":"Items","kind":"EntitySet","url":"Items"}]}
    """

  static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
    </EntityType><EntityType Name="Part"><Key><PropertyRef Name="A"/><PropertyRef Name="B"/></Key>
    <Property Name="A" Type="Edm.String" Nullable="false"/><Property Name="B" Type="Edm.Int32" Nullable="false"/>
    </EntityType><EntityContainer Name="C"><EntitySet Name="Items" EntityType="S.Item"/>
    <EntitySet Name="Parts" EntityType="S.Part"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  static func item(_ id: Int, _ name: String, etag: String) -> String {
    """
    {"@odata.context":"$metadata#Items/$entity","@odata.id":"Items(\(id))","@odata.etag":"\(etag)",\
    "ID":\(id),"Name":"\(name)"}
    """
  }

  /// The document and the metadata, and what a test says of everything else.
  static func serve(
    _ answer: @escaping @Sendable (ScriptedService.Request, Int) -> ScriptedService.Answer
  ) -> ScriptedService {
    ScriptedService { request, number in
      switch (request.method, request.target) {
      case ("GET", "/"): .json(document)
      case ("GET", "/$metadata"): .xml(metadata)
      default: answer(request, number)
      }
    }
  }
}
