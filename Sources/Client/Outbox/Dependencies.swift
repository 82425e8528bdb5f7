import FerryModel
import FerrySQLite

/// A reference to a new object by the temporary key that the device has given it.
struct TemporaryReference {
  let relationship: Relationship
  let target: Entity
  let key: [Value]
}

extension Store {
  /// Where a change makes its object refer to new objects.
  func temporaryReferences(
    of member: PendingOperation, _ entity: Entity
  ) -> [TemporaryReference] {
    entity.relationships.compactMap { relationship in
      let positions = relationship.attributes.compactMap(entity.position(of:))
      let values = positions.compactMap { member.changed[$0] }
      // Few values are temporary keys: that is asked first.
      guard values.count == positions.count,
        zip(positions, values).contains(where: { entity.attributes[$0].type.isTemporaryKey($1) }),
        let target = model.entity(named: relationship.target), relationship.refers(byKeyOf: target),
        target.keyOrigin == .businessSystem
      else { return nil }
      return TemporaryReference(relationship: relationship, target: target, key: values)
    }
  }

  /// Refuses a change that refers to a new object which is no more: nobody will ever replace its
  /// temporary key, and no business system may see that.
  func checkReferences(
    _ member: PendingOperation, _ entity: Entity, _ connection: Connection
  ) throws(FerryError) {
    for reference in temporaryReferences(of: member, entity) {
      let target = reference.target
      let isThere = try sql { () throws(SQLiteError) in
        let create = try connection.value(
          "SELECT 1 FROM ferry_operation WHERE entity = ? AND key = ? AND kind = 'create' LIMIT 1",
          .text(target.name), .text(Key(reference.key).text))
        guard create == nil else { return true }
        return try self.rows(of: target).visible(connection, key: reference.key) != nil
      }
      guard !isThere else { continue }
      throw FerryError(
        .invalidChange,
        "the \(member.kind.rawValue) of \(entity.name) \(member.key) refers to a new "
          + "\(target.name) that is no more: its create was refused, and it was deleted",
        hint: "Let it refer to another one, or cancel it.", entity: entity.name,
        attribute: reference.relationship.attributes.first)
    }
  }
}
