import FerryConnector
import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// On the first day of the bench the window is from 12 to 17 November.
@Suite("A window of days in a partition rule") struct WindowTests {
  private func filled() throws -> WindowBench {
    let window = try WindowBench()
    window.put(
      (1, 1, "2023-11-11"), (2, 1, "2023-11-12"), (3, 1, "2023-11-17"), (4, 1, "2023-11-18"),
      (5, 2, "2023-11-14"), (6, 1, nil))
    for id in 1...6 as ClosedRange<Int64> {
      window.bench.business.put(Visits.task, Visits.task(id, id))
    }
    try window.bench.load()
    return window
  }

  @Test("A device has the rows of the window's days, the last one too, and what belongs to them")
  func placed() throws {
    let window = try filled()
    let anna = window.device()
    #expect(try window.names(anna) == ["Task 2", "Task 3", "Visit 2", "Visit 3"])
    let bob = window.device("bob", employees: [2])
    #expect(try window.names(bob) == ["Task 5", "Visit 5"])
    window.put((7, 1, "2023-11-13"), (8, 1, "2023-11-19"))
    try window.bench.load()
    #expect(try window.names(anna) == ["Task 2", "Task 3", "Visit 2", "Visit 3", "Visit 7"])
  }

  @Test("At the hour rows leave and others come, with all that belongs to them, in one number")
  func moved() throws {
    let window = try filled()
    let (anna, bob) = (window.device(), window.device("bob", employees: [2]))
    _ = try (window.names(anna), window.names(bob))
    let before = try window.bench.service.clock()
    window.bench.clock.advance(4 * 3_600)
    window.bench.service.moveWindows()
    #expect(try window.bench.service.clock() == before, "02:13")
    window.pass(days: 0)
    #expect(try window.bench.service.clock() == before + 1)
    #expect(try window.names(anna) == ["Task 3", "Task 4", "Visit 3", "Visit 4"])
    #expect(try window.names(bob) == ["Task 5", "Visit 5"])
    window.bench.service.moveWindows()
    #expect(try window.bench.service.clock() == before + 1, "the same hour again")
    window.pass(days: 2)
    #expect(try window.names(anna) == ["Task 3", "Task 4", "Visit 3", "Visit 4"])
    #expect(try window.names(bob) == [], "14 November is over")
    #expect(
      window.bench.log.lines.filter { $0 == "info a window was moved" }.count == 6,
      "two windows, three times")
  }

  @Test("An open channel gets the rows of the new day when the hour comes")
  func channel() throws {
    let window = try filled()
    window.bench.clock.advance(17_100)
    let anna = window.device()
    let channel = window.bench.service.channel(
      anna.body(), by: anna.identity, until: anna.identity.expires)
    #expect(try anna.drain(channel) == false)
    #expect(anna.rows.count == 4)
    window.bench.service.moveWindows()
    #expect(try anna.drain(channel) == false && anna.rows.count == 4, "02:58:20")
    window.bench.clock.advance(100)
    window.bench.service.moveWindows()
    #expect(try anna.drain(channel) == false)
    #expect(
      anna.rows.keys.map { "\($0.entity) \($0.key.text)" }.sorted()
        == ["Task 3", "Task 4", "Visit 3", "Visit 4"])
  }

  @Test("A clock that is set back moves no window back, and rows are placed by what is stored")
  func setBack() throws {
    let window = try filled()
    let anna = window.device()
    window.pass(days: 1)
    #expect(try window.names(anna) == ["Task 3", "Task 4", "Visit 3", "Visit 4"])
    window.bench.clock.advance(-3 * WindowBench.day)
    window.bench.service.moveWindows()
    window.put((7, 1, "2023-11-12"), (8, 1, "2023-11-18"))
    try window.bench.load()
    let all = ["Task 3", "Task 4", "Visit 3", "Visit 4", "Visit 8"]
    #expect(try window.names(anna) == all)
    try window.bench.restart()
    #expect(try window.names(anna) == all, "after a restart")
    window.pass(days: 3)
    #expect(try window.names(anna) == all, "the clock is where it was")
    window.pass(days: 1)
    #expect(try window.names(anna) == all, "14 November left; 19 November came")
  }

  @Test("A clock that was a year ahead and is set right brings the rows of today back")
  func repaired() throws {
    let window = try filled()
    let anna = window.device()
    let all = try window.names(anna)
    #expect(!all.isEmpty)
    window.bench.clock.advance(365 * WindowBench.day)
    window.bench.service.moveWindows()
    #expect(try window.names(anna) == [])
    window.bench.clock.advance(-365 * WindowBench.day)
    window.bench.service.moveWindows()
    #expect(try window.names(anna) == all)
    #expect(window.bench.log.lines.filter { $0.contains("the clock had been ahead") }.count > 0)
  }

  @Test("A server that was off for days moves its windows at the start")
  func off() throws {
    let window = try filled()
    let anna = window.device()
    _ = try window.names(anna)
    window.bench.stop()
    window.bench.clock.advance(5 * WindowBench.day)
    _ = try window.bench.start()
    #expect(try window.names(anna) == ["Task 3", "Task 4", "Visit 3", "Visit 4"])
    window.bench.stop()
    window.bench.clock.advance(400 * WindowBench.day)
    _ = try window.bench.start()
    #expect(try window.names(anna) == [])
  }

  @Test("A row whose day changes enters, leaves, and takes its children along")
  func changed() throws {
    let window = try filled()
    let anna = window.device()
    _ = try window.names(anna)
    window.put((4, 1, "2023-11-15"), (2, 1, "2023-12-24"))
    try window.bench.load()
    #expect(try window.names(anna) == ["Task 3", "Task 4", "Visit 3", "Visit 4"])
    for _ in 0..<45 { window.pass(days: 1) }
    #expect(try window.names(anna) == [], "29 December: no visit")
    window.put((2, 1, "2023-12-28"))
    try window.bench.load()
    #expect(try window.names(anna) == ["Task 2", "Visit 2"])
    window.put((2, 1, nil))
    try window.bench.load()
    #expect(try window.names(anna) == [])
  }

  @Test("Days of a date and time count as those of a date, and rows without partition rule too")
  func moments() throws {
    let window = try WindowBench()
    window.bench.business.put(Visits.news, Visits.news(1, "2023-11-11T23:59:59"))
    window.bench.business.put(Visits.news, Visits.news(2, "2023-11-12T00:00:00"))
    window.bench.business.put(Visits.news, Visits.news(3, "2023-11-17T23:59:59.999"))
    window.bench.business.put(Visits.news, Visits.news(4, "2023-11-18T00:00:00"))
    try window.bench.load()
    let anna = window.device()
    #expect(try window.names(anna) == ["News 2", "News 3"])
    window.pass(days: 1)
    #expect(try window.names(anna) == ["News 3", "News 4"])
    let answer = try window.answer(anna, Visits.news, .update, 2, [1: .text("2023-11-16T08:00:00")])
    #expect(answer?.code == 403, "everybody's rows are nobody's on other days")
  }

  @Test("A change of a row out of the window is refused as that of somebody else's row is")
  func refused() throws {
    let window = try filled()
    let anna = window.device()
    _ = try window.names(anna)
    func code(_ key: Int64, _ changed: [Int: AttributeValue]) throws -> (Int64?, String?) {
      let answer = try window.answer(anna, Visits.visit, .update, key, changed)
      return (answer?.code, answer?.logRecords.first?.message)
    }
    let foreign = try code(5, [2: .text("2023-11-15")])
    #expect(foreign.0 == 403)
    #expect(try code(4, [2: .text("2023-11-15")]) == foreign, "it is not in the window")
    #expect(try code(77, [2: .text("2023-11-15")]) == foreign, "there is none")
    #expect(try code(2, [2: .text("2023-11-18")]) == foreign, "it would leave the window")
    #expect(try code(2, [2: .null]) == foreign)
    #expect(try code(2, [2: .text("2023-11-17")]).0 == nil, "it stays in the window")
    #expect(try window.answer(anna, Visits.visit, .delete, 4)?.code == 403)
    let new: [Int: AttributeValue] = [0: .integer(9), 1: .integer(1), 2: .text("2023-11-18")]
    #expect(try window.answer(anna, Visits.visit, .create, 9, new)?.code == 403)
    let task = try window.answer(anna, Visits.task, .update, 4, [2: .text("x")])
    #expect(task?.code == 403, "its visit is not in the window")
    let other = try window.answer(
      anna, Visits.task, .create, 19, [0: .integer(19), 1: .integer(4), 2: .text("x")])
    #expect(other?.code == 403)
    #expect(
      window.bench.business.rows["Visit"]?[ObjectKey([.integer(4)])]
        == Visits.visit(4, 1, "2023-11-18"))
  }

  @Test("A group that makes a row out of the window and a child of it is refused as a whole")
  func group() throws {
    let window = try filled()
    let bench = window.bench
    let anna = window.device()
    _ = try window.names(anna)
    for (day, code) in [("2023-11-18", 403), ("2023-11-17", nil)] as [(String, Int64?)] {
      let chain = OperationID(bench.newID())!
      let group = [
        bench.operation(
          Visits.visit, .create, ObjectKey([.integer(9)]),
          changed: [0: .integer(9), 1: .integer(1), 2: .text(day)], chain: chain, count: 2),
        bench.operation(
          Visits.task, .create, ObjectKey([.integer(9)]),
          changed: [0: .integer(9), 1: .integer(9), 2: .text("x")], chain: chain, position: 1,
          count: 2),
      ]
      anna.open = group.map(\.0)
      try anna.exchange(group.map(\.1))
      try bench.replay()
      try anna.exchange()
      #expect(anna.answers[group[0].0]?.code == code, "\(day)")
      #expect((bench.business.rows["Task"]?[ObjectKey([.integer(9)])] == nil) == (code != nil))
    }
  }

  @Test("A change that waits is judged by the window of the moment in which it is performed")
  func waiting() throws {
    let window = try filled()
    let anna = window.device()
    _ = try window.names(anna)
    let (id, bytes) = window.bench.operation(
      Visits.visit, .update, ObjectKey([.integer(2)]), changed: [2: .text("2023-11-16")])
    anna.open = [id]
    try anna.exchange([bytes])
    window.pass(days: 1)
    try window.bench.replay()
    _ = try window.names(anna)
    #expect(anna.answers[id]?.code == 403)
  }

  @Test("The business transaction judges by the window too: the row may have got another day")
  func judged() throws {
    let window = try filled()
    let anna = window.device()
    _ = try window.names(anna)
    window.put((2, 1, "2023-12-24"))
    let answer = try window.answer(anna, Visits.visit, .update, 2, [1: .integer(1)])
    #expect(answer?.code == 403)
    #expect(
      window.bench.business.rows["Visit"]?[ObjectKey([.integer(2)])]
        == Visits.visit(2, 1, "2023-12-24"))
  }

  @Test("Nobody may refer to a row out of the window, as to a row of somebody else")
  func referred() throws {
    let window = try filled()
    let anna = window.device()
    _ = try window.names(anna)
    func code(_ visit: Int64) throws -> Int64? {
      try window.answer(anna, Visits.task, .update, 2, [1: .integer(visit)])?.code
    }
    #expect(try (code(4), code(5), code(3)) == (403, 403, nil))
  }

  @Test("Nobody may refer to everybody's row of another day")
  func referredForEveryone() throws {
    let note = Shop.entity(
      "Note", [("id", .int, false), ("news", .int, true)], key: [0],
      relationships: [
        Relationship(
          name: "news", target: "News", attributes: ["news"], targetAttributes: ["id"])
      ])
    let bench = try Bench(
      Package(
        name: "notes", version: "1.0", entities: [Visits.news, note],
        groups: [SynchronizationGroup(name: "sales")]))
    bench.business.put(Visits.news, Visits.news(1, "2023-11-12T08:00:00"))
    bench.business.put(Visits.news, Visits.news(2, "2023-11-18T08:00:00"))
    bench.business.put(note, [.integer(1), .null])
    try bench.load()
    let device = try Device(bench).exchange()
    #expect(device.rows.count == 2)
    for (news, code) in [(2, 403), (1, nil)] as [(Int64, Int?)] {
      let (id, bytes) = bench.operation(
        note, .update, ObjectKey([.integer(1)]), changed: [1: .integer(news)])
      device.open = [id]
      try device.exchange([bytes])
      try bench.replay()
      try device.exchange()
      #expect(device.answers[id]?.code == code.map(Int64.init), "news \(news)")
    }
  }

  @Test("Why a row is on no device names the window and its days")
  func why() throws {
    let window = try filled()
    func verdict(_ entity: String, _ key: String) throws -> String {
      let one = try window.bench.service.why(entity, key).verdict
      let two = try #require(
        try Explanation.read(folder: window.bench.folder, entity: entity, key: key).first)
      #expect(one == two.verdict)
      return one
    }
    #expect(
      try verdict("Visit", "4")
        == "The row is left out by the window of Visit.day: 2023-11-18 is not from 2023-11-12 to "
        + "2023-11-17.")
    #expect(
      try verdict("Visit", "6")
        == "The row is left out by the window of Visit.day: it has no day there.")
    #expect(try verdict("Task", "4").hasSuffix("its parent is missing, or left out by a window."))
    #expect(
      try verdict("Visit", "2") == "Devices whose user has [1] for claim:employee have the row.")
  }

  @Test("A time zone that the machine does not have is refused with its name")
  func zone() throws {
    let visit = Entity(
      name: "Visit", table: "Visit", attributes: Visits.visit.attributes, key: [0], keyOrigin: .app,
      relationships: [], operations: [], partition: nil, group: "sales",
      window: PartitionWindow(attribute: "day", from: -1, to: 1, zone: "Mars/Base"))
    let package = Package(
      name: "visits", version: "1.0", entities: [visit],
      groups: [SynchronizationGroup(name: "sales")])
    let error = #expect(throws: ServerError.self) { try PartitionRules(package) }
    #expect(error?.code == .badModel && error?.message.contains("Mars/Base") == true)
  }
}
