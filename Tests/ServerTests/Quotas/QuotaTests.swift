import FerryModel
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("A device and its user have room for a number of changes", .timeLimit(.minutes(60)))
struct QuotaTests {
  private typealias Made = (id: OperationID, bytes: [UInt8])

  private func audit(
    _ bench: Bench, _ key: Int64, _ what: String = "", chain: OperationID? = nil,
    position: Int = 0, count: Int = 1
  ) -> Made {
    bench.operation(
      Shop.audit, .create, ObjectKey([.integer(key)]),
      changed: [0: .integer(key), 1: .text(what)], chain: chain, position: position, count: count)
  }

  private func bench(_ change: (inout ServiceLimits) -> Void) throws -> Bench {
    var limits = ServiceLimits()
    change(&limits)
    let bench = try Bench(limits: limits)
    try bench.load()
    return bench
  }

  @Test("Devices of one user share the room of the user; another user has their own")
  func user() throws {
    let bench = try bench { $0.unansweredPerUser = 3 }
    let phone = Device(bench, "phone")
    let tablet = Device(bench, "tablet")
    let bob = Device(bench, "bob", bench.identity("bob"))
    let made = (1...5).map { audit(bench, $0) }
    try phone.exchange([made[0].bytes, made[1].bytes])
    #expect(phone.failure == nil)
    try tablet.exchange([made[2].bytes, made[3].bytes])
    #expect(tablet.stored?.ids == [made[2].id])
    #expect(tablet.failure?.code == .tooManyOperations)
    try bob.exchange([made[4].bytes])
    #expect(bob.stored?.ids == [made[4].id])
    try bench.replay()
    try tablet.exchange([made[3].bytes])
    #expect(tablet.stored?.ids == [made[3].id])
  }

  @Test("After a start the room is what is left of it")
  func restarted() throws {
    let bench = try bench { $0.unansweredPerUser = 2 }
    let device = Device(bench)
    let made = (1...3).map { audit(bench, $0) }
    try device.exchange([made[0].bytes, made[1].bytes])
    try bench.restart()
    try device.exchange([made[2].bytes])
    #expect(device.failure?.code == .tooManyOperations)
    #expect(device.stored?.ids == [])
  }

  @Test("A group has room for all of it before its first change is taken, or for none")
  func group() throws {
    let bench = try bench { $0.unansweredPerDevice = 3 }
    let device = Device(bench)
    let chain = try #require(OperationID(bench.newID()))
    let group = (0..<3).map {
      audit(bench, Int64($0 + 1), chain: chain, position: $0, count: 3)
    }
    let alone = audit(bench, 10)
    try device.exchange([group[0].bytes])
    #expect(device.stored?.ids == [group[0].id])
    // The rest of the group has its room already, and nothing else has any.
    try device.exchange([alone.bytes])
    #expect(device.failure?.code == .tooManyOperations)
    #expect(device.stored?.ids == [])
    try device.exchange([group[1].bytes, group[2].bytes])
    #expect(device.stored?.ids == [group[1].id, group[2].id])
    try bench.replay()
    try device.exchange([alone.bytes])
    #expect(device.stored?.ids == [alone.id])
    #expect(device.answers.count == 3)
  }

  @Test("Where a change has no room, those behind it are not taken either")
  func order() throws {
    let bench = try bench { $0.unansweredPerDevice = 2 }
    let device = Device(bench)
    let chain = try #require(OperationID(bench.newID()))
    let group = audit(bench, 1, chain: chain, position: 0, count: 3)
    let alone = audit(bench, 2)
    try device.exchange([group.bytes, alone.bytes])
    #expect(device.stored?.ids == [])
    #expect(device.failure?.code == .tooManyOperations)
  }

  @Test("The bytes of a user's changes are counted too; a group that has begun may end")
  func bytes() throws {
    let bench = try bench { $0.unansweredBytesPerUser = 1_500 }
    let device = Device(bench)
    let text = String(repeating: "x", count: 700)
    let chain = try #require(OperationID(bench.newID()))
    let group = (0..<2).map {
      audit(bench, Int64($0 + 1), text, chain: chain, position: $0, count: 2)
    }
    let alone = audit(bench, 10, text)
    try device.exchange([group[0].bytes])
    try device.exchange([alone.bytes])
    #expect(device.failure?.code == .tooManyOperations)
    try device.exchange([group[1].bytes])
    #expect(device.stored?.ids == [group[1].id])
    try bench.replay()
    try device.exchange([alone.bytes])
    #expect(device.stored?.ids == [alone.id])
  }

