import FerryModel
import FerrySQLite

/// Which objects an import may have to give a new key to that no index finds: their visible rows are
/// gone, or show what was changed since, and what waits of them or is on its way refers to the old
/// key.
///
/// The operations of an entity are read once for all keys of an import, not once for each.
final class HeldReferences {
  private struct Place: Hashable {
    let entity: String
    let position: Int
    let value: AttributeValue
  }

  private let operations: OperationTable
  private var read: Set<String> = []
  private var objects: [Place: Set<Int64>] = [:]

  init(_ store: Store, _ connection: Connection) {
    operations = OperationTable(store, connection)
  }

  /// The objects of `entity` that may have one of the `old` values where the `new` one is to stand.
  func objects(
    of entity: Entity, _ positions: [Int], from old: [AttributeValue], to new: [AttributeValue]
  ) throws(SQLiteError) -> Set<Int64> {
    if read.insert(entity.name).inserted { try read(entity) }
    var found: Set<Int64> = []
    for (index, position) in positions.enumerated() where old[index] != new[index] {
      let place = Place(entity: entity.name, position: position, value: old[index])
      found.formUnion(objects[place] ?? [])
    }
    return found
  }

  /// An operation refers to something else by now.
  func note(_ operation: PendingOperation, of entity: Entity) {
    guard read.contains(entity.name) else { return }
    for relationship in entity.relationships {
      for position in relationship.attributes.compactMap(entity.position(of:)) {
        for value in [operation.changed[position], operation.base[position]] {
          guard let value, !value.isNull else { continue }
          let place = Place(entity: entity.name, position: position, value: value)
          objects[place, default: []].insert(operation.object)
        }
      }
    }
  }

  /// Objects have other numbers by now: all is read again when it is asked for.
  func forget() {
    read = []
    objects = [:]
  }

  private func read(_ entity: Entity) throws(SQLiteError) {
    let held = try operations.select(
      """
      WHERE entity = ? AND (wanted > 0 OR NOT \(OperationTable.isUnsealed)
        OR object NOT IN (SELECT _id FROM \(Schema.table(entity))))
      """, [.text(entity.name)])
    for operation in held { note(operation, of: entity) }
  }
}
