import Ferry
import FerryInspection
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import Ferry

/// `Scripts/check pending` runs it with 100,000 and prints what so many cost; without `FERRY_PENDING`
/// there are few, so that the quick tests stay quick.
@Suite("Very many pending operations")
struct ManyPendingTests {
  private let count =
    ProcessInfo.processInfo.environment["FERRY_PENDING"].flatMap { Int($0) } ?? 2_000

  private func timed<Result>(_ name: String, _ body: () throws -> Result) rethrows -> Result {
    let clock = SystemClock()
    let result = try body()
    let seconds = clock.uptime / .seconds(1)
    print("\(count) pending: \(name) \((seconds * 1_000).rounded() / 1_000) s")
    return result
  }

  private func residentBytes() throws -> Int {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(
      separator: " ")
    return (Int(pages[1]) ?? 0) * 4_096
  }

  @Test(
    "are saved, counted, listed page by page and sent a thousand at a time; none is lost by a restart"
  )
  func many() throws {
    let shop = try Stocked()
    let store = shop.device.store
    let before = try residentBytes()
    try timed("created and saved") {
      for first in stride(from: 0, to: count, by: 1_000) {
        try store.write { connection throws(FerryError) in
          for number in first..<min(count, first + 1_000) {
            var record = ObjectRecord(Order.entity, store: store)
            record.set(1, "ALFKI")
            record.set(2, "city \(number)")
            _ = try PendingStore.save(try record.change(.create), in: store)
          }
        }
      }
    }
    #expect(
      try timed("counted") { try PendingObjects(store).count(Order.entity, nil, .all) } == count)
    let (page, statements) = try timed("a page of 100 from the middle") {
      try store.write { connection throws(FerryError) in
        let start = connection.executions
        let page = try PendingObjects(store).all(
          Order.entity, nil, .all, skip: count / 2, take: 100)
        return (page.count, connection.executions - start)
      }
    }
    #expect(page == 100 && statements < 110, "\(statements) statements")
    try timed("submitted") { try Outbox(store).submitAll(Order.entity) }
    let request = try timed("the first message made") { try shop.device.request() }
    var sent = 0
    for frame in try FrameReader.frames(of: #require(request).body) {
      if case .replay(let replay) = try Message(frame) { sent += replay.operations.count }
    }
    #expect(sent == min(count, WireLimits.operationsInFlight))
    try timed("looked for something to do, 100 times") {
      for _ in 0..<100 { _ = try shop.device.session.facts() }
    }
    let inspection = try timed("inspected") {
      try DeviceFile(path: shop.device.path).inspection(limit: 200)
    }
    #expect(inspection.operationCount == Int64(count) && inspection.operations.count == 200)
    try timed("sent, \(WireLimits.operationsInFlight) in a message") {
      try shop.device.take(try shop.shore.respond(to: #require(request).body))
      for _ in 0..<count / WireLimits.operationsInFlight { try shop.device.exchange(shop.shore) }
    }
    let cities = Set(shop.shore.stored.values.compactMap { $0.changed[2] })
    #expect(shop.shore.stored.count == count && cities.count == count)
    #expect(try PendingObjects(store).count(Order.entity, nil, .replaying) == count)
    try timed("opened again") { try shop.device.restart() }
    let again = shop.device.store
    #expect(try PendingObjects(again).count(Order.entity, nil, .replaying) == count)
    try timed("all cancelled") { try Outbox(again).cancelAll(Order.entity) }
    #expect(try PendingObjects(again).count(Order.entity, nil, .all) == 0)
    #expect(try shop.device.orders().allSatisfy { !$0.isPending })
    let grown = (try residentBytes() - before) >> 20
    print("\(count) pending: \(grown) MB more in memory")
  }
}
