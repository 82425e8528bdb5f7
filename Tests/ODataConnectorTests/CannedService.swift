import FerryHTTP
import FerryHTTPClient
import FerryOData
import Synchronization

/// A service that answers each address with what a test has put there, and notes what it was asked.
final class CannedService: Transport {
  struct Answer: Sendable {
    var status = 200
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    /// The body ends in its middle.
    var isCut = false

    init(_ body: String = "", status: Int = 200, headers: [String: String] = [:]) {
      self.status = status
      self.headers = headers
      self.body = Array(body.utf8)
    }
  }

  static let root = "http://service.test/shop/"

  private struct State {
    /// By the method and what comes behind the root; the last one stays.
    var answers: [String: [Answer]] = [:]
    var asked: [TransportRequest] = []
  }

  private let state = Mutex(State())

  func answer(_ address: String, _ answers: Answer...) {
    state.withLock { $0.answers[address] = answers }
  }

  func answer(_ address: String, _ body: String) { answer(address, Answer(body)) }

  /// What was asked, as `GET Items`.
  var asked: [String] { state.withLock { $0.asked.map(CannedService.name) } }
  var requests: [TransportRequest] { state.withLock { $0.asked } }
  func forget() { state.withLock { $0.asked = [] } }

  private static func name(_ request: TransportRequest) -> String {
    "\(request.method) " + ODataURL.decoded(String(request.url.dropFirst(root.count)))
  }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let name = CannedService.name(request)
    let answer = state.withLock { state -> Answer in
      state.asked.append(request)
      // The whole address, or the part before the query.
      let known = [name, String(name.prefix { $0 != "?" })].first { state.answers[$0] != nil }
      guard let known, var answers = state.answers[known] else { return Answer(status: 404) }
      let next = answers.count > 1 ? answers.removeFirst() : answers[0]
      state.answers[known] = answers
      return next
    }
    var headers = HTTPHeaders()
    for (name, value) in answer.headers { headers[name] = value }
    return TransportResponse(
      status: answer.status, headers: headers, body: FakeBody(answer.body, isCut: answer.isCut))
  }
}

/// A set Parts of V2 with a text as key, in Atom.
enum OldService {
  static func metadata(_ more: String = "", _ sets: String = "") -> String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
     xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <edmx:DataServices m:DataServiceVersion="2.0">
    <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2006/04/edm">
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
    <EntitySet Name="Parts" EntityType="S.Part"/>\(sets)</EntityContainer>
    <EntityType Name="Part"><Key><PropertyRef Name="Code"/></Key>
    <Property Name="Code" Type="Edm.String" Nullable="false"/>
    <Property Name="Amount" Type="Edm.Int32"/></EntityType>\(more)
    </Schema></edmx:DataServices></edmx:Edmx>
    """
  }

  static func document(_ sets: String...) -> String {
    let all = (["Parts"] + sets).map {
      "<collection href=\"\($0)\"><a:title>\($0)</a:title></collection>"
    }
    return """
      <?xml version="1.0"?><service xmlns="http://www.w3.org/2007/app" xmlns:a="http://www.w3.org/2005/Atom"
       xml:base="\(CannedService.root)"><workspace><a:title>d</a:title>\(all.joined())</workspace></service>
      """
  }

  /// `rest`: links of the feed and deleted entries.
  static func feed(_ parts: [(String, Int)], rest: String = "", count: Int? = nil) -> String {
    let entries = parts.map { code, amount in
      """
      <entry m:etag="W/&quot;1&quot;"><id>\(CannedService.root)Parts('\(code)')</id><content type="application/xml"><m:properties>
      <d:Code>\(code)</d:Code><d:Amount m:type="Edm.Int32">\(amount)</d:Amount></m:properties></content></entry>
      """
    }
    return """
      <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="\(CannedService.root)"
       xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"
       xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
       xmlns:t="http://purl.org/atompub/tombstones/1.0">\(count.map { "<m:count>\($0)</m:count>" } ?? "")
      \(entries.joined())\(rest)</feed>
      """
  }
}
