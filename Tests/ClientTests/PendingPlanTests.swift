import Ferry
import FerryModel
import FerrySQLite
import Testing

@testable import Ferry

@Suite("What pending work costs")
struct PendingPlanTests {
  @Test(
    "No statement that runs once for each pending operation looks at the others",
    arguments: [
      "SELECT 1 FROM ferry_operation WHERE entity = 'Order' AND object = 1 AND sequence < 9 LIMIT 1",
      "SELECT sequence FROM ferry_operation WHERE entity = 'Order' AND key = '1' AND temporary = 1",
      "SELECT id FROM ferry_operation WHERE chain = 'a' AND state IN ('waiting', 'replayFailed')",
      "SELECT id FROM ferry_operation WHERE root_entity = 'Order' AND root_object = 1",
      "SELECT id FROM ferry_operation WHERE id = 'a'",
      "SELECT object FROM ferry_operation WHERE entity = 'Order' AND key = '1' LIMIT 1",
      "SELECT sequence FROM ferry_owner JOIN ferry_operation USING (sequence) WHERE "
        + "ferry_owner.entity = 'Item' AND ferry_owner.object = 1 AND state <> 'withdrawn'",
      "SELECT record FROM ferry_log_record WHERE entity = 'Order' AND object = 1",
    ])
  func searches(_ sql: String) throws {
    let plan = try plan(sql)
    #expect(
      plan.allSatisfy {
        $0.hasPrefix("SEARCH") && ($0.contains("INDEX") || $0.contains("PRIMARY KEY"))
          && !$0.hasSuffix("(entity=?)")
      }, "\(plan)")
  }

  @Test("What is to be sent, and what is to be sealed, is found without what waits")
  func partial() throws {
    let outgoing = try plan(
      """
      SELECT id FROM ferry_operation WHERE acknowledged = 0 AND state IN ('submitted', 'withdrawn')
      ORDER BY sequence LIMIT 9
      """)
    #expect(outgoing.contains { $0.contains("ferry_operation_outgoing") }, "\(outgoing)")
    let wanted = try plan("SELECT id FROM ferry_operation WHERE wanted > 0 ORDER BY sequence")
    #expect(wanted.contains { $0.contains("ferry_operation_wanted") }, "\(wanted)")
    for question in [
      "SELECT 1 FROM ferry_operation WHERE wanted = 2 LIMIT 1",
      "SELECT id FROM ferry_operation WHERE wanted = 2 ORDER BY sequence",
    ] {
      let again = try plan(question)
      #expect(again.contains { $0.contains("ferry_operation_again") }, "\(again)")
    }
    let unanswered = try plan(
      """
      SELECT id FROM ferry_operation WHERE state IN ('submitted', 'withdrawn', 'unknown')
      AND sent = 1 ORDER BY sequence LIMIT 9
      """)
    #expect(
      unanswered.contains { $0.contains("ferry_operation_unanswered") }, "\(unanswered)")
  }

  @Test("Submitting twice as much runs twice as many statements")
  func linear() throws {
    let small = try statements(of: 100)
    let large = try statements(of: 200)
    #expect(large <= 2 * small + 20, "\(small) for 100, \(large) for 200")
  }

  private func statements(of count: Int) throws -> Int {
    let shop = try Stocked()
    for _ in 0..<count {
      var order = shop.device.newOrder("Jena")
      try order.create()
    }
    return try shop.device.store.write { connection throws(FerryError) in
      let before = connection.executions
      try Outbox(shop.device.store).submitAll(Order.entity)
      return connection.executions - before
    }
  }

  @Test("Deleting twice as many parents with their children looks at twice as much")
  func deletes() throws {
    let small = try deletes(of: 40)
    let large = try deletes(of: 80)
    #expect(large < small * 9 / 4, "\(small) for 40, \(large) for 80")
  }

  /// Parents are submitted first, and wait for their children.
  private func deletes(of count: Int64) throws -> Int {
    let device = try Device(Warehouse.package()).loggedIn()
    let shore = Shore(Warehouse.package())
    for id in 1...count {
      shore.put(Maker.entity, [.integer(id), .text("Ada"), .null, .null])
      shore.put(
        Article.entity,
        [
          .integer(id), .integer(id), .text("Nail"), .null, .null, .null, .null, .boolean(true),
          .null,
        ])
    }
    for _ in 0..<3 { try device.exchange(shore) }
    return try device.store.machineSteps {
      for entity in [Article.entity, Maker.entity] {
        for id in 1...count {
          let record = try Records(device.store).of(entity, key: ObjectKey([.integer(id)]))
          _ = try PendingStore.save(try #require(record).change(.delete), in: device.store)
        }
      }
      try Outbox(device.store).submitAll([Maker.entity, Article.entity])
      try device.exchange(shore)
      for id in shore.stored.keys { shore.accept(id) }
      for _ in 0..<2 { try device.exchange(shore) }
      #expect(shore.received.count == Int(count) * 2)
    }
  }

  private func plan(_ sql: String) throws -> [String] {
    let device = try Device()
    return try device.store.read { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try connection.rows("EXPLAIN QUERY PLAN \(sql)").compactMap { $0[3].text }
      }
    }
  }
}
