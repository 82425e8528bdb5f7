import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Synchronization
import Testing

@testable import Ferry

/// Downloads of more pages than are in memory at one time.
@Suite("An import of many pages")
struct PagesAheadTests {
  private let device: Device
  private let shore = Shore(Shop.package)

  init() throws {
    device = try Device().loggedIn()
    shore.pageRows = 2
    for id in 1...20 { put(Int64(id), "Bremen") }
  }

  private func put(_ id: Int64, _ city: String) {
    shore.put(Order.entity, [.integer(id), .text("ALFKI"), .text(city), .null])
  }

  /// Takes all that the shore has but its last words, the checkpoint.
  private func download() throws -> (SessionRequest, checkpoint: Message) {
    let request = try #require(try device.request())
    var messages = try shore.respond(to: request.body)
    let checkpoint = messages.removeLast()
    device.session.received(status: 200, on: request.lane)
    for message in messages {
      try device.session.received(message.frame.encoded(), on: request.lane)
    }
    return (request, checkpoint)
  }

  private func sql(_ text: String) throws -> Int64? {
    try device.store.write { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in try connection.value(text)?.integer }
    }
  }

  @Test("Pages are imported in the order in which they came")
  func order() throws {
    let (request, _) = try download()
    // The same objects again, and one of them gone, in later pages of the same import.
    for id in 1...20 { put(Int64(id), "Kiel") }
    shore.remove(Order.entity, ObjectKey([.integer(7)]))
    try device.session.ended(request.lane, nil)
    try device.exchange(shore)
    #expect(try sql("SELECT count(*) FROM ferry_page") == 0)
    #expect(try device.orders().map(\.id) == Array(1...6) + Array(8...20))
    #expect(try device.orders().allSatisfy { $0.city == "Kiel" })
    #expect(device.handler.heard.contains("import Order +20 ~19 -1"))
  }

  @Test("A page that was damaged on the disk stops the import, and nothing of it is seen")
  func damaged() throws {
    let (request, checkpoint) = try download()
    #expect(try sql("SELECT count(*) FROM ferry_page") == 10)
    _ = try sql("UPDATE ferry_page SET bytes = substr(bytes, 1, 40) WHERE number = 6")
    let error = #expect(throws: FerryError.self) {
      try device.take([checkpoint], on: request.lane)
    }
    #expect(error?.code == .protocolViolation)
    #expect(error?.message.hasPrefix("a page cannot be imported") == true)
    #expect(try device.orders().isEmpty)
    #expect(try sql("SELECT count(*) FROM ferry_page") == 0, "they are asked for again")
    #expect(try sql("SELECT sum(count) FROM ferry_partition") == 0)
    try device.exchange(shore)
    #expect(try device.orders().count == 20)
  }

  @Test("A row that the model does not know stops the import in whichever page it stands")
  func senseless() throws {
    let (request, checkpoint) = try download()
    let json =
      #"{"partition":1,"from":[0,0],"to":[7,1],"at":7,"count":1,"sets":["#
      + #"{"entity":"Order","columns":["id","customer","city","freight"],"#
      + #""rows":[["one","ALFKI",null,null]],"left":[]}]}"#
    let page = try RowsPage(json: Array(json.utf8))
    let bytes = Message.rows(page).frame.encoded()
    try device.store.write { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try connection.run("UPDATE ferry_page SET bytes = ? WHERE number = 10", .blob(bytes))
      }
    }
    let error = #expect(throws: FerryError.self) {
      try device.take([checkpoint], on: request.lane)
    }
    #expect(error?.message.hasPrefix("a page of the partition 1 cannot be read") == true)
    #expect(try device.orders().isEmpty)
  }

  @Test(
    "An import that is cut off is done again from the pages that came",
    .reference("sync/M20", "facts/5.5"))
  func again() throws {
    let (request, checkpoint) = try download()
    _ = try sql(
      """
      CREATE TRIGGER cut BEFORE INSERT ON "Order" WHEN new.id = 13
      BEGIN SELECT raise(ABORT, 'the app ended here'); END
      """)
    #expect(throws: FerryError.self) {
      try device.session.received(checkpoint.frame.encoded(), on: request.lane)
    }
    #expect(try device.orders().isEmpty)
    _ = try sql("DROP TRIGGER cut")
    try device.restart()
    try device.exchange(shore)
    #expect(try device.orders().map(\.id) == Array(1...20))
    #expect(device.handler.progress.last?.receivedRows == 20, "no row came twice")
  }

  /// More rows than are told one by one, and somebody who watches.
  private func manyWatched() -> Told {
    let told = Told()
    device.store.rowWatch.onChange { told.add($0) }
    device.store.rowWatch.watch(["Order"])
    shore.pageRows = 700
    for id in 21...2_500 { put(Int64(id), "Bremen") }
    return told
  }

  @Test("An import of many under a live query is told as a whole, and the next change by itself")
  func watched() throws {
    let told = manyWatched()
    try device.exchange(shore)
    #expect(told.changes.map(\.entities) == [["Order": .all]])
    var order = try #require(try device.order(2_000))
    order.city = "Kiel"
    try order.update()
    guard case .rows(let rows) = told.changes.last?.entities["Order"] else {
      Issue.record("told \(told.changes)")
      return
    }
    #expect(rows.map { $0.after?[2] } == [.text("Kiel")])
  }

  @Test("An import of many that was undone leaves live queries as precise as they were")
  func watchedAndUndone() throws {
    let told = manyWatched()
    shore.sumError = 1
    try device.exchange(shore)
    #expect(try device.orders().isEmpty)
    shore.sumError = 0
    try device.newOrder("Jena").keep()
    #expect(told.changes.map(\.entities.count) == [1])
    guard case .rows(let rows) = told.changes.last?.entities["Order"] else {
      Issue.record("told \(told.changes)")
      return
    }
    #expect(rows.map { $0.after?[2] } == [.text("Jena")])
    device.store.rowWatch.unwatch(["Order"])
    try device.exchange(shore)
    #expect(try device.orders().count == 2_501)
    #expect(told.changes.count == 1)
    let triggers = try sql("SELECT count(*) FROM temp.sqlite_schema WHERE type = 'trigger'")
    #expect(triggers == 0)
  }
}

/// What those who watch were told.
private final class Told: Sendable {
  private let all = Mutex<[RowChanges]>([])

  var changes: [RowChanges] { all.withLock { $0 } }
  func add(_ changes: RowChanges) { all.withLock { $0.append(changes) } }
}

extension Order {
  fileprivate func keep() throws {
    var order = self
    try order.create()
  }
}
