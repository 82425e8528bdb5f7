import FerryModel
import FerrySQLite

/// References from what stays on the device to the temporary keys of new objects.
///
/// They follow the key that the business system gives (`Rekey`). Where it will never give one they
/// are null, if they may be: nothing of such an object is pending that could be taken back, and
/// nothing of it goes. One that may not be null, or is a key itself, stays, and leads to nothing, as
/// one to an object that was deleted.
struct LocalReferences {
  /// The model whose tables the database has.
  let model: Package
  let connection: Connection

  /// Returns the objects that referred to it.
  @discardableResult
  func forget(
    _ key: [AttributeValue], of entity: Entity
  ) throws(SQLiteError) -> [(entity: Entity, object: Int64)] {
    var referring: [(Entity, Int64)] = []
    for child in model.entities where child.isClientOnly {
      for relationship in child.relationships where relationship.refers(byKeyOf: entity) {
        let test = matching(relationship.attributes)
        let table = Schema.table(child)
        let found = try connection.rows("SELECT _id FROM \(table) WHERE \(test)", key.map(\.stored))
        referring += found.compactMap { row in row[0].integer.map { (child, $0) } }
        let positions = relationship.attributes.compactMap(child.position(of:))
        guard !found.isEmpty, !positions.contains(where: child.key.contains),
          positions.allSatisfy({ child.attributes[$0].isNullable })
        else { continue }
        let nulls = relationship.attributes.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
        try connection.run("UPDATE \(table) SET \(nulls) WHERE \(test)", key.map(\.stored))
      }
    }
    return referring
  }

  /// The same for the new objects of an entity that nobody has answered yet, or for one of them.
  func forgetCreates(of entity: Entity, _ object: Int64? = nil) throws(SQLiteError) {
    let creates = try connection.rows(
      """
      SELECT key FROM ferry_operation
      WHERE entity = ?1 AND kind = 'create' AND temporary = 1 AND (?2 IS NULL OR object = ?2)
      """, .text(entity.name), .optional(object))
    for create in creates {
      guard let key = create[0].text.map(ObjectKey.init(text:))?.values(of: entity) else {
        continue
      }
      try forget(key, of: entity)
    }
  }

  /// The same for every new object that nobody has answered yet.
  func forgetAll() throws(SQLiteError) {
    let children = model.entities.filter(\.isClientOnly)
    for entity in model.entities where entity.keyOrigin == .businessSystem {
      let isReferredTo = children.contains { child in
        child.relationships.contains { $0.refers(byKeyOf: entity) }
      }
      if isReferredTo { try forgetCreates(of: entity) }
    }
  }
}
