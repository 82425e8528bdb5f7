import FerryModel

/// One operation inside the transaction of its group: judged, compared with its base, and performed.
public struct SQLOperationWork<Dialect: SQLDialect> {
  private let operation: ConnectorOperation
  private let dialect: Dialect

  public init(_ operation: ConnectorOperation, _ dialect: Dialect) {
    self.operation = operation
    self.dialect = dialect
  }

  private var entity: Entity { operation.entity }

  /// The key of the object afterwards. The row is judged before and after (`RowJudge`).
  public func perform() throws(Dialect.Interruption) -> ObjectKey {
    switch operation.kind {
    case .create: return try judged(create())
    case .update: return try judged(update())
    case .delete: return try delete()
    }
  }

  /// As the statement and its triggers left the row.
  private func judged(_ key: ObjectKey) throws(Dialect.Interruption) -> ObjectKey {
    guard operation.judge != nil, let values = key.values(of: entity) else { return key }
    let row: [AttributeValue]?
    do { row = try dialect.fitting(entity, entity.key, values, isLocked: false) } catch {
      throw .failed(error)
    }
    if let row { try judge(row) }
    return key
  }

  private func judge(_ row: [AttributeValue]) throws(Dialect.Interruption) {
    guard let judge = operation.judge else { return }
    let refusal: Refusal?
    do throws(ConnectorError) {
      refusal = try judge.refusal(of: row, in: entity) {
        entity, positions, values throws(ConnectorError) in
        try dialect.fitting(entity, positions, values, isLocked: true)
      }
    } catch { throw .failed(error) }
    if let refusal { throw .refused(refusal) }
  }

  /// Before the statement, whose foreign keys would tell which objects exist.
  private func judge(
    references changed: [Int: AttributeValue], before: [AttributeValue]?
  ) throws(Dialect.Interruption) {
    guard let judge = operation.judge else { return }
    let refusal: Refusal?
    do throws(ConnectorError) {
      refusal = try judge.refusal(ofReferences: changed, before: before, in: entity) {
        entity, positions, values throws(ConnectorError) in
        try dialect.fitting(entity, positions, values, isLocked: false)
      }
    } catch { throw .failed(error) }
    if let refusal { throw .refused(refusal) }
  }

  private func create() throws(Dialect.Interruption) -> ObjectKey {
    var values = operation.changed
    if let key = operation.key {
      guard let parts = key.values(of: entity) else { throw noKey(key) }
      for (position, value) in zip(entity.key, parts) { values[position] = value }
      try judge(references: values, before: nil)
      if try dialect.row(of: key, for: .create) != nil { throw exists(key) }
    } else {
      if entity.key.count == 1 { values[entity.key[0]] = nil }
      try judge(references: values, before: nil)
    }
    guard let key = try dialect.insert(values) else { throw ignored() }
    return key
  }

  private func update() throws(Dialect.Interruption) -> ObjectKey {
    let (key, row) = try existing()
    if operation.judge != nil { try judge(references: operation.changed, before: fitting(row)) }
    var changed = try settle(row)
    for position in entity.key {
      guard let value = changed[position] else { continue }
      guard dialect.value(at: position, of: row) == value else {
        throw .refused(
          Refusal(
            code: 422, message: "The key of \(entity.name) \(key) cannot be changed.",
            attribute: entity.attributes[position].name))
      }
      changed[position] = nil
    }
    guard !changed.isEmpty else { return key }
    guard try dialect.update(key, changed) else { throw ignored() }
    return key
  }

  private func delete() throws(Dialect.Interruption) -> ObjectKey {
    let (key, row) = try existing()
    _ = try settle(row)
    guard try dialect.delete(key) else { throw ignored() }
    return key
  }

  private func existing() throws(Dialect.Interruption) -> (ObjectKey, Dialect.Row) {
    guard let key = operation.key else {
      throw .refused(Refusal(code: 422, message: "The change does not say which object it means."))
    }
    guard key.values(of: entity) != nil else { throw noKey(key) }
    guard let row = try dialect.row(of: key, for: operation.kind) else {
      throw .refused(
        Refusal(code: 404, message: "\(entity.name) \(key) is not in the business system."))
    }
    // Before anything of it is compared: a refusal for another base tells what the row has.
    if operation.judge != nil { try judge(fitting(row)) }
    return (key, row)
  }

  /// What does not fit the model is null.
  private func fitting(_ row: Dialect.Row) -> [AttributeValue] {
    entity.attributes.indices.map { dialect.value(at: $0, of: row) ?? .null }
  }

  /// What is to be written, after the base was compared with the row.
  private func settle(
    _ row: Dialect.Row
  ) throws(Dialect.Interruption) -> [Int: AttributeValue] {
    var conflicts: [(position: Int, conflict: Refusal.Conflict)] = []
    for (position, based) in operation.base.sorted(by: { $0.key < $1.key }) {
      let current = dialect.value(at: position, of: row)
      guard current != based else { continue }
      let shown = current == nil ? dialect.shown(at: position, of: row) : nil
      let conflict = Refusal.Conflict(
        attribute: entity.attributes[position].name, baseValue: based,
        currentValue: current ?? .text(shown ?? ""), shown: shown)
      conflicts.append((position, conflict))
    }
    switch operation.settled(conflicts) {
    case .success(let changed): return changed
    case .failure(let settled): throw .refused(settled.refusal)
    }
  }

  private func noKey(_ key: ObjectKey) -> Dialect.Interruption {
    .refused(Refusal(code: 422, message: "\(key) is no key of \(entity.name)."))
  }

  private func exists(_ key: ObjectKey) -> Dialect.Interruption {
    .refused(
      Refusal(
        code: 412, message: "There is a \(entity.name) with the key \(key) already.",
        attribute: entity.attributes[entity.key[0]].name))
  }

  private func ignored() -> Dialect.Interruption {
    .refused(
      Refusal(
        code: 412,
        message: "A rule of the business database ignored the change of \(entity.name)."))
  }
}

extension Refusal {
  /// The key of a new row is none of the model's; `shown`: as the database has it.
  public static func unfitKey(_ shown: String, of entity: Entity) -> Refusal {
    Refusal(
      code: 422,
      message: "A new \(entity.name) would have the key \(shown), which does not fit the model.")
  }

  /// The column would give back another value than it was given.
  public static func inexact(
    _ value: AttributeValue, _ attribute: Attribute, declaredType: String
  ) -> Refusal {
    Refusal(
      code: 422,
      message: "\(attribute.name) \(value.shown) cannot be kept exactly: "
        + "the column \(attribute.column) is \(declaredType.isEmpty ? "without a type" : declaredType).",
      attribute: attribute.name)
  }
}

extension ConnectorError {
  /// A big value whose content did not come along.
  public static func noContent(of attribute: Attribute) -> ConnectorError {
    ConnectorError(
      "The content of \(attribute.name) is missing on the server", hint: "It is tried again.",
      isTransient: true)
  }
}
