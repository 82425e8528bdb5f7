import FerryModel
import FerrySQLite

/// A reference of a change to an object by its key.
private struct KeyReference {
  let relationship: Relationship
  let target: Entity
  let key: [Value]
  /// The device has given the key, and the business system will give another one.
  let isTemporary: Bool
}

extension Store {
  /// Where a change makes its object refer to objects that may be new.
  private func references(of member: PendingOperation, _ entity: Entity) -> [KeyReference] {
    entity.relationships.compactMap { relationship in
      let positions = relationship.attributes.compactMap(entity.position(of:))
      let values = positions.compactMap { member.changed[$0] }
      guard values.count == positions.count, !values.contains(.null),
        let target = model.entity(named: relationship.target), relationship.refers(byKeyOf: target)
      else { return nil }
      guard target.keyOrigin == .businessSystem else {
        return KeyReference(
          relationship: relationship, target: target, key: values, isTemporary: false)
      }
      // What has its final key is there. Few values are temporary keys.
      let isTemporary = zip(positions, values)
        .contains { entity.attributes[$0].type.isTemporaryKey($1) }
      guard isTemporary else { return nil }
      return KeyReference(
        relationship: relationship, target: target, key: values, isTemporary: true)
    }
  }

  /// One in flight per object, and nothing that depends on an unanswered operation outside its own
  /// chain: what refers to a new object waits for its create, whoever gave the key, and the delete of
  /// an object for what referred to it. Returns the places of those that must end first, 0 where the
  /// one that gives the key is not here.
  func awaited(
    by member: PendingOperation, besides own: Set<Int64>, _ connection: Connection
  ) throws(SQLiteError) -> Set<Int64> {
    guard let entity = model.entity(named: member.entity) else { return [] }
    var awaited: Set<Int64> = []
    let earlier = try connection.value(
      "SELECT max(sequence) FROM ferry_operation WHERE entity = ? AND object = ? AND sequence < ?",
      .text(member.entity), .integer(member.object), .integer(member.sequence))
    if let earlier = earlier?.integer {
      awaited.insert(earlier)
    } else if member.kind != .create && member.isTemporary {
      awaited.insert(0)
    }
    for reference in references(of: member, entity)
    where reference.isTemporary || !world.has(.referenceAhead) {
      let creates = try connection.rows(
        """
        SELECT sequence FROM ferry_operation WHERE entity = ? AND key = ? AND temporary = ?
        AND kind = 'create'
        """, .text(reference.target.name), .text(Key(reference.key).text),
        .flag(reference.isTemporary))
      for create in creates.compactMap({ $0[0].integer }) where !own.contains(create) {
        // Two new objects may refer to each other: one of them goes first.
        if !reference.isTemporary, try waits(create, for: own, connection) { continue }
        awaited.insert(create)
      }
    }
    guard member.kind == .delete, let key = member.key.values(of: entity) else { return awaited }
    for leaving in try leavers(entity, key, connection) where !own.contains(leaving) {
      if try !waits(leaving, for: own, connection) { awaited.insert(leaving) }
    }
    return awaited
  }

  /// The places of the operations that end a reference to an object: deletes, and updates that lead
  /// elsewhere.
  private func leavers(
    _ entity: Entity, _ key: [Value], _ connection: Connection
  ) throws(SQLiteError) -> [Int64] {
    var found: [Int64] = []
    for child in model.entities where !child.isClientOnly {
      for relationship in child.relationships where relationship.refers(byKeyOf: entity) {
        let names = relationship.attributes.map { "'$.\(quoted($0))'" }
        let leads = names.map { "json_type(changed, \($0)) IS NOT NULL" }
        let led = names.map { "json_extract(base, \($0)) = ?" }
        // Where it led for the app, and where it leads for the business system.
        found += try connection.rows(
          """
          SELECT sequence FROM ferry_operation
          WHERE entity = ? AND (kind = 'delete' OR \(leads.joined(separator: " OR ")))
          AND (\(led.joined(separator: " AND ")) OR EXISTS (
            SELECT 1 FROM \(Schema.original(child))
            WHERE _id = ferry_operation.object AND \(matching(relationship.attributes))))
          """, [.text(child.name)] + (key + key).map(\.stored)
        ).compactMap { $0[0].integer }
      }
    }
    return found
  }

  /// Whether an operation waits for one of `own` itself, or as one with others, or through others.
  private func waits(
    _ sequence: Int64, for own: Set<Int64>, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    try connection.rows(
      """
      WITH RECURSIVE before (place) AS (
        SELECT ?1 UNION
        SELECT awaited FROM before JOIN ferry_operation AS met ON met.sequence = place
        JOIN ferry_operation AS one ON one.chain = met.chain
        JOIN ferry_wait ON ferry_wait.sequence = one.sequence)
      SELECT place FROM before WHERE place <> ?1
      """, .integer(sequence)
    ).contains { row in row[0].integer.map(own.contains) ?? false }
  }

  /// Refuses a change that refers to a new object which is no more: nobody will ever replace its
  /// temporary key, and no business system may see that.
  func checkReferences(
    _ member: PendingOperation, _ entity: Entity, _ connection: Connection
  ) throws(FerryError) {
    for reference in references(of: member, entity) where reference.isTemporary {
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
