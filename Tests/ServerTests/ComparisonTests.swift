import FerryConnector
import FerryModel
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// A business system whose triggers miss what `rows` is set to.
private final class SlyConnector: Connector {
  final class Rows: Sendable {
    private let state = Mutex<
      (rows: [Int64: [AttributeValue]], isAway: Bool, slices: Int, loads: Int, looks: Int)
    >(
      ([:], false, 0, 0, 0))
    var all: [Int64: [AttributeValue]] { state.withLock { $0.rows } }
    var slices: Int { state.withLock { $0.slices } }
    var loads: Int { state.withLock { $0.loads } }
    func set(_ id: Int64, _ values: [AttributeValue]?) { state.withLock { $0.rows[id] = values } }
    func set(isAway: Bool) { state.withLock { $0.isAway = isAway } }
    var looks: Int { state.withLock { $0.looks } }
    func look() { state.withLock { $0.looks += 1 } }
    func load() { state.withLock { $0.loads += 1 } }
    func slice() -> Bool {
      state.withLock { state in
        state.slices += 1
        return state.isAway
      }
    }
  }

  private let rows: Rows
  private let givesSlices: Bool

  init(_ rows: Rows, givesSlices: Bool = true) {
    self.rows = rows
    self.givesSlices = givesSlices
  }

  func mismatches(with package: Package) -> [Mismatch] { [] }
  func perform(_ group: [ConnectorOperation]) -> PerformResult { .notDone(reason: "not asked") }
  func recall(_ operations: [ConnectorOperation]) -> [Recall] {
    operations.map { _ in .notPerformed }
  }
  func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }
  func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] {
    let all = rows.all
    return keys.map { key in
      var values: [AttributeValue]?
      if entity.name == "Order", case .integer(let id)? = key.values(of: entity)?.first {
        values = all[id]
      }
      return RowImage(entity: entity.name, key: key, values: values)
    }
  }
  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    rows.load()
    try each(LoadPage(entity: Shop.order, rows: images(behind: 0, count: .max)))
    return .snapshot
  }
  private func images(behind place: Int64, count: Int) -> [RowImage] {
    rows.all.filter { $0.key > place }.sorted { $0.key < $1.key }.prefix(count).map {
      RowImage(entity: "Order", key: ObjectKey([.integer($0.key)]), values: $0.value)
    }
  }
  func slice(
    of entity: Entity, after place: [AttributeValue]?, count: Int
  ) throws(ConnectorError)
    -> EntitySlice?
  {
    guard givesSlices else { return nil }
    if rows.slice() { throw ConnectorError("it is away", hint: "Start it.", isTransient: true) }
    guard entity.name == "Order" else { return EntitySlice(rows: [], next: nil) }
    var last: Int64 = 0
    if case .integer(let id)? = place?.first { last = id }
    let images = images(behind: last, count: count)
    return EntitySlice(
      rows: images, next: images.count < count ? nil : images.last?.values?.prefix(1).map { $0 })
  }
  func changedByOthers() -> Bool { false }
  func changes(since cursor: String?) -> BusinessChanges {
    rows.look()
    return BusinessChanges(cursor: "c", hints: cursor == nil ? [.anything] : [])
  }
}

extension ServiceHost {
  fileprivate func order(_ id: Int64) throws -> [AttributeValue]? {
    guard let position = service.rules.position(of: "Order"),
      let row = try service.cache.row(RowName(position, ObjectKey([.integer(id)]))), !row.isDeleted
    else { return nil }
    return try service.cache.values(of: row)
  }
}

@Suite("The comparison of all rows in slices", .timeLimit(.minutes(60)))
struct ComparisonTests {
  private let log = KeptLog()
  private let rows = SlyConnector.Rows()

  private func withHost(
    givesSlices: Bool = true, hintedObjects: Int = 20_000,
    _ body: (PackageHost) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-compare-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = World(clock: SystemClock(), chance: SystemChance(), log: log)
    var limits = ServiceLimits.standard
    limits.hintedObjects = hintedObjects
    let looks = rows.looks
    let host = try await PackageHost.start(
      Shop.package, folder: folder,
      doorkeeper: Doorkeeper(NoUsers(), world: world), world: world, limits: limits
    ) { SlyConnector(rows, givesSlices: givesSlices) }
    for id in 1...500 { rows.set(Int64(id), Shop.order(Int64(id), 1, "Oslo")) }
    // What the first look asks for is loaded by then.
    while rows.looks < looks + 2 { await Task.yield() }
    await host.reload()
    try await body(host)
    await host.end()
  }

  private func count(_ wanted: String) -> Int { log.lines.count { $0 == wanted } }

  private func health(_ host: PackageHost) -> String {
    String(
      decoding: HealthReport([("shop", host.served.service.pulse)], of: ServerMeter(.system()))
        .json,
      as: UTF8.self)
  }

