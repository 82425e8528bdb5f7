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
    if let refusal = unfit(row) { return .refused(refusal) }
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
    if let refusal = conflict(row) { return .refused(refusal) }
    guard operation.kind == .update else {
      transaction.write(entity.name, key, nil)
      return .accepted(key)
    }
    for (position, value) in operation.changed { row[position] = value }
    if let refusal = unfit(row) { return .refused(refusal) }
    guard entity.key(of: row) == key else {
      return .refused(
        Refusal(code: 422, message: "The key of \(entity.name) \(key) cannot be changed."))
    }
    if transaction.row(entity.name, key) != row { transaction.write(entity.name, key, row) }
    return .accepted(key)
  }

  private func conflict(_ row: [AttributeValue]) -> Refusal? {
    for (position, based) in operation.base.sorted(by: { $0.key < $1.key })
    where row[position] != based {
      let name = operation.entity.attributes[position].name
      return Refusal(
        code: 412,
        message: "\(name) was changed meanwhile: this change was based on \(based.shown), "
          + "the business system has \(row[position].shown).",
        attribute: name, baseValue: based, currentValue: row[position])
    }
    return nil
  }

  private func unfit(_ row: [AttributeValue]) -> Refusal? {
    for (attribute, value) in zip(operation.entity.attributes, row)
    where attribute.type.canonical(value) != value {
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
