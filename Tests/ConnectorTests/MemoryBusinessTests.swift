import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerryTestKit
import Testing

@Suite("A business in memory can be made to fail and tells its history")
struct MemoryBusinessTests {
  let stage: MemoryStage = MemoryStage()

  private func create(_ digit: String, flight: Int64 = 17) -> ConnectorOperation {
    ConnectorOperation(
      id: OperationID(String(repeating: digit, count: 32))!, entity: ConnectorSuite.booking,
      kind: .create, key: nil, changed: [1: .integer(flight), 2: .text("Cleo")], base: [:])
  }

  private func performWith(_ fault: MemoryFault) -> PerformResult {
    stage.business.setFault { $0 == .perform ? fault : nil }
    defer { stage.business.setFault(nil) }
    return stage.connector().perform([create("a")])
  }

  @Test(
    "Away is not done; a time-out is unknown, and recall tells on which side of the commit it was")
  func faults() throws {
    guard case .notDone = performWith(.away), case .unknown = performWith(.timeoutBeforeCommit)
    else {
      Issue.record("away or early time-out answered")
      return
    }
    #expect(try stage.connector().recall([create("a")]) == [.notPerformed])
    #expect(stage.business.history.count == ConnectorSuite.rows.count)
    guard case .unknown = performWith(.timeoutAfterCommit) else {
      Issue.record("late time-out answered")
      return
    }
    #expect(
      try stage.connector().recall([create("a")])
        == [.performed(.accepted(key: ObjectKey([.integer(3)])))])
  }

  @Test("A torn load gives half of the last entity and throws")
  func tornLoad() {
    stage.business.setFault { $0 == .load ? .timeoutAfterCommit : nil }
    var rows = 0
    #expect(throws: ConnectorError.self) {
      _ = try stage.connector().load(
        LoadScope(entities: ConnectorSuite.package.entities), from: nil,
        each: { rows += $0.rows.count }, rejected: { _ in })
    }
    #expect(rows == 5)
  }

  @Test("A fault may change rows meanwhile")
  func changeMeanwhile() throws {
    let business = stage.business
    business.setFault { _ in
      business.changeByOther { $0.write("Booking", ObjectKey([.integer(1)]), nil) }
      return nil
    }
    let images = try stage.connector().read(
      ConnectorSuite.booking, keys: [ObjectKey([.integer(1)])])
    #expect(images[0].values == nil)
  }

  @Test("The history is serial and replays to the rows, operation by operation")
  func history() throws {
    _ = stage.connector().perform([create("a"), create("b")])
    _ = stage.connector().perform([create("c", flight: 18)])
    stage.changeByOther(ConnectorSuite.booking, ObjectKey([.integer(1)]), [2: .text("Anna")])
    let history = stage.business.history
    #expect(history.map(\.number) == Array(1...5))
    #expect(history[3].parts.map(\.operation) == [create("a").id, create("b").id])
    #expect(
      history[3].parts.map { $0.effects.map(\.entity) } == [
        ["Booking", "Flight"], ["Booking", "Flight"],
      ])
    #expect(history[4].parts.map(\.operation) == [nil])
    var tables: [String: [ObjectKey: [AttributeValue]]] = [:]
    for effect in history.flatMap(\.parts).flatMap(\.effects) {
      #expect(tables[effect.entity]?[effect.key] == effect.before)
      tables[effect.entity, default: [:]][effect.key] = effect.after
    }
    #expect(tables == stage.business.tables)
  }

  @Test("Someone else cannot break a relationship either")
  func otherKeepsRules() {
    let refusal = stage.business.changeByOther { transaction in
      transaction.write("Booking", ObjectKey([.integer(1)]), nil)
      transaction.write("Carrier", ObjectKey([.text("LH")]), nil)
    }
    #expect(refusal?.code == 412)
    #expect(stage.business.rows(of: "Booking").count == 2)
  }
}

@Suite("Keys made inside a group reach its later operations")
struct GivenKeysTests {
  @Test("A composite key that holds the parent's key, its attributes and its base are replaced")
  func composite() {
    let order = entity("Order", [attribute("id", .long, required: true)], origin: .businessSystem)
    let line = entity(
      "Line",
      [
        attribute("order", .long, required: true), attribute("number", .int, required: true),
        attribute("text", .string),
      ], key: [0, 1],
      relationships: [
        Relationship(name: "of", target: "Order", attributes: ["order"], targetAttributes: ["id"])
      ])
    let id = OperationID(String(repeating: "1", count: 32))!
    let old = AttributeValue.integer(77)
    var keys = GivenKeys()
    let parent = ConnectorOperation(
      id: id, entity: order, kind: .create, key: nil, changed: [:], base: [:],
      temporaryKey: ObjectKey([old]))
    keys.learn(parent, key: ObjectKey([.integer(5)]))
    let child = ConnectorOperation(
      id: id, entity: line, kind: .update, key: ObjectKey([old, .integer(2)]),
      changed: [2: .text("77")], base: [0: old, 2: .null])
    let applied = keys.applied(to: child)
    #expect(applied.key == ObjectKey([.integer(5), .integer(2)]))
    #expect(applied.base == [0: .integer(5), 2: .null])
    #expect(applied.changed == [2: .text("77")])
    let stranger = ConnectorOperation(
      id: id, entity: line, kind: .update, key: ObjectKey([.integer(78), .integer(2)]),
      changed: [:],
      base: [:])
    #expect(keys.applied(to: stranger) == stranger)
  }
}
