import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Foundation
import Testing

@testable import Ferry

@Suite("Logs of the device")
struct DeviceLogTests {
  @Test(
    "The change log tells what became last of each object, from on to off", .reference("facts/1.11")
  )
  func changeLog() throws {
    let depot = try Depot()
    let database = depot.database
    try depot.maker(1, "Ada", nil)
    #expect(try database.getChangeLogs() == [])
    try database.enableChangeLog()
    try database.enableChangeLog()
    var nail = try depot.article(7, "Nail")
    try depot.article(8, "Screw")
    nail.name = "Bolt"
    try nail.save()
    var log = try database.getChangeLogs()
    #expect(log.map(\.surrogateKey) == [2, 1] && log.map(\.operation) == [.upsert, .upsert])
    #expect(log.allSatisfy { $0.rootEntity == "Article" && $0.rootSurrogateKey == $0.surrogateKey })
    let last = try #require(log.last).number
    try nail.delete()
    log = try database.getChangeLogs(of: "Article", after: last)
    #expect(log.map(\.operation) == [.delete])
    #expect(try database.getChangeLogs(of: "Maker") == [])
    try database.deleteChangeLogs(through: last)
    #expect(try database.getChangeLogs().map(\.operation) == [.delete])
    try? database.transaction { () throws(FerryError) in
      var screw = try Article.findAll(in: database)[0]
      try screw.delete()
      throw FerryError(.cancelled, "no", hint: "no")
    }
    #expect(try database.getChangeLogs().count == 1)
    try database.disableChangeLog()
    try depot.article(9, "Saw")
    #expect(try database.getChangeLogs().count == 1)
    try database.deleteChangeLogs()
    #expect(try database.getChangeLogs() == [])
  }

  @Test(
    "Who has read the changes of one entity forgets those, and no others", .reference("facts/1.11"))
  func changesOfOne() throws {
    let depot = try Depot()
    let database = depot.database
    try database.enableChangeLog()
    try depot.maker(1, "Ada", nil)
    try depot.article(7, "Nail")
    try depot.maker(2, "Bo", nil)
    try depot.article(8, "Screw")
    let last = try #require(try database.getChangeLogs(of: "Article", take: 1).last).number
    try database.deleteChangeLogs(of: "Article", through: last)
    #expect(try database.getChangeLogs().map(\.entity) == ["Maker", "Maker", "Article"])
    try database.deleteChangeLogs(of: "Maker")
    #expect(try database.getChangeLogs().map(\.entity) == ["Article"])
  }

  @Test("A change log that is on stays on with a newer model")
  func newerModel() async throws {
    let depot = try Depot(model: Warehouse.package(searched: []))
    try depot.database.enableChangeLog()
    await depot.database.close()
    let store = try Store(
      path: depot.path, model: Warehouse.package(searched: ["name"]), world: .system(),
      durability: .application)
    let isOn = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in try ChangeLogTable.isEnabled(connection) }
    }
    #expect(isOn)
  }

  @Test(
    "Log records are found by what they say, and forgotten", .reference("sync/P17", "facts/1.4"))
  func logRecords() throws {
    let shore = Shore(Shop.package)
    let device = try Device().loggedIn()
    shore.put(Order.entity, [.integer(1), .text("ALFKI"), .text("Bremen"), .null])
    shore.put(Order.entity, [.integer(2), .text("BONAP"), .text("Bremen"), .null])
    try device.exchange(shore)
    for id in [Int64(1), 2] {
      var order = try #require(try device.order(id))
      order.city = "Kiel"
      try order.save()
      try order.submitPending()
    }
    try device.exchange(shore)
    for (number, operation) in try device.operations().enumerated() {
      shore.refuse(operation.id, code: number == 0 ? 412 : 500, "no \(number)")
    }
    try device.exchange(shore)
    let find = { (query: LogRecordQuery) in try LogRecords(device.store).of(query).map(\.message) }
    #expect(try find(LogRecordQuery()) == ["no 0", "no 1"])
    #expect(try find(LogRecordQuery(code: 412)) == ["no 0"])
    #expect(try find(LogRecordQuery(component: "Order", entityKey: "2")) == ["no 1"])
    #expect(try find(LogRecordQuery(component: "Line")) == [])
    #expect(try find(LogRecordQuery(atLeast: .error, skip: 1)) == ["no 1"])
    #expect(try find(LogRecordQuery(atLeast: .fatal)) == [])
    #expect(try find(LogRecordQuery(since: 1, before: 2)) == ["no 0", "no 1"])
    #expect(try find(LogRecordQuery(since: 2)) == [])
    try LogRecords(device.store).delete(LogRecordQuery(code: 412))
    #expect(try find(LogRecordQuery()) == ["no 1"])
    #expect(try device.order(1)?.replayFailed == true)
  }

  @Test(
    "The records of one submit are found by its id, and all are forgotten",
    .reference("sync/P6", "facts/1.4"))
  func ofOneSubmit() throws {
    let shop = try Stocked()
    let database = FerryDatabase(
      shop.device.store, ConnectionProfile(server: "http://shop"), nil, SilentTransport(),
      .system())
    for id in [Int64(1), 2] {
      var order = try #require(try shop.device.order(id))
      order.city = "Kiel"
      try order.save()
      try order.submitPending()
    }
    try shop.device.exchange(shop.shore)
    let submitted = try shop.device.operations().map(\.id)
    for (number, id) in submitted.enumerated() { shop.shore.refuse(id, "no \(number)") }
    try shop.device.exchange(shop.shore)
    #expect(try database.logRecords().map(\.message) == ["no 0", "no 1"])
    for (number, id) in submitted.enumerated() {
      let records = try database.logRecords(LogRecordQuery(requestID: id))
      #expect(records.map(\.message) == ["no \(number)"] && records.map(\.requestID) == [id])
    }
    let unknown = try #require(OperationID(String(repeating: "0", count: 32)))
    #expect(try database.logRecords(LogRecordQuery(requestID: unknown)) == [])
    try database.deleteLogRecords(LogRecordQuery(requestID: submitted[0]))
    #expect(try database.logRecords().map(\.message) == ["no 1"])
    try database.deleteLogRecords()
    #expect(try database.logRecords() == [])
    #expect(try shop.device.orders().filter(\.replayFailed).count == 2, "the marks stay")
    #expect(try shop.device.operations().count == 2, "and so does what is pending")
  }
}
