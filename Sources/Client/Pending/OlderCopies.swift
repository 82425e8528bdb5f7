import FerryModel
import FerrySQLite

/// What the app saves from a copy that is older than a key.
extension Store {
  /// The same change with the keys that objects have now: a copy in the app's hands may still have the
  /// temporary key of an object that the business system gave a key meanwhile. Both what the app saw
  /// and what it wants, so that the new key is no change of the app's.
  func followed(
    _ change: LocalChange, _ connection: Connection
  ) throws(FerryError) -> LocalChange {
    try sql { () throws(SQLiteError) in
      var followed = change
      try self.followKeys(&followed.seen, of: change.entity, connection)
      guard var after = change.after else { return followed }
      try self.followKeys(&after, of: change.entity, connection)
      followed.after = after
      return followed
    }
  }

  /// Every reference by a temporary key that was replaced is one by the key that replaced it.
  private func followKeys(
    _ values: inout [Value], of entity: Entity, _ connection: Connection, depth: Int = 0
  ) throws(SQLiteError) {
    // A part of a part of a part: a model that goes deeper than this goes in a circle.
    guard depth < 16 else { return }
    for relationship in entity.relationships {
      let positions = relationship.attributes.compactMap(entity.position(of:))
      guard positions.allSatisfy(values.indices.contains), !positions.isEmpty,
        let target = model.entity(named: relationship.target),
        relationship.targetAttributes == target.key.map({ target.attributes[$0].name }),
        positions.count == target.key.count,
        zip(target.key, positions).contains(where: { part, position in
          values[position].isTemporaryKey(of: target.attributes[part].type)
        })
      else { continue }
      let alias = try connection.value(
        "SELECT object FROM ferry_alias WHERE entity = ? AND old_key = ?", .text(target.name),
        .text(Key(positions.map { values[$0] }).text))
      guard let object = alias?.integer else {
        // It never had another key itself: what its key has of its owner's may be replaced.
        var key = [Value](repeating: .null, count: target.attributes.count)
        for (position, part) in zip(positions, target.key) { key[part] = values[position] }
        try followKeys(&key, of: target, connection, depth: depth + 1)
        for (position, part) in zip(positions, target.key) { values[position] = key[part] }
        continue
      }
      let rows = self.rows(of: target)
      // Its delete may be pending: then its image alone has the key.
      var known = try rows.visible(connection, object: object)?.values
      if known == nil { known = try rows.original(connection, object: object)?.values }
      guard let known else { continue }
      for (position, part) in zip(positions, target.key) { values[position] = known[part] }
    }
  }
}

extension Value {
  /// Whether it is from the place that no business system uses; see `Store.temporaryValue`.
  fileprivate func isTemporaryKey(of type: AttributeType) -> Bool {
    switch (type, self) {
    case (.byte, .integer(let number)): number < Int64(Int8.min / 2)
    case (.short, .integer(let number)): number < Int64(Int16.min / 2)
    case (.int, .integer(let number)): number < Int64(Int32.min / 2)
    case (.long, .integer(let number)): number < Int64.min / 2
    case (.integer, .text(let text)), (.decimal, .text(let text)):
      Int64(text).map { $0 < Int64.min / 2 } ?? false
    case (_, .text(let text)): text.hasPrefix("~")
    default: false
    }
  }
}
