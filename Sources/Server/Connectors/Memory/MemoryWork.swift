import FerryConnector
import FerryModel

/// One operation on the tables in memory.
struct MemoryWork {
  let operation: ConnectorOperation
  /// The last key that the business made for this entity; it never makes one twice.
  var lastKey: Int64?

  enum Outcome {
    case accepted(ObjectKey)
    case refused(Refusal)
  }

  mutating func perform(
    _ transaction: inout MemoryTransaction, as stated: MemoryOperation?
  ) -> Outcome {
    if operation.entity.isOperation { return perform(stated, &transaction) }
    return switch operation.kind {
    case .create: create(&transaction)
    case .update, .delete: change(&transaction)
    }
  }

  /// An operation that makes no row of its own.
  private func perform(
    _ stated: MemoryOperation?, _ transaction: inout MemoryTransaction
  ) -> Outcome {
    let entity = operation.entity
    guard let stated, let key = operation.key, let parts = key.values(of: entity) else {
      return .refused(
        Refusal(code: 422, message: "The business system in memory does not know \(entity.name)."))
    }
    var values = entity.attributes.indices.map { operation.changed[$0] ?? .null }
    for (position, value) in zip(entity.key, parts) { values[position] = value }
    if let refusal = stated.apply(values, &transaction) { return .refused(refusal) }
    return .accepted(key)
  }

  private mutating func create(_ transaction: inout MemoryTransaction) -> Outcome {
    let entity = operation.entity
    var row = entity.attributes.indices.map { operation.changed[$0] ?? .null }
    if let key = operation.key {
      guard let parts = key.values(of: entity) else { return noKey(key) }
      for (position, value) in zip(entity.key, parts) { row[position] = value }
    } else {
      let last = lastKey ?? highestKey(transaction)
      lastKey = last + 1
      let position = entity.key.last { entity.key.count == 1 || row[$0].isNull } ?? entity.key[0]
      let isText = entity.attributes[position].type == .string
      row[position] = isText ? .text("K\(last + 1)") : .integer(last + 1)
    }
    if let refusal = unfit(Dictionary(uniqueKeysWithValues: zip(row.indices, row))) {
      return .refused(refusal)
    }
    let key = entity.key(of: row)
    if transaction.row(entity.name, key) != nil {
      return .refused(
        Refusal(
          code: 412, message: "There is a \(entity.name) with the key \(key) already.",
          attribute: entity.attributes[entity.key[0]].name))
    }
    transaction.write(entity.name, key, row)
    return .accepted(key)
  }

  private func highestKey(_ transaction: MemoryTransaction) -> Int64 {
    transaction.rows(of: operation.entity.name).values.reduce(0) { highest, row in
      guard case .integer(let number)? = operation.entity.key.last.map({ row[$0] })
      else { return highest }
      return max(highest, number)
    }
  }

  private func change(_ transaction: inout MemoryTransaction) -> Outcome {
    let entity = operation.entity
    guard let key = operation.key else {
      return .refused(Refusal(code: 422, message: "The change does not say which object it means."))
    }
    guard key.values(of: entity) != nil else { return noKey(key) }
    guard var row = transaction.row(entity.name, key) else {
      return .refused(
        Refusal(code: 404, message: "\(entity.name) \(key) is not in the business system."))
    }
    let changed: [Int: AttributeValue]
    switch operation.settled(conflicts(row)) {
    case .success(let settled): changed = settled
    case .failure(let settled): return .refused(settled.refusal)
    }
    guard operation.kind == .update else {
      transaction.write(entity.name, key, nil)
      return .accepted(key)
    }
    // What others wrote into the row is their matter.
    if let refusal = unfit(changed) { return .refused(refusal) }
    for (position, value) in changed { row[position] = value }
    guard entity.key(of: row) == key else {
      return .refused(
        Refusal(code: 422, message: "The key of \(entity.name) \(key) cannot be changed."))
    }
    if transaction.row(entity.name, key) != row { transaction.write(entity.name, key, row) }
    return .accepted(key)
  }

  private func conflicts(
    _ row: [AttributeValue]
  ) -> [(position: Int, conflict: Refusal.Conflict)] {
    operation.base.sorted { $0.key < $1.key }.filter { row[$0.key] != $0.value }
      .map { position, based in
        let conflict = Refusal.Conflict(
          attribute: operation.entity.attributes[position].name, baseValue: based,
          currentValue: row[position])
        return (position, conflict)
      }
  }

  private func unfit(_ values: [Int: AttributeValue]) -> Refusal? {
    for (position, value) in values.sorted(by: { $0.key < $1.key }) {
      let attribute = operation.entity.attributes[position]
      guard attribute.type.canonical(value) != value else { continue }
      return Refusal(
        code: 422, message: "\(attribute.name) \(value.shown) is no \(attribute.type.rawValue).",
        attribute: attribute.name)
    }
    return nil
  }

  private func noKey(_ key: ObjectKey) -> Outcome {
    .refused(Refusal(code: 422, message: "\(key) is not a key of \(operation.entity.name)."))
  }
}
