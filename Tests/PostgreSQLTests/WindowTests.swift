import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLStore
import FerryWire
import Testing

@testable import FerryServer
@testable import FerryStoreConformance

@Suite("A window of days on a store in PostgreSQL")
struct WindowTests {
  private static let visit = Entity(
    name: "Visit", table: "Visit",
    attributes: [
      Attribute(name: "id", column: "id", type: .int, isNullable: false),
      Attribute(name: "day", column: "day", type: .date, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [], partition: nil, group: "all",
    window: PartitionWindow(attribute: "day", from: -1, to: 1))
  private static let package = Package(
    name: "visits", version: "1.0", entities: [visit], groups: [SynchronizationGroup(name: "all")])
  /// 2 October 2096, the first day of the stage's clock.
  private static let day: Int64 = 46_296

  private let database: StoreDatabase

  init() throws { database = try StoreDatabase() }

  /// A node that leads from now on.
  private func lead() throws -> Service {
    let lease = try database.lead(WindowTests.package)
    return try Service(package: WindowTests.package, world: database.world) {
      package throws(ServerError) in
      try PostgreSQLStore(
        database.address, package: package, world: database.world, lease: lease.term)
    }
  }

  private func follow() throws -> PostgreSQLStore {
    try PostgreSQLStore(
      database.address, package: WindowTests.package, world: database.world, lease: nil)
  }

  private func load(_ service: Service, _ days: [Int64]) throws {
    let ticket = try service.beginLoad()
    let rows = days.enumerated().map { index, day in
      let key = ObjectKey([.integer(Int64(index))])
      let date = LocalDate(daysSince1970: day)?.description ?? ""
      return RowImage(
        entity: "Visit", key: key, values: [.integer(Int64(index)), .text(date)])
    }
    try service.stage(ticket, WindowTests.visit, rows)
    while case .again = try service.endLoad(ticket) {}
  }

  /// The numbers of the visits that devices have, as this store shows them.
  private func shown(_ store: any Store) throws -> [String] {
    let place = Place(group: "all", rule: "", values: "")
    guard let partition = try store.partition(at: place) else { return [] }
    return try store.snapshot { view throws(StoreError) in
      try view.rows(of: 0, in: partition, after: nil, count: 99).map(\.key.text).sorted()
    }
  }

  @Test("Rows leave and others come at the hour; the next leader goes on from what is stored")
  func moves() throws {
    let day = WindowTests.day
    let first = try lead()
    try load(first, [day - 2, day - 1, day, day + 1, day + 2])
    let node = try follow()
    #expect(try shown(node) == ["1", "2", "3"])
    let clock = try first.clock()
    database.advance(days: 1)
    first.moveWindows()
    #expect(try first.clock() == clock + 1)
    #expect(try shown(node) == ["2", "3", "4"])
    #expect(
      try node.borders() == [
        WindowBorder(entity: "Visit", attribute: "day", position: 1, days: day...day + 2)
      ])
    #expect(try first.why("Visit", "1").verdict.contains("left out by the window of Visit.day"))
    // A node that follows moves nothing.
    let follower = try Service(
      package: WindowTests.package, world: database.world, store: { _ in node })
    database.advance(days: 1)
    follower.moveWindows()
    #expect(try shown(node) == ["2", "3", "4"])
    database.advance(days: -3)
    let second = try lead()
    #expect(try shown(node) == ["2", "3", "4"], "the clock of the second leader is behind")
    try load(second, [day - 2, day - 1, day, day + 2, day + 3])
    #expect(try shown(node) == ["2", "3"])
    database.advance(days: 3)
    // A leader of before moves nothing either.
    first.moveWindows()
    #expect(try shown(node) == ["2", "3"])
    second.moveWindows()
    #expect(try shown(node) == ["3", "4"])
  }
}
