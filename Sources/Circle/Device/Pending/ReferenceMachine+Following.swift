import FerryModel

extension ReferenceMachine {
  /// An object has got another key, and what refers to it by the old one follows.
  package struct Following {
    private let entity: Entity
    private let positions: [Int]
    private let old: [AttributeValue]
    private let new: [AttributeValue]

    /// The attributes of `entity` at these positions refer.
    package init(
      of entity: Entity, _ positions: [Int], from old: [AttributeValue], to new: [AttributeValue]
    ) {
      self.entity = entity
      self.positions = positions
      self.old = old
      self.new = new
    }

    /// The key of an object of which the reference is a part, and which has to follow. `shown` is its
    /// row. A deleted object has none: its changes have the key.
    package func key(
      shown: [AttributeValue]?, _ operations: [PendingOperation]
    ) -> ObjectKey? {
      guard let shown else { return operations.first(where: concerns)?.key }
      return positions.map { shown[$0] } == old ? entity.key(of: shown) : nil
    }

    /// Whether the key of the change's object has the old key, as far as the change knows.
    package func concerns(_ operation: PendingOperation) -> Bool {
      guard let key = operation.key.values(of: entity) else { return false }
      return zip(positions, old).allSatisfy { position, value in
        if let place = entity.key.firstIndex(of: position) { return key[place] == value }
        return (operation.changed[position] ?? operation.base[position]) == value
      }
    }

    /// The change, with the new key where its object refers to the old one after it, and where it did
    /// so before it. A reference is looked at as a whole: a key of several attributes can have one of
    /// them in common with another object's. `below` gives an attribute as it is without the change.
    package func followed<Failure>(
      _ operation: PendingOperation, below: (Int) throws(Failure) -> AttributeValue
    ) throws(Failure) -> PendingOperation {
      let machine = ReferenceMachine(entity: entity, references: [])
      var (before, after): ([AttributeValue], [AttributeValue]) = ([], [])
      for position in positions {
        before.append(try machine.value(before: operation, position, below))
        after.append(try machine.value(after: operation, position, below))
      }
      var followed = operation
      for (position, value) in zip(positions, new) {
        if after == old, followed.changed[position] != nil { followed.changed[position] = value }
        if before == old, followed.base[position] != nil { followed.base[position] = value }
      }
      return followed
    }

    package func followed(_ key: ObjectKey) -> ObjectKey {
      guard var values = key.values(of: entity) else { return key }
      for (position, value) in zip(positions, new) {
        if let place = entity.key.firstIndex(of: position) { values[place] = value }
      }
      return ObjectKey(values)
    }
  }
}
