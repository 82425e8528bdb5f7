import FerryConnector
import FerryCrypto
import FerryHTTP
import FerryJSON
import FerryModel
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// Users whose records a test changes: removed, with another password, or with rights of yesterday.
final class DoorUsers: AuthenticationProvider {
  struct State {
    var removed: Set<String> = []
    var stamps: [String: String] = [:]
    var stale: Set<String> = []
    /// What each user may use; all where it is not named.
    var packages: [String: [String]] = [:]
  }

  private let state = Mutex(State())

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard let record = record(of: user) else { throw .wrongLogin }
    return record
  }

  func record(of user: String) -> UserRecord? {
    state.withLock { state in
      guard !state.removed.contains(user) else { return nil }
      return UserRecord(
        name: user, claims: ["employee": [user == "anna" ? "1" : "2"]],
        stamp: state.stamps[user] ?? "first",
        packages: state.packages[user].map { .only($0) } ?? .all)
    }
  }

  func areRightsKnown(of user: String, now: Timestamp) -> Bool {
    state.withLock { !$0.stale.contains(user) }
  }
}

/// A business system with one photo, which a test gives to somebody else or replaces.
final class PhotoBusiness: Sendable {
  static let photo = Shop.entity(
    "Photo", [("id", .int, false), ("employee", .int, true), ("image", .bigBinary, true)],
    key: [0],
    partition: .columns([PartitionColumn(attribute: "employee", source: .claim("employee"))]))
  static let package = Package(
    name: "album", version: "1.0", entities: [photo], groups: [SynchronizationGroup(name: "sales")])
  static let sizeBytes = 4 * ConnectorContent.pieceBytes

  struct Row {
    var employee: Int64
    var image: [UInt8]
  }

  private let row = Mutex<Row?>(
    Row(employee: 1, image: [UInt8](repeating: UInt8(ascii: "a"), count: sizeBytes)))

  func change(_ body: (inout Row?) -> Void) { row.withLock { body(&$0) } }

  var now: Row? { row.withLock { $0 } }

  final class Reader: Connector {
    private let business: PhotoBusiness

    init(_ business: PhotoBusiness) { self.business = business }

    func mismatches(with package: Package) -> [Mismatch] { [] }
    func perform(_ group: [ConnectorOperation]) -> PerformResult { .notDone(reason: "none") }
    func recall(_ operations: [ConnectorOperation]) -> [Recall] {
      operations.map { _ in .notPerformed }
    }
    func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }
    func changedByOthers() -> Bool { false }

    private var image: RowImage? {
      business.now.map { row in
        let reference = BigReference(
          sizeBytes: Int64(row.image.count), digest: hexadecimal(SHA256Digest.hash(row.image)))
        return RowImage(
          entity: "Photo", key: ObjectKey([.integer(1)]),
          values: [.integer(1), .integer(row.employee), .text(reference.description)])
      }
    }

    func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] { image.map { [$0] } ?? [] }

    func load(
      _ scope: LoadScope, from place: LoadPlace?,
      each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
    ) throws(ConnectorError) -> LoadEnd {
      try each(LoadPage(entity: PhotoBusiness.photo, rows: image.map { [$0] } ?? []))
      return .snapshot
    }

    func content(
      _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
    ) -> [UInt8]? {
      business.now.map { Array($0.image.dropFirst(Int(clamping: offset)).prefix(count)) }
    }
  }
}

/// What ends the right of a user who is logged in on a device.
enum Ending: String, CaseIterable, CustomTestStringConvertible {
  case locked, wiped, loggedOut, removed, passwordChanged, staleRights, tokenOver

  var testDescription: String { rawValue }
}

/// The door of a server, as requests come to it, with a user who is logged in.
final class DoorBench {
  let host: PackageHost
  let users: DoorUsers
  let business: PhotoBusiness
  let clock: HandClock
  let folder: String
  private var refresh = ""
  private(set) var token = ""

  init() async throws {
    folder =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-door-\(UUID().uuidString)").path
    let (clock, users, business) = (HandClock(), DoorUsers(), PhotoBusiness())
    (self.clock, self.users, self.business) = (clock, users, business)
    let world = World(clock: clock, chance: SystemChance(), log: KeptLog())
    host = try await PackageHost.start(
      PhotoBusiness.package, folder: folder, doorkeeper: Doorkeeper(users, world: world),
      world: world
    ) { PhotoBusiness.Reader(business) }
    await host.reload()
    let login = HTTPRequest(
      method: .post, path: "/ferry/1/login",
      body: Array(#"{"user":"anna","password":"p","device":"phone"}"#.utf8))
    let answer = try #require(DoorBench.node(await host.answer(login)))
    token = try #require(answer["accessToken"]?.string)
    refresh = try #require(answer["refreshToken"]?.string)
    // Known to the register, as every device that was here.
    _ = await host.answer(try request(.post, "/ferry/1/exchange"))
  }

  func stop() async {
    await host.stop()
    try? FileManager.default.removeItem(atPath: folder)
  }

  static func node(_ response: HTTPResponse) -> JSONNode? {
    guard case .bytes(let bytes) = response.body else { return nil }
    return try? JSONNode.parse(bytes)
  }

  /// A request that would be served, at any route.
  func request(
    _ method: HTTPMethod?, _ path: String, package: String = PhotoBusiness.package.id
  ) throws -> HTTPRequest {
    var request = HTTPRequest(
      method: method ?? .post, path: path, headers: ["Authorization": "Bearer \(token)"])
    switch path {
    case "/ferry/1/exchange", "/ferry/1/channel":
      let hello = Hello(
        server: nil, package: package, device: "phone", incarnation: "1",
        groups: [], partitions: [], open: [])
      request.body = Message.hello(hello).frame.encoded()
    case "/ferry/1/logs": request.body = Array("INFO loaded\n".utf8)
    case "/ferry/1/traces": request.body = Array(#"{"resourceSpans":[]}"#.utf8)
    case "/ferry/1/content": request.query = "entity=Photo&key=1&attribute=image"
    case "/ferry/1/content/":
      request.path += String(repeating: "0a", count: 16) + "/image"
      request.headers["Content-Range"] = "bytes */10"
    default: break
    }
    return request
  }

  private func operate(_ body: String) async throws {
    let key = try String(contentsOfFile: "\(folder)/operator.key", encoding: .utf8)
    let answer = await host.answer(
      HTTPRequest(
        method: .post, path: "/ferry/1/operator/device",
        headers: ["Authorization": "Bearer \(key)"], body: Array(body.utf8)))
    #expect(answer.status == 200)
  }

  func end(_ ending: Ending) async throws {
    switch ending {
    case .locked: try await operate(#"{"verb":"lock","user":"anna","device":"phone"}"#)
    case .wiped: try await operate(#"{"verb":"wipe","user":"anna","device":"phone"}"#)
    case .loggedOut:
      let body = #"{"refreshToken":"\#(refresh)","device":"phone"}"#
      let answer = await host.answer(
        HTTPRequest(method: .post, path: "/ferry/1/logout", body: Array(body.utf8)))
      #expect(answer.status == 200)
    case .removed: users.change { $0.removed.insert("anna") }
    case .passwordChanged: users.change { $0.stamps["anna"] = "second" }
    case .staleRights: users.change { $0.stale.insert("anna") }
    case .tokenOver: clock.advance(15 * 60 + 61)
    }
  }
}
