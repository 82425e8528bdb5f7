import FerryCrypto
import FerryModel
import FerrySQLite

/// Objects that stay on the device: changed at once, never pending, never sent.
extension Store {
  func saveHere(_ change: LocalChange, _ connection: Connection) throws(FerryError) -> Record? {
    let entity = change.entity
    let rows = self.rows(of: entity)
    guard change.kind == .create || change.object != nil else {
      throw FerryError(
        .objectNotFound, "the \(entity.name) to \(change.kind.rawValue) is not on the device",
        hint: "Create it first.", entity: entity.name)
    }
    guard let object = change.object else {
      var values = change.after ?? []
      makeKey(entity, &values)
      let key = entity.key(of: values)
      let row = try sql { () throws(SQLiteError) -> VisibleRow? in
        guard try rows.visible(connection, key: key) == nil else { return nil }
        let object = try rows.insertClientOnly(connection, values: values)
        return try rows.visible(connection, object: object)
      }
      guard let row else {
        throw FerryError(
          .objectExists, "\(entity.name) \(key) is there already",
          hint: "Load it and update it, or choose another key.", entity: entity.name)
      }
      return Record(entity, store: self, row: row)
    }
    return try sql { () throws(SQLiteError) in
      guard var after = change.after else {
        try rows.deleteVisible(connection, object: object)
        try self.sweepContents(connection)
        return nil
      }
      // A copy in the app's hands may be older than what was written into a big value since.
      if !entity.bigPositions.isEmpty, let now = try rows.visible(connection, object: object) {
        for position in entity.bigPositions where after[position] == change.seen[position] {
          after[position] = now.values[position]
        }
      }
      try rows.updateClientOnly(connection, object: object, values: after)
      return try rows.visible(connection, object: object).map {
        Record(entity, store: self, row: $0)
      }
    }
  }

  /// A key that the device makes: a UUID of version 4, as RFC 9562 writes it.
  func makeKey(_ entity: Entity, _ values: inout [Value]) {
    guard entity.keyOrigin == .device, let position = entity.key.first, values[position].isNull
    else { return }
    var bytes = world.chance.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = hexadecimal(bytes)
    for place in [20, 16, 12, 8] {
      text.insert("-", at: text.index(text.startIndex, offsetBy: place))
    }
    values[position] = .text(text)
  }
}
