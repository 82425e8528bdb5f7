import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

@Suite("The app's own log records")
struct ReportTests {
  private func reports(in request: SessionRequest) throws -> [LogRecord] {
    var records: [LogRecord] = []
    for frame in try FrameReader.frames(of: request.body) {
      if case .report(let report) = try Message(frame) { records += report.records }
    }
    return records
  }

  private func submit(_ shop: Stocked) throws -> Int {
    try shop.device.store.withTransaction { transaction throws(FerryError) in
      try ReportQueue(transaction).submit()
    }
  }

  @Test(
    "Are written by an object or the database, and stay until they are submitted",
    .reference("facts/1.5"))
  func written() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    let record = try order.createLogRecord(.warn, "the map could not be drawn", code: 7)
    #expect(record.component == "Order" && record.entityKey == "1" && record.operation == .update)
    #expect(record.code == 7 && record.level == .warn)
    let other = try #require(try shop.device.order(2)).createLogRecord(.info, "seen")
    #expect(other.operation == nil && other.requestID != record.requestID)
    #expect(try Reports(shop.device.store).all() == [record, other])
    #expect(try reports(in: #require(try shop.device.request())).isEmpty)
    // Undone with the transaction they belong to.
    #expect(throws: FerryError.self) {
      try shop.device.store.transaction { () throws(FerryError) in
        try order.createLogRecord(.error, "never")
        throw FerryError(.cancelled, "no", hint: "")
      }
    }
    #expect(try Reports(shop.device.store).all().count == 2)
  }

  @Test("are sent until the server has them, across lost answers and restarts, under the same ids")
  func delivered() throws {
    let shop = try Stocked()
    let order = try #require(try shop.device.order(1))
    let written = try (0..<600).map { try order.createLogRecord(.info, "step \($0)") }
    #expect(try submit(shop) > 0)
    #expect(try submit(shop) == 0)
    let later = try order.createLogRecord(.info, "not submitted")
    var kept: [LogRecord] = []
    // The answer to the first is lost with the app.
    let first = try reports(in: #require(try shop.device.request()))
    #expect(first == Array(written.prefix(WireLimits.reportRecords)))
    try shop.device.restart()
    for _ in 0..<2 {
      #expect(try shop.device.session.facts().hasOutgoing)
      let request = try #require(try shop.device.request())
      let sent = try reports(in: request)
      kept += sent
      try shop.device.take(
        try shop.shore.respond(to: request.body)
          + [.stored(Stored(ids: sent.map(\.requestID), refused: []))])
    }
    #expect(kept == written)
    #expect(try !shop.device.session.facts().hasOutgoing)
    #expect(try Reports(shop.device.store).all() == [later])
  }

  @Test("stay on the device while the server is older and takes none, which hinders nothing else")
  func olderServer() throws {
    let shop = try Stocked()
    shop.shore.takes = []
    try shop.device.exchange(shop.shore)
    var order = try #require(try shop.device.order(1))
    let record = try order.createLogRecord(.warn, "the map could not be drawn")
    #expect(try submit(shop) > 0)
    #expect(try !shop.device.session.facts().hasOutgoing, "no exchange is begun in vain")
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    let request = try #require(try shop.device.request())
    #expect(try reports(in: request).isEmpty)
    try shop.device.take(try shop.shore.respond(to: request.body))
    #expect(shop.shore.stored.count == 1)
    #expect(try Reports(shop.device.store).all() == [record])
    try shop.device.restart()
    #expect(try !shop.device.session.facts().hasOutgoing)
    // The server is brought up to date.
    shop.shore.takes = [Welcome.report]
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.session.facts().hasOutgoing)
    #expect(try reports(in: #require(try shop.device.request())) == [record])
  }

  @Test("have a bounded length and number, and what is too long says so")
  func bounded() throws {
    let shop = try Stocked()
    let order = try #require(try shop.device.order(1))
    let error = #expect(throws: FerryError.self) {
      try order.createLogRecord(.info, String(repeating: "x", count: 4_001))
    }
    #expect(error?.code == .tooLarge && error?.entity == "Order")
    #expect(error?.hint == "Shorten the message.")
    try shop.device.store.write { connection throws(FerryError) in
      try shop.device.store.sql { () throws(SQLiteError) in
        try connection.execute(
          """
          INSERT INTO ferry_report (number, id, record)
          VALUES (1, 'old', '{}'), (\(Reports.kept), 'b', '{}')
          """)
      }
    }
    try order.createLogRecord(.info, "new")
    let left = try shop.device.store.read { connection throws(FerryError) in
      try shop.device.store.sql { () throws(SQLiteError) in
        try connection.rows("SELECT number FROM ferry_report ORDER BY number").map { $0[0].integer }
      }
    }
    #expect(left == [Int64(Reports.kept), Int64(Reports.kept) + 1])
  }
}
