import FerryCrypto
import FerryJSON
import FerryModel
import FerrySQLite
import Synchronization

/// What transactions changed, told from process to process over the database they share.
///
/// Each transaction of a database that is shared leaves a row behind, with the visible rows it
/// changed, before and after; the others look for rows that are new. So a live query of one process
/// runs again for a change of another exactly where it would for its own.
final class SharedChanges: Sendable {
  /// Rows that are kept: whoever has missed more reads everything again.
  static let kept: Int64 = 200
  /// Of one transaction, in bytes; a larger one is told as "everything".
  static let contentLimit = 256 << 10

  static let statement = """
    CREATE TABLE IF NOT EXISTS ferry_shared_change (
      number INTEGER PRIMARY KEY AUTOINCREMENT, process TEXT NOT NULL, content TEXT NOT NULL)
    """

  private let model: Package
  private let process: String
  private let seen: Mutex<Int64>

  init(_ model: Package, process: String, _ connection: Connection) throws(SQLiteError) {
    self.model = model
    self.process = process
    seen = Mutex(try SharedChanges.last(connection))
  }

  private static func last(_ connection: Connection) throws(SQLiteError) -> Int64 {
    try connection.value("SELECT max(number) FROM ferry_shared_change")?.integer ?? 0
  }

  /// Inside the transaction that made these changes.
  func leave(_ changes: RowChanges, _ connection: Connection) throws(SQLiteError) {
    guard !changes.entities.isEmpty else { return }
    try connection.run(
      "INSERT INTO ferry_shared_change (process, content) VALUES (?, ?)", .text(process),
      .text(text(of: changes)))
    try connection.run(
      "DELETE FROM ferry_shared_change WHERE number <= ?",
      .integer(connection.lastInsertRowID - SharedChanges.kept))
  }

  /// Leaves no values behind: whoever has not looked yet reads everything again.
  static func forgetContents(_ connection: Connection) throws(SQLiteError) {
    try connection.run("UPDATE ferry_shared_change SET content = ''")
  }

  /// What other processes changed since this was asked last.
  func take(_ connection: Connection) throws(SQLiteError) -> RowChanges {
    let before = seen.withLock { $0 }
    let rows = try connection.rows(
      "SELECT number, process, content FROM ferry_shared_change WHERE number > ? ORDER BY number",
      .integer(before))
    guard let last = rows.last?[0].integer else { return RowChanges() }
    seen.withLock { $0 = max($0, last) }
    var changes = RowChanges()
    guard rows.first?[0].integer == before + 1 else {
      for entity in model.entities { changes.entities[entity.name] = .all }
      return changes
    }
    for row in rows where row[1].text != process {
      changes.add(read(row[2].text ?? "{}"))
    }
    return changes
  }

  // The form: by entity, true for everything, or an array of object, before, after.

  private func text(of changes: RowChanges) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, extent) in changes.entities.sorted(by: { $0.key < $1.key }) {
      writer.key(name)
      guard case .rows(let rows) = extent, let bytes = bytes(of: rows) else {
        writer.boolean(true)
        continue
      }
      writer.raw(bytes)
    }
    writer.endObject()
    return writer.text
  }

  private func bytes(of rows: [RowChange]) -> [UInt8]? {
    var writer = JSONWriter()
    writer.beginArray()
    for row in rows {
      writer.beginArray()
      writer.integer(row.object)
      for values in [row.before, row.after] {
        if let values { writer.raw(RowCoder.encode(values)) } else { writer.null() }
      }
      writer.endArray()
      if writer.bytes.count > SharedChanges.contentLimit { return nil }
    }
    writer.endArray()
    return writer.bytes
  }

  /// What cannot be read, as that of another model, is everything.
  private func read(_ text: String) -> RowChanges {
    var bytes = Array(text.utf8)
    let read = bytes.withUnsafeMutableBufferPointer { buffer in
      var scanner = JSONScanner(UnsafeBufferPointer(buffer))
      return try? changes(&scanner)
    }
    guard let read else {
      return RowChanges(
        entities: [String: RowChanges.Extent](
          uniqueKeysWithValues: model.entities.map { ($0.name, .all) }))
    }
    return read
  }

  private func changes(_ scanner: inout JSONScanner) throws(JSONError) -> RowChanges {
    var changes = RowChanges()
    try scanner.enterObject()
    while let name = try scanner.nextKey() {
      guard let entity = model.entity(named: name), try scanner.peek() == .array else {
        try scanner.skipValue()
        if model.entity(named: name) != nil { changes.entities[name] = .all }
        continue
      }
      let types = entity.attributes.map(\.type)
      var rows: [RowChange] = []
      try scanner.enterArray()
      while try scanner.nextElement() { rows.append(try row(&scanner, types)) }
      changes.entities[name] = .rows(rows)
    }
    return changes
  }

  private func row(
    _ scanner: inout JSONScanner, _ types: [AttributeType]
  ) throws(JSONError) -> RowChange {
    var parts: [[AttributeValue]?] = []
    try scanner.enterArray()
    _ = try scanner.nextElement()
    let object = try scanner.integer()
    while try scanner.nextElement() {
      let isMissing = try scanner.peek() == .null
      parts.append(isMissing ? nil : try scanner.row(types: types))
      if isMissing { try scanner.skipValue() }
    }
    guard parts.count == 2 else { throw scanner.failure("a change is not a row before and after") }
    return RowChange(object: object, before: parts[0], after: parts[1])
  }
}

extension Store {
  /// Tells other processes of what this one changes, and hears of what they change.
  package func share() throws(FerryError) {
    rowWatch.watch(model.entities.map(\.name))
    let shared = try read { connection throws(SQLiteError) in
      try SharedChanges(
        self.model, process: hexadecimal(self.world.chance.bytes(16)), connection)
    }
    sharing.withLock { $0 = shared }
    listen(shared)
    telling.withLock { $0 = ProcessLease(database: path, for: .telling) }
  }

  /// Whether this process may make the callbacks that are owed; false while another makes them.
  package func beginTelling() throws(FerryError) -> Bool {
    try telling.withLock { $0 }?.take() ?? true
  }

  package func endTelling() { telling.withLock { $0 }?.release() }

  /// Tells those who watch here of what other processes changed; asked again and again. Costs one
  /// look into a table that is nearly empty.
  package func hearOthers() throws(FerryError) {
    guard let shared = sharing.withLock({ $0 }) else { return }
    let changes = try read { connection throws(SQLiteError) in try shared.take(connection) }
    rowWatch.tell(changes)
  }
}
