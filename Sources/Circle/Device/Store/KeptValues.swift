import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// Values of attributes that stay on the device, kept while their objects are away: from
/// `cleanAllData` until the objects are downloaded again, under their business keys; and from a
/// delete of what has no image yet, since its create is on its way, under their surrogate keys.
struct KeptValues {
  let store: Store

  static let statement = """
    CREATE TABLE IF NOT EXISTS ferry_kept (
      entity TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (entity, key))
    """

  /// Keeps what the downloaded objects have, those with a pending delete too. What was only ever
  /// here has no business key to come back under.
  func keep(_ connection: Connection) throws(SQLiteError) {
    try connection.execute("DELETE FROM ferry_kept WHERE key LIKE '#%'")
    for entity in store.model.entities
    where !entity.isClientOnly && entity.servedCount < entity.attributes.count {
      let rows = store.rows(of: entity)
      for row in try rows.visibleRows(connection, "WHERE _pending <> 'C'", []) {
        try keep(entity, row.values, connection)
      }
      let hidden = try connection.rows(
        """
        SELECT _id FROM \(Schema.original(entity))
        WHERE _id NOT IN (SELECT _id FROM \(Schema.table(entity)))
        """)
      for object in hidden.compactMap({ $0[0].integer }) {
        guard let row = try rows.original(connection, object: object) else { continue }
        try keep(entity, row.values, connection)
      }
    }
  }

  /// Keeps what a hidden object has, which neither an image nor an operation knows.
  func keepHidden(
    _ entity: Entity, _ object: Int64, _ values: [AttributeValue], _ connection: Connection
  ) throws(SQLiteError) {
    guard entity.servedCount < entity.attributes.count else { return }
    try keep(entity, values, under: hiddenKey(object), connection)
  }

  /// What was kept of an object that is shown again, or is gone for good; it is not kept any longer.
  func takeHidden(
    _ entity: Entity, _ object: Int64, _ connection: Connection
  ) throws(SQLiteError) -> [Int: AttributeValue] {
    guard entity.servedCount < entity.attributes.count,
      let content = try connection.value(
        "DELETE FROM ferry_kept WHERE entity = ? AND key = ? RETURNING content",
        .text(entity.name), .text(hiddenKey(object)))
    else { return [:] }
    return values(content.text ?? "{}", of: entity)
  }

  /// No business key begins like this.
  private func hiddenKey(_ object: Int64) -> String { "#\(object)" }

  private func values(_ text: String, of entity: Entity) -> [Int: AttributeValue] {
    let values = Array(text.utf8).withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      return try? scanner.values(of: entity)
    }
    return (values ?? [:]).filter { $0.key >= entity.servedCount }
  }

  private func keep(
    _ entity: Entity, _ values: [AttributeValue], under key: String? = nil, _ connection: Connection
  ) throws(SQLiteError) {
    var writer = JSONWriter()
    let own = (entity.servedCount..<entity.attributes.count).filter { position in
      values[position] != (entity.attributes[position].defaultValue ?? .null)
    }
    guard !own.isEmpty else { return }
    writer.values(
      Dictionary(uniqueKeysWithValues: own.map { ($0, values[$0]) }), of: entity)
    try connection.run(
      "INSERT OR REPLACE INTO ferry_kept (entity, key, content) VALUES (?, ?, ?)",
      .text(entity.name), .text(key ?? entity.key(of: values).text), .text(writer.text))
  }

  /// Gives the objects of an entity that are here again what was kept of them.
  func giveBack(to entity: Entity, _ connection: Connection) throws(SQLiteError) {
    let kept = try connection.rows(
      "SELECT key, content FROM ferry_kept WHERE entity = ?", .text(entity.name))
    let rows = store.rows(of: entity)
    for row in kept {
      let key = ObjectKey(text: row[0].text ?? "")
      guard var object = try rows.visible(connection, key: key) else { continue }
      for (position, value) in values(row[1].text ?? "{}", of: entity) {
        object.values[position] = value
      }
      try rows.updateClientOnly(connection, object: object.object, values: object.values)
      try connection.run(
        "DELETE FROM ferry_kept WHERE entity = ? AND key = ?", .text(entity.name), row[0])
    }
  }

  static func isEmpty(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.value("SELECT 1 FROM ferry_kept LIMIT 1") == nil
  }
}
