import FerryConformance
import FerryConnector
import FerryHTTP
import FerryModel
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryServer

@Suite("Rows that come with the answer to the question for changes")
struct HintedRowsTests {
  private static func key(_ number: Int64) -> ObjectKey { ObjectKey([.integer(number)]) }
  private let bench: Bench

  init() throws {
    bench = try Bench()
    for number in [1, 2] as [Int64] {
      bench.business.put(Shop.product, [.integer(number), .text("tea")])
    }
    try bench.load()
  }

  private func rows(_ text: String?) -> BusinessChanges {
    let values: [AttributeValue]? = text.map { [.integer(1), .text($0)] }
    let row = RowImage(entity: "Product", key: HintedRowsTests.key(1), values: values)
    return BusinessChanges(cursor: "c", hints: [.rows([row])])
  }

  private var name: AttributeValue? {
    get throws {
      let position = try #require(bench.service.rules.position(of: "Product"))
      let row = try bench.service.cache.row(RowName(position, HintedRowsTests.key(1)))
      guard let row, !row.isDeleted else { return nil }
      return try bench.service.cache.values(of: row)[1]
    }
  }

  @Test("They are written without asking again, and the cursor is kept behind them")
  func written() throws {
    let look = bench.service.beginLook(forRows: true)
    #expect(try !bench.service.take(rows("coffee"), of: look))
    #expect(try name == .text("coffee"))
    #expect(try bench.service.nextReadBack() == nil)
    #expect(try bench.service.sourceCursor() == "c")
    bench.service.endLook(look, needsLoad: false)
    let next = bench.service.beginLook(forRows: true)
    _ = try bench.service.take(rows(nil), of: next)
    #expect(try name == nil, "a deleted object came with the answer too")
  }

  @Test("What was learned of an object after the question began is newer: it is read again")
  func touched() throws {
    let look = bench.service.beginLook(forRows: true)
    let hint = ChangeHint.objects(entity: "Product", keys: [HintedRowsTests.key(1)])
    _ = try bench.service.take(BusinessChanges(cursor: nil, hints: [hint]))
    bench.business.put(Shop.product, [.integer(1), .text("milk")])
    try bench.readAgain()
    _ = try bench.service.take(rows("coffee"), of: look)
    #expect(try name == .text("milk"), "an older answer was written over what is newer")
    #expect(try bench.service.sourceCursor() != "c")
    try bench.readAgain()
    #expect(try name == .text("milk"))
    #expect(try bench.service.sourceCursor() == "c")
  }

  @Test("Without a mark of before the question they are read again")
  func unmarked() throws {
    _ = try bench.service.take(rows("coffee"))
    #expect(try name == .text("tea"))
    #expect(try bench.service.nextReadBack()?.keys == [HintedRowsTests.key(1)])
  }
}

/// A service whose question for changes does not end before the test says so.
private final class SlowConnector: Connector {
  final class Line: Sendable {
    private let state = Mutex((questions: 0, performed: 0))
    let gate = DispatchSemaphore(value: 0)
    var questions: Int { state.withLock { $0.questions } }
    var performed: Int { state.withLock { $0.performed } }
    func ask() {
      state.withLock { $0.questions += 1 }
      gate.wait()
      gate.signal()
    }
    func perform() { state.withLock { $0.performed += 1 } }
  }

  private let line: Line
  init(_ line: Line) { self.line = line }

  let looksApart = true
  func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }
  func mismatches(with package: Package) -> [Mismatch] { [] }
  func perform(_ group: [ConnectorOperation]) -> PerformResult {
    line.perform()
    let key = ObjectKey([.integer(20)])
    let row = RowImage(entity: "Order", key: key, values: Shop.order(20, 1, "Oslo"))
    return .done([.accepted(key: key)], touched: [row])
  }
  func recall(_ operations: [ConnectorOperation]) -> [Recall] {
    operations.map { _ in .notPerformed }
  }
  func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] { [] }
  func changedByOthers() -> Bool { false }
  func changes(since cursor: String?) -> BusinessChanges {
    line.ask()
    return BusinessChanges(cursor: "c", hints: [])
  }
  func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) -> [UInt8]? { nil }
  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd { .snapshot }
}

private struct OpenDoor: AuthenticationProvider {
  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    UserRecord(name: user, claims: ["employee": ["1"]])
  }
  func record(of user: String) -> UserRecord? {
    UserRecord(name: user, claims: ["employee": ["1"]])
  }
}

@Suite("The question for changes on a thread of its own", .timeLimit(.minutes(60)))
struct LookApartTests {
  @Test("While the question has no answer, operations are performed")
  func performed() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-look-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = World.system()
    let line = SlowConnector.Line()
    let host = try await PackageHost.start(
      Shop.package, folder: folder, doorkeeper: Doorkeeper(OpenDoor(), world: world), world: world
    ) { SlowConnector(line) }
    await host.reload()
    let patience = Patience()
    while line.questions == 0, await patience.lasts() {}
    let login = await host.answer(
      HTTPRequest(
        method: .post, path: "/ferry/1/login",
        body: Array(#"{"user":"anna","password":"p","device":"phone"}"#.utf8)))
    guard case .bytes(let bytes) = login.body else {
      Issue.record("no token")
      return
    }
    let answer = try #require(
      try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    let token = try #require(answer["accessToken"] as? String)
    let id = try #require(OperationID(String(repeating: "0", count: 31) + "1"))
    let operation = FerryWire.Operation(
      id: id, chain: id, position: 0, count: 1, entity: "Order", kind: .create,
      key: ObjectKey([.integer(20)]),
      changed: [0: .integer(20), 1: .integer(1), 2: .text("Oslo")], base: [:])
    let hello = Hello(
      server: nil, package: Shop.package.id, device: "phone", incarnation: "phone-1", groups: [],
      partitions: [], open: [])
    let replay = Replay(operations: [operation.encoded(for: Shop.order)])
    let taken = await host.answer(
      HTTPRequest(
        method: .post, path: "/ferry/1/exchange", headers: ["Authorization": "Bearer \(token)"],
        body: [Message.hello(hello), .replay(replay)].flatMap { $0.frame.encoded() }))
    #expect(taken.status == 200)
    while line.performed == 0, await patience.lasts() {}
    #expect(line.performed == 1)
    #expect(line.questions == 1, "the question was answered, or asked a second time")
    line.gate.signal()
    await host.end()
  }
}
