import FerryModel

/// Decides where a change makes its object refer to, and which references it ends. Pure.
///
/// A reference is looked at as a whole: an attribute that the change leaves alone has the value that
/// is below the change.
package struct ReferenceMachine {
  /// An object that is referred to by its key.
  package struct Target {
    package let relationship: Relationship
    package let entity: Entity
    package let key: [AttributeValue]
    /// Of the attributes that refer.
    package let positions: [Int]

    /// The device has given the key, and the business system will give another one.
    package var isTemporary: Bool {
      entity.keyOrigin == .businessSystem
        && zip(entity.key, key).contains { entity.attributes[$0].type.isTemporaryKey($1) }
    }
  }

  private let entity: Entity
  private let references: [KeyReference]

  /// `references` has those of the entity.
  package init(entity: Entity, references: [KeyReference]) {
    self.entity = entity
    self.references = references
  }

  /// See `References.made`. `below` gives an attribute as it is without the change.
  package func made<Failure>(
    by operation: PendingOperation, below: (Int) throws(Failure) -> AttributeValue
  ) throws(Failure) -> [Target] {
    guard operation.kind != .delete else { return [] }
    assert(
      operation.kind != .create || operation.base.isEmpty,
      "the create of \(operation.key) is based on old values")
    var made: [Target] = []
    for reference in touched(by: operation) {
      var key: [AttributeValue] = []
      for position in reference.positions {
        key.append(try value(after: operation, position, below))
      }
      let target = Target(
        relationship: reference.relationship, entity: reference.target, key: key,
        positions: reference.positions)
      guard !key.contains(.null), target.entity.keyOrigin != .businessSystem || target.isTemporary
      else { continue }
      made.append(target)
    }
    return made
  }

  /// See `References.ended`.
  package func ended<Failure>(
    by operation: PendingOperation, image: [AttributeValue]?,
    below: (Int) throws(Failure) -> AttributeValue
  ) throws(Failure) -> [Target] {
    guard operation.kind != .create else { return [] }
    var ended: [Target] = []
    for reference in touched(by: operation) {
      var (before, after): ([AttributeValue], [AttributeValue]) = ([], [])
      for position in reference.positions {
        before.append(try value(before: operation, position, below))
        if operation.kind == .update { after.append(try value(after: operation, position, below)) }
      }
      let led = [before] + (image.map { image in [reference.positions.map { image[$0] }] } ?? [])
      for key in led where key != after && !key.contains(.null) {
        ended.append(
          Target(
            relationship: reference.relationship, entity: reference.target, key: key,
            positions: reference.positions))
      }
    }
    return ended
  }

  /// A delete ends every reference, a create makes those that it sets.
  package func touched(by operation: PendingOperation) -> [KeyReference] {
    touched(by: operation.kind, operation.changed)
  }

  /// The same for what a change sets.
  func touched(by kind: OperationKind, _ changed: [Int: AttributeValue]) -> [KeyReference] {
    guard kind == .update else { return references }
    return references.filter { $0.positions.contains { changed[$0] != nil } }
  }

  func value<Failure>(
    after operation: PendingOperation, _ position: Int,
    _ below: (Int) throws(Failure) -> AttributeValue
  ) throws(Failure) -> AttributeValue {
    if let value = operation.changed[position] ?? key(of: operation, position) { return value }
    return operation.kind == .create ? .null : try below(position)
  }

  func value<Failure>(
    before operation: PendingOperation, _ position: Int,
    _ below: (Int) throws(Failure) -> AttributeValue
  ) throws(Failure) -> AttributeValue {
    if let value = operation.base[position] ?? key(of: operation, position) { return value }
    return try below(position)
  }

  private func key(of operation: PendingOperation, _ position: Int) -> AttributeValue? {
    guard let place = entity.key.firstIndex(of: position),
      let key = operation.key.values(of: entity)
    else { return nil }
    return key[place]
  }

  /// What an attribute is without a change: `all` has the operations of its object, `image` what was
  /// downloaded, `shown` what is visible.
  package static func below<Failure>(
    _ operation: PendingOperation, _ position: Int, all: [PendingOperation],
    image: () throws(Failure) -> [AttributeValue]?, shown: () throws(Failure) -> [AttributeValue]?
  ) throws(Failure) -> AttributeValue {
    let earlier = all.last {
      $0.sequence < operation.sequence && $0.kind != .delete && $0.state != .withdrawn
        && ($0.kind == .create || $0.changed[position] != nil)
    }
    if let earlier { return earlier.changed[position] ?? .null }
    if let image = try image() { return image[position] }
    let later = all.first { $0.sequence > operation.sequence && $0.base[position] != nil }
    if let value = later?.base[position] { return value }
    return try shown()?[position] ?? .null
  }
}