  @Test(
    "What no trigger noted is found: a new row, another one, and one that is not there any more")
  func found() async throws {
    try await withHost { host in
      let loads = rows.loads
      rows.set(7, Shop.order(7, 1, "Rome"))
      rows.set(200, nil)
      rows.set(501, Shop.order(501, 1, "Bern"))
      host.compare()
      let service = host.served.service
      while try await service.order(501) == nil { await Task.yield() }
      while try await service.order(200) != nil { await Task.yield() }
      #expect(try await service.order(7) == Shop.order(7, 1, "Rome"))
      #expect(try await service.order(8) == Shop.order(8, 1, "Oslo"))
      while count("info all rows were compared with the business system") == 0 {
        await Task.yield()
      }
      let text = health(host)
      #expect(text.contains(#""comparison":{"ageSeconds":"#), "\(text)")
      #expect(text.contains(#""rows":500,"differences":3,"#), "\(text)")
      #expect(rows.loads == loads, "everything was loaded once more")
    }
  }

  @Test("A business system that is away in mid-comparison is asked again for the same slice")
  func away() async throws {
    try await withHost { host in
      rows.set(isAway: true)
      rows.set(7, Shop.order(7, 1, "Rome"))
      host.compare()
      while rows.slices < 2 { await Task.yield() }
      #expect(count("warn rows could not be compared; tried again") == 1)
      rows.set(isAway: false)
      let service = host.served.service
      while try await service.order(7) != Shop.order(7, 1, "Rome") { await Task.yield() }
    }
  }

  @Test("Without slices, and where more differs than is read one by one, everything is loaded")
  func loaded() async throws {
    try await withHost(givesSlices: false) { host in
      let loads = rows.loads
      rows.set(7, Shop.order(7, 1, "Rome"))
      host.compare()
      let service = host.served.service
      while try await service.order(7) != Shop.order(7, 1, "Rome") { await Task.yield() }
      #expect(rows.loads > loads)
    }
    try await withHost(hintedObjects: 10) { host in
      let loads = rows.loads
      for id in 1...300 { rows.set(Int64(id), nil) }
      host.compare()
      let service = host.served.service
      while try await service.order(7) != nil { await Task.yield() }
      #expect(rows.loads > loads)
      #expect(
        count("warn more rows are missing than are read one by one: all of them are loaded") == 1)
    }
  }

  @Test("It is due once a day behind its hour, whatever the clock does")
  func schedule() {
    let day: Int64 = 86_400_000
    let hour: Int64 = 3_600_000
    func at(_ days: Int64, _ hours: Int64) -> Timestamp {
      Timestamp(milliseconds: days * day + hours * hour)
    }
    var schedule = ComparisonSchedule(hour: 2, now: at(100, 1))
    // Behind its hour, not again on the day, not when the clock is set back, and when it is set forward.
    let moments = [
      (100, 1), (100, 2), (100, 23), (101, 1), (99, 2), (500, 3), (501, 1), (501, 2),
    ].map { at($0, $1) }
    #expect(
      moments.map { schedule.isDue($0) } == [false, true, false, false, false, true, false, true])
    var late = ComparisonSchedule(hour: 2, now: at(100, 3))
    #expect([at(100, 4), at(101, 2)].map { late.isDue($0) } == [false, true])
  }

  @Test("A slice that takes long is followed by a smaller one, and nine times as long by nothing")
  func pace() throws {
    var comparison = Comparison([Shop.order, Shop.line], since: .zero)
    let slice = EntitySlice(rows: [], next: [.integer(1)])
    let first = try #require(comparison.question)
    #expect(first.entity.name == "Order" && first.place == nil)
    comparison.took(slice, differences: 2, from: .zero, to: .milliseconds(4))
    #expect(comparison.question?.count == first.count * 2)
    #expect(comparison.question?.place == [.integer(1)])
    #expect(!comparison.isDue(at: .milliseconds(39)))
    #expect(comparison.isDue(at: .milliseconds(40)))
    comparison.took(slice, differences: 0, from: .milliseconds(40), to: .milliseconds(80))
    #expect(comparison.question?.count == first.count)
    comparison.took(
      EntitySlice(rows: [], next: nil), differences: 0, from: .seconds(1), to: .seconds(3))
    #expect(comparison.question?.entity.name == "Line", "the next entity begins at its first row")
    #expect(comparison.question?.place == nil)
    #expect(comparison.isDue(at: .seconds(8)), "it does not wait for longer than 5 s")
    comparison.took(
      EntitySlice(rows: [], next: nil), differences: 0, from: .seconds(8), to: .seconds(8))
    #expect(comparison.question == nil)
    #expect(comparison.report.differences == 2)
  }
}

private struct NoUsers: AuthenticationProvider {
  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    UserRecord(name: user)
  }
  func record(of user: String) -> UserRecord? { nil }
}
