import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryModel
import FerrySQLiteStore
import FerryWorld
import Foundation
import Synchronization

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

/// A clock that the test moves.
final class HandClock: WorldClock {
  private let time = Mutex<Int64>(1_700_000_000_000)

  var now: Timestamp { Timestamp(milliseconds: time.withLock { $0 }) }
  var uptime: Duration { .milliseconds(time.withLock { $0 }) }
  func advance(_ seconds: Int64) { time.withLock { $0 += seconds * 1_000 } }
}

/// The password of each user is `of-` and the name.
final class People: AuthenticationProvider {
  private let stamps = Mutex<[String: String]>([:])

  static let names = ["anna", "berta", "sapgw"]

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard let record = record(of: user), password == "of-\(user)" else { throw .wrongLogin }
    return record
  }

  func record(of user: String) -> UserRecord? {
    guard People.names.contains(user) else { return nil }
    return UserRecord(
      name: user, roles: user == "sapgw" ? ["SUP Push User"] : [],
      stamp: stamps.withLock { $0[user] } ?? "")
  }

  /// As a new password does.
  func change(_ user: String) { stamps.withLock { $0[user] = "changed" } }
}

/// The register over HTTP, without sockets, with a store of its own in a folder.
final class Desk: Sendable {
  static let flights = "com.example.flights"

  let applications: Applications
  let host: ServiceHost
  let clock = HandClock()
  let people = People()
  let templates = Templates()
  let world: World
  let folder: String

  init(
    _ configured: [Application] = [Desk.plain], push transport: (any Transport)? = nil,
    provider: (any AuthenticationProvider)? = nil
  ) async throws {
    folder =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-applications-\(UUID().uuidString)").path
    let world = World(clock: clock, chance: SystemChance(), log: SilentLog())
    self.world = world
    let (folder, people, templates) = (folder, provider ?? people, templates)
    let host = try await ServiceHost(world: world) { () throws(ServerError) in
      let service = try Service(
        package: Package(name: "Applications", version: "1.0", entities: [], groups: []),
        folder: folder, world: world, synchronous: .normal)
      service.provider = people
      service.templates = templates
      return service
    }
    self.host = host
    applications = Applications(
      ApplicationsFile(configured), door: "https://gate.example.com",
      logins: BasicLogins(people, world: world), provider: people,
      audit: AuditLog(path: "\(folder)/audit.jsonl", world: world), world: world,
      push: transport
    ) { host }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  static var plain: Application {
    var application = Application(id: flights)
    application.services = ["flights", "news"]
    return application
  }

  static let path = "/odata/applications/v1/com.example.flights/Connections"

  static func basic(_ user: String, _ password: String? = nil) -> String {
    "Basic \(Data("\(user):\(password ?? "of-\(user)")".utf8).base64EncodedString())"
  }

  /// A request as a server gives it; refused by its head where it has to be.
  func send(
    _ method: String, _ path: String, user: String? = "anna", _ headers: [(String, String)] = [],
    body: String = ""
  ) async -> Answer {
    await send(method, path, user: user, headers, bytes: Array(body.utf8))
  }

  func send(
    _ method: String, _ path: String, user: String?, _ headers: [(String, String)],
    bytes: [UInt8]
  ) async -> Answer {
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    var request = HTTPRequest(
      method: HTTPMethod(rawValue: method), path: parts[0],
      query: parts.count > 1 ? parts[1] : nil, peer: "10.0.0.1")
    if let user { request.headers.add("Authorization", Desk.basic(user)) }
    for (name, value) in headers { request.headers.add(name, value) }
    request.body = bytes
    return Answer(await answer(request))
  }

  func answer(_ request: HTTPRequest) async -> HTTPResponse {
    switch applications.admit(request) {
    case .refuse(let response): return response
    case .take(let most, _), .stream(let most, _):
      guard request.body.count <= most else { return HTTPResponse(status: 413) }
      return await applications.answer(request)
    }
  }

  /// Registers, and gives the id.
  func register(
    _ user: String = "anna", _ id: String? = nil, body: String = "{}"
  ) async -> String {
    let answer = await send(
      "POST", Desk.path, user: user, id.map { [("X-SUP-APPCID", $0)] } ?? [], body: body)
    return answer.headers["X-SUP-APPCID"] ?? "none: \(answer.text)"
  }

  /// The entry as JSON, read with its id.
  func value(_ name: String, of id: String, user: String = "anna") async -> String? {
    let answer = await send(
      "GET", "\(Desk.path)('\(id)')/\(name)/$value", user: user, [("X-SUP-APPCID", id)])
    return answer.status == 200 ? answer.text : nil
  }
}

/// An answer whose body was read.
struct Answer {
  let status: Int
  let headers: HTTPHeaders
  let text: String
  let stream: (any HTTPBodySource)?

  init(_ response: HTTPResponse) {
    status = response.status
    headers = response.headers
    switch response.body {
    case .bytes(let bytes):
      text = String(decoding: bytes, as: UTF8.self)
      stream = nil
    case .stream(let source):
      text = ""
      stream = source
    }
  }

  /// The body to its end.
  func all() async throws -> [UInt8] {
    guard let stream else { return Array(text.utf8) }
    var bytes: [UInt8] = []
    while true {
      switch await stream.next() {
      case .bytes(let piece): bytes += piece
      case .end: return bytes
      case .abort: throw CancellationError()
      }
    }
  }

  /// The number of an error, whichever format it has.
  var code: RegistrationCode? {
    if let node = try? JSONNode.parse(Array(text.utf8)) {
      return node["error"]?["code"]?.string.flatMap { Int($0) }.flatMap(RegistrationCode.init)
    }
    return text.firstMatch(of: /<m:code>([0-9]+)</).flatMap { Int($0.1) }
      .flatMap(RegistrationCode.init)
  }
}

/// Requests of a device to a desk, without a network.
struct DeskTransport: Transport {
  let desk: Desk
  /// What is to happen before a request; may throw.
  var before: @Sendable (TransportRequest) throws(TransportError) -> Void = { _ in }
  /// What is to happen once a request was answered; may throw.
  var after: @Sendable (TransportRequest) throws(TransportError) -> Void = { _ in }

  init(_ desk: Desk) { self.desk = desk }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    try before(request)
    let path = request.url.dropFirst("https://gate.example.com".count)
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    var sent = HTTPRequest(
      method: request.method, path: parts[0], query: parts.count > 1 ? parts[1] : nil,
      headers: request.headers, peer: "10.0.0.2")
    sent.body = request.body
    let response = await desk.answer(sent)
    try after(request)
    return TransportResponse(
      status: response.status, headers: response.headers, body: DeskBody(response.body))
  }
}

/// A body as a transport gives it.
private final class DeskBody: TransportBody {
  private let body: HTTPBody
  private let isRead = Mutex(false)

  init(_ body: HTTPBody) { self.body = body }

  func next() async throws(TransportError) -> [UInt8]? {
    switch body {
    case .bytes(let bytes):
      let isFirst = isRead.withLock { isRead in
        defer { isRead = true }
        return !isRead
      }
      return isFirst && !bytes.isEmpty ? bytes : nil
    case .stream(let source):
      switch await source.next() {
      case .bytes(let bytes): return bytes
      case .end: return nil
      case .abort:
        throw TransportError(
          code: .cut, message: "cut", hint: "none", isTransient: true, requestWasSent: true)
      }
    }
  }

  func cancel() {}
}
