import FerryModel

/// Puts the keys that the business system made into the later operations of the same group.
public struct GivenKeys: Sendable {
  private struct Given: Sendable {
    let entity: Entity
    let old: ObjectKey
    let new: ObjectKey
  }

  private var given: [Given] = []

  public init() {}

  /// `operation` as it came, `key` as the business system has it now.
  public mutating func learn(_ operation: ConnectorOperation, key: ObjectKey) {
    guard operation.kind == .create, let old = operation.temporaryKey ?? operation.key, old != key
    else { return }
    given.append(Given(entity: operation.entity, old: old, new: key))
  }

  /// The operation with every temporary key that is known by now replaced: its own, and those in
  /// attributes that refer to the object by a relationship.
  public func applied(to operation: ConnectorOperation) -> ConnectorOperation {
    var key = operation.key
    var changed = operation.changed
    var base = operation.base
    for one in given {
      if one.entity.name == operation.entity.name, key == one.old { key = one.new }
      for relationship in operation.entity.relationships
      where relationship.target == one.entity.name {
        guard let change = replacement(of: one, relationship, in: operation.entity) else {
          continue
        }
        replace(change, in: &changed)
        replace(change, in: &base)
        key = key.map { replaced($0, change, in: operation.entity) }
      }
    }
    var applied = ConnectorOperation(
      id: operation.id, entity: operation.entity, kind: operation.kind, key: key, changed: changed,
      base: base, temporaryKey: operation.temporaryKey, contents: operation.contents,
      judge: operation.judge, user: operation.user)
    applied.traceID = operation.traceID
    applied.sentAt = operation.sentAt
    applied.conflictRules = operation.conflictRules
    applied.resultNotes = operation.resultNotes
    applied.policy = operation.policy
    return applied
  }

  /// Per attribute of the child: the value to look for and the one to put there.
  private typealias Replacement = [Int: (old: AttributeValue, new: AttributeValue)]

  private func replacement(
    of one: Given, _ relationship: Relationship, in child: Entity
  ) -> Replacement? {
    guard let old = one.old.values(of: one.entity), let new = one.new.values(of: one.entity)
    else { return nil }
    var change: Replacement = [:]
    for (name, target) in zip(relationship.attributes, relationship.targetAttributes) {
      guard let position = child.position(of: name), let there = one.entity.position(of: target),
        let place = one.entity.key.firstIndex(of: there)
      else { return nil }
      change[position] = (old[place], new[place])
    }
    return change
  }

  private func replace(_ change: Replacement, in values: inout [Int: AttributeValue]) {
    guard change.allSatisfy({ values[$0.key] == $0.value.old }) else { return }
    for (position, value) in change { values[position] = value.new }
  }

  private func replaced(_ key: ObjectKey, _ change: Replacement, in entity: Entity) -> ObjectKey {
    guard let values = key.values(of: entity) else { return key }
    var byPosition = Dictionary(zip(entity.key, values)) { first, _ in first }
    let inside = change.filter { byPosition[$0.key] != nil }
    guard !inside.isEmpty, inside.count == change.count else { return key }
    replace(inside, in: &byPosition)
    return ObjectKey(entity.key.compactMap { byPosition[$0] })
  }
}
