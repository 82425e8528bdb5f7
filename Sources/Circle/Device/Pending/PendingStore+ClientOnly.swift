import FerryCrypto
import FerryModel
import FerrySQLite

/// Objects that stay on the device: changed at once, never pending, never sent.
extension PendingStore {
  func saveHere(_ change: LocalChange) throws(FerryError) -> ObjectRecord? {
    let entity = change.entity
    let rows = store.rows(of: entity)
    guard change.kind != .create else { return try createHere(change) }
    let (object, before) = try present(change)
    guard let after = change.applied(to: before.values) else {
      try deleteParts(of: entity, before.values)
      try store.sql { () throws(SQLiteError) in
        try rows.deleteVisible(connection, object: object)
        try Contents(store).sweep(connection)
      }
      return nil
    }
    let key = entity.key(of: after)
    let row = try store.sql { () throws(SQLiteError) -> VisibleRow? in
      if let other = try rows.visible(connection, key: key), other.object != object { return nil }
      try rows.updateClientOnly(connection, object: object, values: after)
      return try rows.visible(connection, object: object)
    }
    guard let row else { throw taken(key, of: entity) }
    return ObjectRecord(entity, store: store, row: row)
  }

  private func createHere(_ change: LocalChange) throws(FerryError) -> ObjectRecord {
    let entity = change.entity
    let rows = store.rows(of: entity)
    var values = change.after ?? []
    makeKey(entity, &values)
    let key = entity.key(of: values)
    let row = try store.sql { () throws(SQLiteError) -> VisibleRow? in
      guard try rows.visible(connection, key: key) == nil else { return nil }
      try store.passSpent(entity, connection)
      let object = try rows.insertClientOnly(connection, values: values)
      return try rows.visible(connection, object: object)
    }
    guard let row else { throw taken(key, of: entity) }
    store.noteCreation(entity, row.object, isTemporary: false)
    return ObjectRecord(entity, store: store, row: row)
  }

  /// A key that the device makes: a UUID of version 4, as RFC 9562 writes it.
  func makeKey(_ entity: Entity, _ values: inout [AttributeValue]) {
    guard entity.keyOrigin == .device, let position = entity.key.first, values[position].isNull
    else { return }
    var bytes = store.world.chance.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = hexadecimal(bytes)
    for place in [20, 16, 12, 8] {
      text.insert("-", at: text.index(text.startIndex, offsetBy: place))
    }
    values[position] = .text(text)
  }
}
