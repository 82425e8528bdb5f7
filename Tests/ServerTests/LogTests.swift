import FerryConnector
import FerryHTTP
import FerryModel
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// A business system that may be away; it counts how often it was asked.
final class AwayConnector: Connector {
  final class Switch: Sendable {
    private let state = Mutex((isAway: false, loads: 0, looks: 0))
    var loads: Int { state.withLock { $0.loads } }
    var looks: Int { state.withLock { $0.looks } }
    func set(isAway: Bool) { state.withLock { $0.isAway = isAway } }
    func load() -> Bool {
      state.withLock { state in
        state.loads += 1
        return state.isAway
      }
    }
    func look() -> Bool {
      state.withLock { state in
        state.looks += 1
        return state.isAway
      }
    }
  }

  private let line: Switch
  private static let away = ConnectorError("it is away", hint: "Start it.", isTransient: true)

  let holdsJudgedRows: Bool

  init(_ line: Switch, holdsJudgedRows: Bool = false) {
    self.line = line
    self.holdsJudgedRows = holdsJudgedRows
  }

  func mismatches(with package: Package) -> [Mismatch] { [] }
  func perform(_ group: [ConnectorOperation]) -> PerformResult { .notDone(reason: "away") }
  func recall(_ operations: [ConnectorOperation]) -> [Recall] {
    operations.map { _ in .notPerformed }
  }
  func abilities(of entity: Entity) -> ConnectorAbilities {
    let tests = ConnectorAbilities.ofTests
    return ConnectorAbilities(
      atomicGroups: tests.atomicGroups, memory: tests.memory, conditionalWrites: holdsJudgedRows,
      changes: tests.changes, reportsDeletes: tests.reportsDeletes, snapshots: tests.snapshots)
  }
  func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] { [] }
  func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) -> [UInt8]? {
    nil
  }
  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    if line.load() { throw AwayConnector.away }
    let row = RowImage(
      entity: "Order", key: ObjectKey([.integer(10)]), values: Shop.order(10, 1, "Oslo"))
    try each(LoadPage(entity: Shop.order, rows: [row]))
    return .snapshot
  }
  func changedByOthers() throws(ConnectorError) -> Bool {
    if line.look() { throw AwayConnector.away }
    return false
  }
}

/// Whoever asks is let in, with these claims.
private struct OpenDoor: AuthenticationProvider {
  let claims: [String: [String]]
  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    UserRecord(name: user, claims: claims)
  }
  func record(of user: String) -> UserRecord? { UserRecord(name: user, claims: claims) }
}

@Suite("What the server logs", .timeLimit(.minutes(60)))
struct LogTests {
  private let log = KeptLog()
  private let line = AwayConnector.Switch()

  private func withHost(
    claims: [String: [String]] = [:], _ body: (PackageHost) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-log-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = World(clock: SystemClock(), chance: SystemChance(), log: log)
    let host = try await PackageHost.start(
      Shop.package, folder: folder, doorkeeper: Doorkeeper(OpenDoor(claims: claims), world: world),
      world: world
    ) { AwayConnector(line) }
    try await body(host)
    await host.stop()
  }

  private func count(_ wanted: String) -> Int { log.lines.count { $0 == wanted } }

  @Test("A business system that is away is logged once, and once when it is back")
  func away() async throws {
    line.set(isAway: true)
    try await withHost { host in
      while line.loads < 3 || line.looks < 6 { await Task.yield() }
      #expect(count("warn the business system could not be loaded; tried again") == 1)
      #expect(count("warn the business system cannot be asked for changes") == 1)
      line.set(isAway: false)
      await host.reload()
      let looks = line.looks
      while line.looks < looks + 2 { await Task.yield() }
      #expect(count("info the business system can be loaded again") == 1)
      #expect(count("info the business system can be asked for changes again") == 1)
    }
  }

  @Test("The first load is logged with its beginning and its end, the next quick one is not")
  func loaded() async throws {
    try await withHost { host in
      await host.reload()
      await host.reload()
    }
    #expect(count("info the business system is being loaded") == 1)
    #expect(count("info the business system was loaded") == 1)
    #expect(count("debug the business system was loaded") >= 1)
  }

  @Test(
    "A login is logged, with each claim that keeps rows from the user",
    arguments: [(["employee": ["1"]], 0), (["employe": ["1"]], 2), (["employee": ["x"]], 1)])
  func login(claims: [String: [String]], faults: Int) async throws {
    try await withHost(claims: claims) { host in
      let answer = await host.answer(
        HTTPRequest(
          method: .post, path: "/ferry/1/login",
          body: Array(#"{"user":"anna","password":"p","device":"d1"}"#.utf8)))
      #expect(answer.status == 200)
    }
    #expect(count("info a user logged in") == 1)
    #expect(count("warn the claims of a user do not match the model") == faults)
  }

  @Test("A claim that is missing, misspelt or of another type is named with its cure")
  func claims() {
    let check = ClaimCheck(Shop.package)
    func faults(_ claims: [String: [String]]) -> String {
      check.faults(of: UserRecord(name: "anna", claims: claims)).joined(separator: "\n")
    }
    #expect(faults(["employee": ["1", "2"]]) == "")
    #expect(faults([:]).contains("The claim employee is missing: the user gets no rows of Order"))
    #expect(faults([:]).contains("--claim employee=<value>"))
    let misspelt = faults(["employe": ["1"]])
    #expect(misspelt.contains("The user has employe: is that right?"))
    #expect(misspelt.contains("No partition rule asks for the claim employe."))
    #expect(
      faults(["employee": ["abc"]])
        == "The claim employee=abc is not of type int, as Order.employee requires. It gives no rows."
    )
  }
}
