import FerryConnector
import FerryModel
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryServer

@Suite("What a load has read decides what its silence means")
struct LoadScopeTests {
  private static let visit = Shop.entity(
    "Visit", [("id", .int, false), ("region", .string, true)], key: [0],
    partition: .columns([
      PartitionColumn(attribute: "region", source: .parameter("region", within: nil))
    ]))
  private static let package = Package(
    name: "shop", version: "1.0", entities: [Shop.product, visit],
    groups: [SynchronizationGroup(name: "sales")],
    parameters: [Parameter(name: "region", type: .string)])

  private let bench: Bench

  /// Two products, and a visit in the north and in the south.
  init() throws {
    bench = try Bench(LoadScopeTests.package)
    for number in [1, 2] as [Int64] {
      bench.business.put(Shop.product, [.integer(number), .text("tea")])
    }
    bench.business.put(LoadScopeTests.visit, [.integer(1), .text("north")])
    bench.business.put(LoadScopeTests.visit, [.integer(2), .text("south")])
    try bench.load()
  }

  private func isThere(_ entity: Entity, _ number: Int64) throws -> Bool {
    let position = try #require(bench.service.rules.position(of: entity.name))
    let key = ObjectKey([.integer(number)])
    return try bench.service.cache.row(RowName(position, key)).map { !$0.isDeleted } ?? false
  }

  /// A load that gives these rows of the business system, and ends like this.
  @discardableResult
  private func load(
    _ scope: LoadScope, giving rows: [(Entity, [Int64])], _ end: LoadEnd
  ) throws -> LoadSummary {
    let ticket = try bench.service.beginLoad()
    for (entity, numbers) in rows {
      let keys = numbers.map { ObjectKey([.integer($0)]) }
      try bench.service.stage(ticket, entity, try bench.business.read(entity, keys: keys))
    }
    let coverage = LoadCoverage([LoadCoverage.Part(scope, end)])
    while true {
      if case .done(let summary) = try bench.service.endLoad(ticket, coverage) { return summary }
    }
  }

  private let all = LoadScope(entities: LoadScopeTests.package.entities)

  @Test("A load that did not give every row writes what it gave and deletes nothing")
  func incomplete() throws {
    bench.business.put(Shop.product, [.integer(1), .text("green tea")])
    bench.business.put(Shop.product, [.integer(3), .text("milk")])
    let end = LoadEnd(isComplete: false, isSnapshot: true)
    try load(all, giving: [(Shop.product, [1, 3])], end)
    #expect(try isThere(Shop.product, 2) && isThere(LoadScopeTests.visit, 1))
    #expect(try isThere(Shop.product, 3))
    #expect(try bench.service.nextReadBack() == nil)
    try load(all, giving: [(Shop.product, [1, 3])], .snapshot)
    #expect(try !isThere(Shop.product, 2) && !isThere(LoadScopeTests.visit, 1))
  }

  @Test("Outside of its scope nothing is deleted: another entity, another value of a parameter")
  func scope() throws {
    let north = LoadScope(
      entities: [LoadScopeTests.visit], parameters: ["region": .text("north")])
    try load(north, giving: [], .snapshot)
    #expect(try !isThere(LoadScopeTests.visit, 1), "a visit in the north")
    #expect(try isThere(LoadScopeTests.visit, 2), "a visit in the south")
    #expect(try isThere(Shop.product, 1))
    let products = LoadScope(entities: [Shop.product])
    try load(products, giving: [(Shop.product, [2])], .snapshot)
    #expect(try !isThere(Shop.product, 1))
    #expect(try isThere(LoadScopeTests.visit, 2))
  }

  @Test("Without a snapshot a row is deleted only where it is absent twice: it is read by its key")
  func twice() throws {
    let end = LoadEnd(isComplete: true, isSnapshot: false)
    let visits = (LoadScopeTests.visit, [1, 2] as [Int64])
    bench.business.remove(Shop.product, ObjectKey([.integer(1)]))
    let summary = try load(all, giving: [visits], end)
    #expect(summary.deletedRows == 0)
    #expect(summary.readAgain == 2)
    #expect(try isThere(Shop.product, 1) && isThere(Shop.product, 2))
    try bench.readAgain()
    #expect(try !isThere(Shop.product, 1), "it is not there a second time")
    #expect(try isThere(Shop.product, 2), "it had moved between two pages")
  }
}

/// Gives orders in pages of two, and breaks once.
private final class PagedConnector: Connector {
  final class Line: Sendable {
    private let state = Mutex((places: [String?](), breaks: true))
    var places: [String?] { state.withLock { $0.places } }
    func begin(_ place: LoadPlace?) { state.withLock { $0.places.append(place?.text) } }
    func breaksNow() -> Bool {
      state.withLock { state in
        defer { state.breaks = false }
        return state.breaks
      }
    }
  }

  private let line: Line
  init(_ line: Line) { self.line = line }

  func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }
  func mismatches(with package: Package) -> [Mismatch] { [] }
  func perform(_ group: [ConnectorOperation]) -> PerformResult { .notDone(reason: "not asked") }
  func recall(_ operations: [ConnectorOperation]) -> [Recall] {
    operations.map { _ in .notPerformed }
  }
  func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] { [] }
  func changedByOthers() -> Bool { false }
  func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) -> [UInt8]? { nil }

  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    line.begin(place)
    var start = place.flatMap { Int64($0.text) } ?? 1
    while start <= 6 {
      if start == 5, line.breaksNow() {
        throw ConnectorError("the line broke", hint: "It is tried again.", isTransient: true)
      }
      let rows = [start, start + 1].map {
        RowImage(
          entity: "Order", key: ObjectKey([.integer($0)]), values: Shop.order($0, 1, "Oslo"))
      }
      start += 2
      try each(LoadPage(entity: Shop.order, rows: rows, next: LoadPlace("\(start)")))
    }
    return LoadEnd(isComplete: true, isSnapshot: false)
  }
}

@Suite("A load in pages", .timeLimit(.minutes(60)))
struct LoadPagesTests {
  @Test("A load that is interrupted goes on behind the last page and has every row")
  func interrupted() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-pages-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = World.system()
    let host = try await ServiceHost(world: world) { () throws(ServerError) in
      try Service(package: Shop.package, folder: folder, world: world, synchronous: .normal)
    }
    let line = PagedConnector.Line()
    let loader = LoadHost(
      connector: PagedConnector(line), service: host, package: Shop.package, world: world)
    let running = Task { await loader.run() }
    await loader.loadNow()
    #expect(line.places == [nil, "5"])
    #expect(try await host.orders() == [1, 2, 3, 4, 5, 6])
    await loader.stop()
    await running.value
    await host.stop()
  }
}

extension ServiceHost {
  fileprivate func orders() throws -> [Int64] {
    guard let position = service.rules.position(of: "Order") else { return [] }
    return try (1...9 as ClosedRange<Int64>).filter { number in
      let key = ObjectKey([.integer(number)])
      return try service.cache.row(RowName(position, key)).map { !$0.isDeleted } ?? false
    }
  }
}
