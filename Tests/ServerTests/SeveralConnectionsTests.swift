import FerryConnector
import FerryHTTP
import FerryMemoryConnector
import FerryModel
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryServer

/// A package whose items are in one business system and whose orders are in another.
private enum Twin {
  static let item = Shop.entity("Item", [("id", .int, false), ("name", .string, true)], key: [0])
  static let order = Entity(
    name: "Order", table: "Order",
    attributes: [
      Attribute(name: "id", column: "id", type: .int, isNullable: false),
      Attribute(name: "text", column: "text", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "sales", allowsBlindWrites: true, connection: "erp")
  static let package = Package(
    name: "twin", version: "1.0", entities: [item, order],
    groups: [SynchronizationGroup(name: "sales")])

  static func row(_ id: Int64, _ text: String) -> [AttributeValue] { [.integer(id), .text(text)] }
}

private struct EveryDoor: AuthenticationProvider {
  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    UserRecord(name: user)
  }
  func record(of user: String) -> UserRecord? { UserRecord(name: user) }
}

/// A server over two business systems in memory.
private final class TwinServer: Sendable {
  let shop = MemoryBusiness(package: Twin.package, notesChanges: true)
  let erp = MemoryBusiness(package: Twin.package, notesChanges: true)
  let isAway: Mutex<Bool>
  let shopLoads = Mutex(0)
  let erpLoads = Mutex(0)
  private let hosting = Mutex<PackageHost?>(nil)
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ferry-twin-\(UUID().uuidString)").path

  init(erpIsAway: Bool = false) {
    isAway = Mutex(erpIsAway)
    _ = shop.insert("Item", [Twin.row(1, "tea")])
    _ = erp.insert("Order", [Twin.row(1, "Oslo")])
    shop.setFault { [self] call in
      if call == .load { shopLoads.withLock { $0 += 1 } }
      return nil
    }
    erp.setFault { [self] call in
      if call == .load { erpLoads.withLock { $0 += 1 } }
      return isAway.withLock { $0 } ? .away : nil
    }
  }

  var host: PackageHost {
    guard let host = hosting.withLock({ $0 }) else { preconditionFailure("begin first") }
    return host
  }

  func begin() async throws {
    let world = World.system(log: SilentLog())
    let host = try await PackageHost.start(
      Twin.package, folder: folder, doorkeeper: Doorkeeper(EveryDoor(), world: world), world: world,
      connectors: { [shop, erp] name in MemoryConnector(name == "erp" ? erp : shop) })
    hosting.withLock { $0 = host }
  }

  func end() async {
    await host.end()
    try? FileManager.default.removeItem(atPath: folder)
  }

