import FerryConnector
import FerryModel

/// What one change does to one row.
public struct MemoryEffect: Sendable, Equatable {
  public let entity: String
  public let key: ObjectKey
  /// Nil when the row is new.
  public let before: [AttributeValue]?
  /// Nil when the row goes.
  public let after: [AttributeValue]?
}

/// The tables while someone changes them; each write is noted so that it can be undone.
public struct MemoryTransaction {
  private var tables: [String: [ObjectKey: [AttributeValue]]]
  public private(set) var effects: [MemoryEffect] = []

  init(_ tables: [String: [ObjectKey: [AttributeValue]]]) { self.tables = tables }

  public func row(_ entity: String, _ key: ObjectKey) -> [AttributeValue]? { tables[entity]?[key] }

  /// The row whose attributes at `positions` have these values.
  func row(_ entity: Entity, _ positions: [Int], _ values: [AttributeValue]) -> [AttributeValue]? {
    if positions == entity.key { return row(entity.name, ObjectKey(values)) }
    return rows(of: entity.name).values.first { row in positions.map { row[$0] } == values }
  }

  public func rows(of entity: String) -> [ObjectKey: [AttributeValue]] { tables[entity] ?? [:] }

  /// Puts a row there, or takes it away with nil.
  public mutating func write(_ entity: String, _ key: ObjectKey, _ values: [AttributeValue]?) {
    effects.append(
      MemoryEffect(entity: entity, key: key, before: tables[entity]?[key], after: values))
    tables[entity, default: [:]][key] = values
  }

  /// Takes back what was written after the first `count` writes.
  mutating func undo(to count: Int = 0) {
    while effects.count > count {
      let effect = effects.removeLast()
      tables[effect.entity, default: [:]][effect.key] = effect.before
    }
  }

  func finished() -> [String: [ObjectKey: [AttributeValue]]] { tables }
}

/// A rule of the business: it may refuse a change, or change further rows because of it.
public struct MemoryRule: Sendable {
  /// Called once for each row that an operation changed, after the change; a refusal undoes it.
  public let apply: @Sendable (MemoryEffect, inout MemoryTransaction) -> Refusal?

  public init(_ apply: @escaping @Sendable (MemoryEffect, inout MemoryTransaction) -> Refusal?) {
    self.apply = apply
  }
}

/// What an entity without rows does to the others: the model's own operations.
public struct MemoryOperation: Sendable {
  /// Called with the values of its attributes, in their order; a refusal undoes what it did.
  public let apply: @Sendable ([AttributeValue], inout MemoryTransaction) -> Refusal?

  public init(_ apply: @escaping @Sendable ([AttributeValue], inout MemoryTransaction) -> Refusal?)
  {
    self.apply = apply
  }
}

/// One commit of the business system: what a checker replays.
public struct MemoryCommit: Sendable, Equatable {
  /// What one operation of the commit did.
  public struct Part: Sendable, Equatable {
    /// Nil when someone else made the change.
    public let operation: OperationID?
    /// In the order in which they happened, effects of rules included.
    public let effects: [MemoryEffect]
  }

  /// 1, 2, 3 … in commit order.
  public let number: Int
  public let parts: [Part]
}

/// The rules that a database keeps by itself: required values and relationships.
struct MemoryConstraints {
  let package: Package

  /// The first rule that the effects broke.
  func broken(by effects: [MemoryEffect], in transaction: MemoryTransaction) -> Refusal? {
    for effect in effects {
      guard let entity = package.entity(named: effect.entity) else { continue }
      let now = transaction.row(effect.entity, effect.key)
      if let now, let refusal = required(entity, now) ?? missingParent(entity, now, transaction) {
        return refusal
      }
      if let before = effect.before, let refusal = leftChild(entity, before, now, transaction) {
        return refusal
      }
    }
    return nil
  }

  private func required(_ entity: Entity, _ row: [AttributeValue]) -> Refusal? {
    for (attribute, value) in zip(entity.attributes, row)
    where value.isNull && !attribute.isNullable {
      return Refusal(
        code: 412, message: "\(attribute.name) must have a value.", attribute: attribute.name)
    }
    return nil
  }

  private func missingParent(
    _ entity: Entity, _ row: [AttributeValue], _ transaction: MemoryTransaction
  ) -> Refusal? {
    for relationship in entity.relationships {
      guard let target = package.entity(named: relationship.target),
        let values = values(relationship.attributes, of: entity, row)
      else { continue }
      if contains(target, relationship.targetAttributes, values, transaction) { continue }
      let shown = zip(relationship.attributes, values).map { "\($0) \($1.shown)" }
      let verb = values.count == 1 ? "does" : "do"
      return Refusal(
        code: 412,
        message: "\(shown.joined(separator: ", ")) \(verb) not exist in \(target.table).",
        attribute: relationship.attributes.first)
    }
    return nil
  }

  private func leftChild(
    _ entity: Entity, _ before: [AttributeValue], _ now: [AttributeValue]?,
    _ transaction: MemoryTransaction
  ) -> Refusal? {
    for child in package.entities {
      for relationship in child.relationships where relationship.target == entity.name {
        guard let old = values(relationship.targetAttributes, of: entity, before) else { continue }
        if let now, values(relationship.targetAttributes, of: entity, now) == old { continue }
        let count = transaction.rows(of: child.name).values.count {
          values(relationship.attributes, of: child, $0) == old
        }
        guard count > 0 else { continue }
        let number =
          count == 1 ? "1 row of \(child.table) refers" : "\(count) rows of \(child.table) refer"
        return Refusal(
          code: 412,
          message: "\(entity.name) \(entity.key(of: before)) is still needed: \(number) to it.")
      }
    }
    return nil
  }

  /// Nil when one of them is null: then there is nothing to refer to.
  private func values(
    _ names: [String], of entity: Entity, _ row: [AttributeValue]
  ) -> [AttributeValue]? {
    let values = names.compactMap { entity.position(of: $0).map { row[$0] } }
    return values.count == names.count && !values.contains(.null) ? values : nil
  }

  private func contains(
    _ target: Entity, _ names: [String], _ wanted: [AttributeValue],
    _ transaction: MemoryTransaction
  ) -> Bool {
    if names.compactMap(target.position) == target.key {
      return transaction.row(target.name, ObjectKey(wanted)) != nil
    }
    return transaction.rows(of: target.name).values.contains {
      values(names, of: target, $0) == wanted
    }
  }
}