  @Test("A group that can never have room is refused, and names its limit")
  func tooLarge() throws {
    let bench = try bench { _ in }
    let device = Device(bench)
    let chain = try #require(OperationID(bench.newID()))
    let text = String(repeating: "x", count: 1_000_000)
    var sent = 0
    var refused: [Answer] = []
    while refused.isEmpty, sent < 100 {
      let members = (sent..<sent + 4).map {
        audit(bench, Int64($0 + 1), text, chain: chain, position: $0, count: 100)
      }
      try device.exchange(members.map(\.bytes))
      refused = device.stored?.refused ?? []
      sent += 4
    }
    #expect(sent == 68)
    let record = try #require(refused.first?.logRecords.first)
    #expect(record.code == 422)
    #expect(record.message.contains(String(WireLimits.chainBytes)))
  }

  /// 12,000 go past the room of a device; `Scripts/check all` makes 50,000.
  private static let changes: Int =
    ProcessInfo.processInfo.environment["FERRY_CHANGES"].flatMap { Int($0) } ?? 12_000

  @Test("Thousands of changes of 30 days without a network all arrive, each once")
  func manyChanges() throws {
    let bench = try bench { _ in }
    let device = Device(bench)
    device.pulls = false
    let count = QuotaTests.changes
    var waiting = (1...count).map { audit(bench, Int64($0)) }[...]
    var wasFull = false
    while !waiting.isEmpty {
      let next = waiting.prefix(WireLimits.operationsInFlight)
      try device.exchange(next.map(\.bytes))
      let stored = Set(device.stored?.ids ?? [])
      waiting = waiting.drop { stored.contains($0.id) }
      guard stored.count < next.count else { continue }
      // The server says when it has no more room; it has again when it has performed some.
      wasFull = true
      try bench.replayAll()
    }
    try bench.replayAll()
    #expect(wasFull)
    #expect(bench.business.performed.count == count)
    #expect(bench.business.performed.values.allSatisfy { $0 == 1 })
  }

  @Test("A change that does not say what it was based on is refused, unless the model allows it")
  func blind() throws {
    let closed = Shop.entity(
      "Note", [("id", .int, false), ("text", .string, true)], key: [0],
      allowsBlindWrites: false)
    let open = Shop.entity("Memo", [("id", .int, false), ("text", .string, true)], key: [0])
    let package = Package(
      name: "shop", version: "1.0", entities: [closed, open],
      groups: [SynchronizationGroup(name: "sales")])
    let bench = try Bench(package)
    for entity in [closed, open] { bench.business.put(entity, [.integer(1), .text("first")]) }
    try bench.load()
    let device = Device(bench)
    let key = ObjectKey([.integer(1)])
    let told = bench.operation(
      closed, .update, key, changed: [1: .text("told")], base: [1: .text("first")])
    let update = bench.operation(closed, .update, key, changed: [1: .text("blind")])
    let delete = bench.operation(closed, .delete, key)
    let allowed = bench.operation(open, .update, key, changed: [1: .text("blind")])
    try device.exchange([told.1, update.1, delete.1, allowed.1])
    #expect(device.stored?.ids == [told.0, allowed.0])
    let refused = try #require(device.stored?.refused)
    #expect(refused.map(\.id) == [update.0, delete.0])
    #expect(refused.allSatisfy { $0.logRecords.first?.code == 422 })
    #expect(refused.allSatisfy { $0.logRecords.first?.message.contains("\"base\"") ?? false })
    try bench.replay()
    #expect(bench.business.rows["Note"]?[key]?[1] == .text("told"))
    #expect(bench.business.rows["Memo"]?[key]?[1] == .text("blind"))
  }
}

extension Bench {
  /// As `replay`, a hundred at a time, as a server does it.
  func replayAll() throws {
    while true {
      let tasks = try service.nextReplays(limit: 100)
      guard !tasks.isEmpty else { return }
      var open = tasks.map { ($0, $0.step) }
      while !open.isEmpty {
        let reports = open.compactMap { task, step in
          answer(step).map { (task: task, report: $0) }
        }
        guard !reports.isEmpty else { break }
        let steps = try service.report(reports)
        open = zip(reports, steps).filter { $1 != .done }.map { ($0.task, $1) }
      }
    }
  }
}