  func token() async throws -> String {
    let login = await host.answer(
      HTTPRequest(
        method: .post, path: "/ferry/1/login",
        body: Array(#"{"user":"anna","password":"p","device":"phone"}"#.utf8)))
    guard case .bytes(let bytes) = login.body,
      let answer = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any],
      let token = answer["accessToken"] as? String
    else { throw ServerError(.badRequest, "no token", hint: "none") }
    return token
  }

  /// Sends operations as one chain.
  func send(_ operations: [(Entity, [AttributeValue])], as first: Int) async throws {
    let ids = operations.indices.map { place in
      OperationID(String(repeating: "0", count: 30) + String(format: "%02x", first + place))
    }
    let bytes = try operations.enumerated().map { place, operation in
      let (entity, row) = operation
      let id = try #require(ids[place])
      return FerryWire.Operation(
        id: id, chain: try #require(ids[0]), position: place, count: operations.count,
        entity: entity.name, kind: .create, key: ObjectKey([row[0]]),
        changed: [0: row[0], 1: row[1]], base: [:]
      ).encoded(for: entity)
    }
    let hello = Hello(
      server: nil, package: Twin.package.id, device: "phone", incarnation: "phone-1", groups: [],
      partitions: [], open: ids.compactMap { $0 })
    let taken = await host.answer(
      HTTPRequest(
        method: .post, path: "/ferry/1/exchange",
        headers: ["Authorization": "Bearer \(try await token())"],
        body: [Message.hello(hello), .replay(Replay(operations: bytes))]
          .flatMap { $0.frame.encoded() }))
    #expect(taken.status == 200)
  }

  func health() -> String { String(decoding: HealthReport.of(host).json, as: UTF8.self) }
}

extension HealthReport {
  fileprivate static func of(_ host: PackageHost) -> HealthReport {
    HealthReport(
      [(Twin.package.id, host.served.service.pulse)],
      of: ServerMeter(World.system(log: SilentLog()), version: ""))
  }
}

@Suite("A package with several connections", .timeLimit(.minutes(60)))
struct SeveralConnectionsTests {
  @Test("Each entity is loaded and replayed over its own connection, and over no other")
  func apart() async throws {
    let server = TwinServer()
    try await server.begin()
    await server.host.reload()
    try await server.send([(Twin.item, Twin.row(2, "milk"))], as: 1)
    try await server.send([(Twin.order, Twin.row(2, "Rome"))], as: 2)
    let patience = Patience()
    while server.erp.rows(of: "Order").count < 2 || server.shop.rows(of: "Item").count < 2,
      await patience.lasts()
    {}
    #expect(server.shop.rows(of: "Item").count == 2 && server.shop.rows(of: "Order").isEmpty)
    #expect(server.erp.rows(of: "Order").count == 2 && server.erp.rows(of: "Item").isEmpty)
    await server.end()
  }

  @Test("While one is away the others are replayed, and the health report names it")
  func away() async throws {
    let server = TwinServer()
    try await server.begin()
    await server.host.reload()
    server.isAway.withLock { $0 = true }
    try await server.send([(Twin.order, Twin.row(2, "Rome"))], as: 1)
    try await server.send([(Twin.item, Twin.row(2, "milk"))], as: 2)
    let patience = Patience()
    while server.shop.rows(of: "Item").count < 2, await patience.lasts() {}
    #expect(server.shop.rows(of: "Item").count == 2)
    while !server.health().contains(#""connection":"erp","status":"degraded""#),
      await patience.lasts()
    {}
    #expect(server.health().contains(#""connection":"default","status":"ready""#))
    #expect(server.health().contains(#""status":"degraded""#))
    server.isAway.withLock { $0 = false }
    while server.erp.rows(of: "Order").count < 2, await patience.lasts() {}
    #expect(server.erp.rows(of: "Order").count == 2)
    await server.end()
  }

  @Test("A first load waits for the one that is away, and reads nothing of the others once more")
  func firstLoad() async throws {
    let server = TwinServer(erpIsAway: true)
    try await server.begin()
    let patience = Patience()
    while server.erpLoads.withLock({ $0 }) < 3, await patience.lasts() {}
    #expect(server.shopLoads.withLock { $0 } == 1)
    #expect(!server.host.served.service.pulse.isLoaded)
    server.isAway.withLock { $0 = false }
    await server.host.reload()
    while !server.host.served.service.pulse.isLoaded, await patience.lasts() {}
    #expect(server.host.served.service.pulse.isLoaded)
    await server.end()
  }

  @Test("A chain over two is refused with 422, which names both, and neither has done anything")
  func chain() async throws {
    let server = TwinServer()
    try await server.begin()
    await server.host.reload()
    try await server.send(
      [(Twin.item, Twin.row(2, "milk")), (Twin.order, Twin.row(2, "Rome"))], as: 1)
    let service = server.host.served.service
    let patience = Patience()
    let ids = [1, 2].compactMap {
      OperationID(String(repeating: "0", count: 30) + String(format: "%02x", $0))
    }
    while try await service.outcomes(ids).contains(nil), await patience.lasts() {}
    #expect(try await service.outcomes(ids) == [.notTried, .replayFailed])
    let record = try #require(try await service.records(of: ids[1]).first)
    #expect(record.code == 422)
    #expect(record.message.contains("the default connection and \"erp\""))
    #expect(server.shop.rows(of: "Item").count == 1 && server.erp.rows(of: "Order").count == 1)
    await server.end()
  }

  @Test(
    "The places up to which each was followed are one text, and one connection has its own alone")
  func cursors() throws {
    let twin = PackageConnections(Twin.package)
    #expect(twin.names == [nil, "erp"])
    var cursors = SourceCursors("7", twin)
    #expect(cursors[0] == nil && cursors.text == nil, "nobody knows of which it is")
    cursors[1] = "9"
    let text = try #require(cursors.text)
    #expect(SourceCursors(text, twin)[1] == "9" && SourceCursors(text, twin)[0] == nil)
    let single = PackageConnections(Shop.package)
    #expect(SourceCursors("7", single)[0] == "7" && SourceCursors("7", single).text == "7")
    #expect(SourceCursors(text, single)[0] == nil)
  }

  @Test("Cursors and looks of one connection do not wait for the other")
  func looks() throws {
    let bench = try Bench(Twin.package)
    bench.business.put(Twin.item, Twin.row(1, "tea"))
    bench.business.put(Twin.order, Twin.row(1, "Oslo"))
    try bench.load()
    let service = bench.service
    func hint(_ entity: Entity) -> BusinessChanges {
      BusinessChanges(
        cursor: "c", hints: [.objects(entity: entity.name, keys: [ObjectKey([.integer(1)])])])
    }
    let items = service.beginLook(of: 0)
    let orders = service.beginLook(of: 1)
    let needed = service.intake.looksNeeded
    _ = try service.take(hint(Twin.item), of: items, from: 0)
    service.endLook(items, needsLoad: false, of: 0)
    _ = try service.take(BusinessChanges(cursor: "d", hints: []), of: orders, from: 1)
    service.endLook(orders, needsLoad: false, of: 1)
    #expect(try service.sourceCursor(of: 1) == "d", "an item that is to be read is none of its own")
    #expect(try service.sourceCursor(of: 0) == nil)
    #expect(try service.nextReadBack(of: 1) == nil)
    let task = try #require(try service.nextReadBack(of: 0))
    try service.finish(task, try bench.business.read(Twin.item, keys: task.keys))
    #expect(try service.sourceCursor(of: 0) == "c")
    #expect(!service.intake.isCurrent(needed))
    for connection in [0, 1] {
      let look = service.beginLook(of: connection)
      service.endLook(look, needsLoad: false, of: connection)
      #expect(service.intake.isCurrent(needed) == (connection == 1))
    }
  }
}

extension ServiceHost {
  fileprivate func outcomes(_ ids: [OperationID]) throws -> [Answer.Outcome?] {
    try service.store.known(ids).map { $0?.outcome }
  }

  fileprivate func records(of id: OperationID) throws -> [LogRecord] {
    try service.store.replica { view throws(StoreError) in
      try view.answers(
        group: "sales", Owner(device: "phone", user: "anna"), open: [id], upTo: .max)
    }.first { $0.id == id }?.logRecords ?? []
  }
}
