import FerryConnector
import FerryModel
import FerryStoreConformance
import FerryWire
import FerryWorld
import Synchronization
import Testing

@testable import FerryServer

/// A store that can be told to fail where borders are kept, before or after it has kept them.
private final class SpoiledBorders: StoreDecorator {
  let inner: any Store
  var fails = false
  var answerIsLost = false

  init(_ inner: any Store) { self.inner = inner }

  func numbered<Result>(
    _ body: (NumberedTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let result = try inner.numbered(body)
    if answerIsLost { throw StoreError(.other, "the answer is lost", isTransient: true) }
    return result
  }

  func keep(_ borders: [WindowBorder], _ transaction: NumberedTransaction) throws(StoreError) {
    if fails { throw StoreError(.full, "the disk is full") }
    try inner.keep(borders, transaction)
  }
}

@Suite("Loads and stores beside a window that moves") struct WindowLoadTests {
  @Test("A move that fails moves nothing, is told once, and is done when it can be")
  func fails() throws {
    var spoiled: SpoiledBorders?
    let window = try WindowBench { store in
      let made = SpoiledBorders(store)
      spoiled = made
      return made
    }
    window.put((1, 1, "2023-11-12"), (2, 1, "2023-11-18"))
    try window.bench.load()
    let anna = window.device()
    #expect(try window.names(anna) == ["Visit 1"])
    let store = try #require(spoiled)
    store.fails = true
    window.pass(days: 1)
    window.bench.service.moveWindows()
    #expect(try window.names(anna) == ["Visit 1"])
    func errors() -> Int {
      window.bench.log.lines.count { $0.hasPrefix("error the windows of partition rules") }
    }
    #expect(errors() == 1)
    store.fails = false
    window.bench.service.moveWindows()
    #expect(try window.names(anna) == ["Visit 2"])
    store.answerIsLost = true
    window.pass(days: 5)
    store.answerIsLost = false
    #expect(errors() == 2)
    window.put((3, 1, "2023-11-18"), (4, 1, "2023-11-23"))
    try window.bench.load()
    #expect(try window.names(anna) == ["Visit 2", "Visit 3", "Visit 4"])
    window.bench.service.moveWindows()
    window.pass(days: 1)
    #expect(try window.names(anna) == ["Visit 4"])
  }

  @Test("A window that moves within a first load places what came before and after")
  func firstLoad() throws {
    let window = try WindowBench()
    let bench = window.bench
    window.put((1, 1, "2023-11-12"), (2, 1, "2023-11-18"))
    bench.business.put(Visits.task, Visits.task(1, 1))
    bench.business.put(Visits.task, Visits.task(2, 2))
    let ticket = try bench.service.beginLoad()
    let half = bench.business.images(Visits.visit)
    try bench.service.stage(ticket, Visits.visit, Array(half.prefix(1)))
    try bench.service.stage(ticket, Visits.task, bench.business.images(Visits.task))
    window.pass(days: 1)
    try bench.service.stage(ticket, Visits.visit, Array(half.dropFirst()))
    try bench.end(ticket)
    #expect(try window.names(window.device()) == ["Task 2", "Visit 2"])
  }

  @Test("A load of a part of the rows deletes what it does not give, out of the window too")
  func part() throws {
    let visit = Entity(
      name: "Visit", table: "Visit", attributes: Visits.visit.attributes, key: [0], keyOrigin: .app,
      relationships: [], operations: [],
      partition: .columns([
        PartitionColumn(attribute: "employee", source: .parameter("employee", within: nil))
      ]), group: "sales", window: Visits.window)
    let bench = try Bench(
      Package(
        name: "visits", version: "1.0", entities: [visit, Visits.task],
        groups: [SynchronizationGroup(name: "sales")],
        parameters: [Parameter(name: "employee", type: .int)]))
    for (id, employee) in [(1, 1), (2, 1), (3, 2), (4, 2)] as [(Int64, Int64)] {
      let day = id % 2 == 0 ? "2023-12-24" : "2023-11-14"
      bench.business.put(visit, Visits.visit(id, employee, day))
      bench.business.put(Visits.task, Visits.task(id, id))
    }
    try bench.load()
    let ticket = try bench.service.beginLoad()
    let scope = LoadScope(
      entities: [visit, Visits.task], parameters: ["employee": .integer(1)])
    while case .again = try bench.service.endLoad(
      ticket, LoadCoverage([LoadCoverage.Part(scope, .snapshot)]))
    {}
    for (position, entity) in [visit, Visits.task].enumerated() {
      for id in 1...4 as ClosedRange<Int64> {
        let row = try bench.service.cache.row(RowName(position, ObjectKey([.integer(id)])))
        #expect(row?.isDeleted == (id < 3), "\(entity.name) \(id)")
      }
    }
  }

  /// What devices would have, by the business system's rows and the days alone.
  private func expected(
    _ business: Business, _ days: ClosedRange<Int64>, employee: Int64
  ) -> [String] {
    func isIn(_ row: [AttributeValue]) -> Bool {
      row[1] == .integer(employee) && PartitionWindow.day(of: row[2]).map(days.contains) == true
    }
    let visits = (business.rows["Visit"] ?? [:]).values.filter(isIn).map { $0[0] }
    let tasks = (business.rows["Task"] ?? [:]).values.filter { visits.contains($0[1]) }
    return (visits.map { "Visit \($0.shown)" } + tasks.map { "Task \($0[0].shown)" }).sorted()
  }

  @Test(
    "Whatever comes and goes, each device has the rows of its user and of the window's days",
    arguments: 1...12)
  func histories(seed: UInt64) throws {
    let window = try WindowBench()
    let (bench, chance) = (window.bench, SeededChance(seed))
    try bench.load()
    func number(_ limit: Int64) -> Int64 { chance.number(in: 1..<(limit + 1)) }
    let devices = [
      window.device(), window.device("bob", employees: [2]), window.device("eve", employees: []),
    ]
    // 14 November 2023.
    var highest: Int64 = 19_675
    for step in 1...60 {
      let id = number(5)
      switch number(6) {
      case 1, 2:
        let day = LocalDate(daysSince1970: highest + number(12) - 6).map(\.description)
        window.put((id, number(2), number(8) == 1 ? nil : day))
      case 3: bench.business.put(Visits.task, Visits.task(number(8), number(6)))
      case 4: bench.business.remove(Visits.visit, ObjectKey([.integer(id)]))
      default: window.pass(days: number(10) == 1 ? -number(4) : number(3) - 1)
      }
      if number(10) == 1 { try bench.restart() }
      let now = bench.clock.now.milliseconds - 3 * 3_600_000
      highest = max(highest, Timestamp(milliseconds: now).day)
      bench.service.moveWindows()
      try bench.load()
      for (device, employee) in zip(devices, [1, 2, 3] as [Int64]) {
        let wanted = expected(bench.business, highest - 2...highest + 3, employee: employee)
        let found = try window.names(device)
        #expect(found == wanted, "seed \(seed), step \(step), employee \(employee)")
        guard found == wanted else { return }
      }
    }
  }
}
