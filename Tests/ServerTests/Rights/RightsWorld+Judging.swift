import FerryConnector
import FerryModel
import FerryWire

@testable import FerrySQLiteStore
@testable import FerryServer

/// What the business system did, held against the truth.
extension RightsWorld {
  func replay(isQuiet: Bool) throws {
    while true {
      let rows = bench.business.rows
      let next = try bench.service.nextReplay()
      let place = waiting.firstIndex { $0.first == next?.operations.first?.id } ?? waiting.count
      // What stood before it was refused by the cache alone.
      if isQuiet { for ids in waiting[..<place] { expect(ids, rows) } }
      waiting.removeFirst(min(place + 1, waiting.count))
      guard let task = next else { break }
      var step = task.step
      while true {
        let before = bench.business.rows
        guard let report = bench.answer(step) else { break }
        if case .perform(let operations) = step, case .performed(.done(let outcomes, _)) = report {
          judge(operations, outcomes, before)
        }
        spread()
        step = try bench.service.report(task, report)
      }
    }
  }

  func expect(_ ids: [OperationID], _ before: Truth.Rows) {
    var rows = before
    for id in ids {
      guard let operation = sent[id] else { continue }
      let fault = self.fault(operation, rows)
      expected[id] = fault ?? ""
      if fault == nil {
        rows[operation.entity.name, default: [:]][operation.key] = result(operation, rows)
      }
    }
  }

  /// What was performed lay inside the rights of arrival and of now, row by row.
  func judge(
    _ operations: [ConnectorOperation], _ outcomes: [OperationOutcome], _ before: Truth.Rows
  ) {
    var rows = before
    for (operation, outcome) in zip(operations, outcomes) {
      guard let operation = sent[operation.id].map({ (id: operation.id, sent: $0) }) else {
        continue
      }
      let fault = self.fault(operation.sent, rows)
      if case .refused(let refusal) = outcome {
        if refusal.code == 403 { expected[operation.id] = fault ?? "" }
        return
      }
      let (entity, name) = (operation.sent.entity.name, people[operation.sent.person].name)
      // What a later member's refusal took back was done before it.
      if case .accepted = outcome {
        accepted += 1
        if let fault { leaks.append("\(name) did \(operation.sent.kind) \(entity): \(fault)") }
      }
      rows[entity, default: [:]][operation.sent.key] = result(operation.sent, rows)
    }
  }

  func result(
    _ operation: Sent, _ rows: Truth.Rows
  ) -> [AttributeValue]? {
    guard operation.kind != .delete else { return nil }
    var row =
      rows[operation.entity.name]?[operation.key] ?? [AttributeValue](repeating: .null, count: 6)
    for (position, value) in operation.changed { row[position] = value }
    return row
  }

  /// Why it must be refused with 403; nil where it may be performed.
  func fault(
    _ operation: Sent, _ rows: Truth.Rows
  ) -> String? {
    let (entity, key) = (operation.entity, operation.key)
    let (arrival, now) = (operation.arrival, people[operation.person])
    guard now.isThere else { return "This user may no longer change anything." }
    let permission = Permission(rawValue: operation.kind.rawValue)!
    for needed in [Permission.read, permission]
    where !truth.hasRole(arrival, for: needed, of: entity)
      || !truth.hasRole(now, for: needed, of: entity)
    {
      return "The roles of this user do not allow to \(needed.rawValue) \(entity.name)."
    }
    let before = operation.kind == .create ? nil : rows[entity.name]?[key]
    let foreign = "This \(entity.name) is not among the user's objects."
    let both = [arrival, now]
    if operation.kind != .create {
      guard let before, both.allSatisfy({ truth.includes($0, entity, before, rows) }) else {
        return foreign
      }
    }
    guard operation.kind != .delete, let after = result(operation, rows) else { return nil }
    guard both.allSatisfy({ truth.includes($0, entity, after, rows) }) else { return foreign }
    for person in both {
      if let reference = truth.foreignReference(
        person, entity, before: before, after: after, rows)
      {
        // Where it decides whose the row is, the row is spoken of.
        guard reference.name != "parent" else { return foreign }
        return "The \(reference.name) of this \(entity.name) is not among the user's objects."
      }
    }
    return nil
  }
}
