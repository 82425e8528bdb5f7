import Ferry
import FerryModel
import FerrySQLite
import FerryWorld
import Foundation

/// A folder with the database of another product, a mapping, a model, and a device's database.
final class OldProduct {
  static let model = """
    {
      "name": "Visits", "version": "1.0", "groups": ["default"],
      "entities": [
        {
          "name": "Customer", "table": "customers", "group": "default",
          "attributes": [
            { "name": "code", "column": "code", "type": "string" },
            { "name": "name", "column": "name", "type": "string", "maxLength": 20 },
            { "name": "since", "column": "since", "type": "date", "nullable": true }
          ],
          "key": ["code"], "keyOrigin": "app", "operations": ["create", "update"]
        },
        {
          "name": "Visit", "table": "visits", "group": "default",
          "attributes": [
            { "name": "visitID", "column": "id", "type": "long" },
            { "name": "customer", "column": "customer", "type": "string" },
            { "name": "town", "column": "town", "type": "string", "nullable": true }
          ],
          "key": ["visitID"], "keyOrigin": "businessSystem",
          "relationships": [
            { "name": "of", "target": "Customer", "attributes": ["customer"], "targetAttributes": ["code"] }
          ],
          "operations": ["create", "update", "delete"]
        },
        {
          "name": "Note", "table": "notes", "group": "default",
          "attributes": [
            { "name": "noteID", "column": "id", "type": "long" },
            { "name": "text", "column": "text", "type": "string" },
            { "name": "visit", "column": "visit", "type": "long", "nullable": true }
          ],
          "key": ["noteID"], "keyOrigin": "businessSystem",
          "relationships": [
            { "name": "about", "target": "Visit", "attributes": ["visit"], "targetAttributes": ["visitID"] }
          ],
          "operations": ["create", "update", "delete"]
        }
      ]
    }
    """

  static let mapping = """
    {
      "outbox": {
        "table": "ps_crud", "order": "id", "transaction": "tx_id", "json": "data",
        "operation": "op", "type": "type", "key": "id", "values": "data",
        "operations": { "PUT": "create", "PATCH": "update", "DELETE": "delete", "UPSERT": "save" }
      },
      "types": {
        "customers": {
          "entity": "Customer", "key": "id",
          "columns": { "code": "code", "name": "name", "since": "since", "seen": null }
        },
        "visits": {
          "entity": "Visit", "key": "id",
          "columns": { "number": "visitID", "customer_id": "customer", "town": "town" },
          "refers": { "customer_id": "customers" }
        },
        "notes": {
          "entity": "Note", "key": "id",
          "columns": { "id": "noteID", "text": "text", "visit_id": "visit" },
          "refers": { "visit_id": "visits" }
        }
      }
    }
    """

  let folder: URL
  let package: Package
  private let key: DatabaseKey?

  init(key: DatabaseKey? = nil) throws {
    self.key = key
    folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let reading = ModelReader.read(Array(OldProduct.model.utf8), file: "model.json")
    guard let read = reading.package else { throw CocoaError(.fileReadCorruptFile) }
    package = read
    try write(OldProduct.model, "model.json")
    try write(OldProduct.mapping, "map.json")
    try makeOld()
    try makeDevice()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String) -> String { folder.appending(path: name).path }

  func write(_ text: String, _ name: String) throws {
    try text.write(toFile: path(name), atomically: true, encoding: .utf8)
  }

  /// All files but those that SQLite has beside an open database.
  func bytes(_ names: String...) throws -> [Data] {
    try names.map { try Data(contentsOf: folder.appending(path: $0)) }
  }

  private func makeOld() throws {
    let old = try Connection(path: path("old.db"))
    try old.execute(
      """
      CREATE TABLE customers (id TEXT PRIMARY KEY, code TEXT, name TEXT, since TEXT, seen INTEGER);
      CREATE TABLE visits (id TEXT PRIMARY KEY, number INTEGER, customer_id TEXT, town TEXT);
      CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, visit_id TEXT);
      CREATE TABLE ps_crud (id INTEGER PRIMARY KEY, tx_id INTEGER, data TEXT);
      INSERT INTO customers VALUES ('c-2', 'GRACE', 'Grace Hopper', NULL, 1), ('c-1', 'NEW', 'Niels', '2020-01-31', 0);
      INSERT INTO visits VALUES ('v-2', 31, 'c-2', 'Bonn'), ('v-1', NULL, 'c-1', 'Oslo');
      INSERT INTO notes VALUES (7, 'seen', 'v-2'), (9001, 'new', 'v-1');
      """)
  }

  private func makeDevice() throws {
    let store = try open()
    defer { store.close() }
    let rows: [(String, [AttributeValue])] = [
      ("Customer", [.text("GRACE"), .text("Grace"), .null]),
      ("Visit", [.integer(31), .text("GRACE"), .text("Bonn")]),
      ("Note", [.integer(7), .text("old"), .integer(31)]),
      ("Note", [.integer(8), .text("gone"), .integer(31)]),
    ]
    for (name, values) in rows {
      guard let entity = package.entity(named: name) else { continue }
      try store.insertSample(values, of: entity)
    }
  }

  func open() throws -> Store {
    try Store(
      path: path("device.db"), model: package, world: .system(), durability: .application,
      key: key)
  }

  /// Adds entries as PowerSync keeps them.
  func enter(_ entries: (transaction: Int64?, data: String)...) throws {
    let old = try Connection(path: path("old.db"))
    for entry in entries {
      try old.run(
        "INSERT INTO ps_crud (tx_id, data) VALUES (?, ?)", .optional(entry.transaction),
        .text(entry.data))
    }
  }

  /// Runs `ferry takeover` with the files of the folder.
  func run(_ more: String..., file: String = "old.db") throws -> (code: Int32, said: String) {
    try FerryProgram.run(
      ["takeover", path(file), "--map", path("map.json"), "--model", path("model.json")]
        + ["--device", path("device.db")] + more)
  }

  /// The pending objects of an entity, as `create NEW Niels 2020-01-31`, with `sent` where submitted.
  func pending(_ name: String) throws -> [String] {
    let store = try open()
    defer { store.close() }
    guard let entity = package.entity(named: name) else { return [] }
    return try PendingObjects(store).all(entity, nil, .all, skip: 0, take: nil).map { record in
      let values = record.values.map { value in
        if case .text(let text) = value { text } else { value.shown }
      }
      let change =
        record.deleted ? "delete" : record.pending == .create ? "create" : "update"
      return ([change] + values).joined(separator: " ")
    }
  }
}
