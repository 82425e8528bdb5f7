import FerryModel
import FerrySQLite
import FerryWire
import Testing

@testable import Ferry

/// What was sent and is not waited for, on a device with sessions.
@Suite("Batches of a replication-based device")
struct BatchTests {
  private let shop: Stocked

  init() throws { shop = try Stocked() }

  private func begin(proceeds: Bool) throws {
    let session = shop.device.session
    session.begin(
      SynchronizationPlan(
        number: session.nextPlanNumber(), groups: Shop.package.groups.map(\.name),
        isUploadOnly: true))
    guard case .send = try session.next() else {
      Issue.record("nothing is sent")
      return
    }
    #expect(session.questions == [.starting, .uploading])
    guard proceeds else {
      #expect(try !session.answer(.cancel))
      return
    }
    while !session.questions.isEmpty { #expect(try session.answer(.proceed)) }
    session.leave()
  }

  private func isFinished(_ batch: Int64) throws -> Bool {
    let store = shop.device.store
    return try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in try BatchTable.isFinished(batch, connection) }
    }
  }

  /// How many operations each batch has.
  private func batches() throws -> [Int64: Int64] {
    let store = shop.device.store
    let rows = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.rows(
          """
          SELECT number, (SELECT count(*) FROM ferry_batch_member WHERE batch = number)
          FROM ferry_batch
          """)
      }
    }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0].integer ?? 0, $0[1].integer ?? 0) })
  }

  @Test("What an earlier session may have sent stays its own if a later one is cancelled unsent")
  func takenBack() throws {
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try begin(proceeds: true)
    let away = FerryError(.offline, "nobody is there", hint: "Later.", isTransient: true)
    try shop.device.session.ended(.exchange, away)
    #expect(try batches() == [1: 1])
    _ = shop.device.session.takeEndedPlans()
    // The channel said meanwhile that it is answered.
    let store = shop.device.store
    try store.write { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        let id = try connection.value("SELECT id FROM ferry_operation")?.text
        try BatchTable.finish(
          operations: id.flatMap(OperationID.init).map { [$0] } ?? [], connection)
      }
    }
    try begin(proceeds: false)
    #expect(try batches() == [1: 1])
    #expect(try isFinished(1))
  }
}
