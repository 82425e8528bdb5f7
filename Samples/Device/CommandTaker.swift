import Ferry
import FerryJSON
import FerryModel
import FerrySQLite
import FerryText

/// Performs one command after the other: `["update", "Order", "[1]", {"city": "Kiel"}]`.
struct CommandTaker {
  let database: FerryDatabase
  let package: Package
  let output: Output
  let telemetry: Telemetry

  /// False when the command was to end.
  func take(_ line: String) async -> Bool {
    do {
      let words = try words(line)
      if words.first?.string == "quit" {
        output.write { $0.field("ok", true) }
        return false
      }
      try await perform(words)
    } catch let error as FerryError {
      output.write { writer in
        writer.field("ok", false)
        writer.field("code", error.code.rawValue)
        writer.field("message", error.message)
        writer.field("hint", error.hint)
      }
    } catch {
      output.write { writer in
        writer.field("ok", false)
        writer.field("message", "\(error)")
      }
    }
    return true
  }

  private func words(_ line: String) throws -> [JSONNode] {
    try JSONNode.parse(Array(line.utf8)).array ?? []
  }

  private func perform(_ words: [JSONNode]) async throws {
    let name = words.first?.string ?? ""
    switch name {
    case "login":
      try await database.onlineLogin(
        user: try text(words, 1), password: try text(words, 2))
    case "loginByToken": try await database.onlineLogin()
    case "register":
      try database.updateSynchronizationProfile { [user = try text(words, 1)] in $0.user = user }
      try await database.registerApplication(
        activationCode: try text(words, 2), within: .seconds(30))
    case "unregister": try await database.unregisterApplication()
    case "logout": try await database.logout()
    case "setting":
      let value = try database.applicationSettings.text(try text(words, 1))
      output.write { writer in
        writer.field("ok", true)
        writer.field("value", value)
      }
      return
    case "subscribe": try database.subscribe()
    case "start": database.startBackgroundSynchronization()
    case "stop": database.stopBackgroundSynchronization()
    case "synchronize": try await database.synchronize()
    case "begin":
      try await begin(words)
      return
    case "beginTrace":
      let id = try telemetry.begin()
      output.write { writer in
        writer.field("ok", true)
        writer.field("trace", id)
      }
      return
    case "endTrace": try await telemetry.end(database)
    case "entries":
      let count = try await telemetry.entries(of: try text(words, 2), at: try text(words, 1))
      output.write { writer in
        writer.field("ok", true)
        writer.field("count", count)
      }
      return
    case "network": database.networkIsBack()
    case "adopt": try await database.adoptServer()
    case "submitAll": try database.submitPendingOperations()
    case "cancelAll": try database.cancelPendingOperations()
    case "current":
      try await current()
      return
    case "pending":
      try listPending()
      return
    case "count":
      let entity = try entity(words)
      let count = try Records(database.store).count(entity)
      output.write { writer in
        writer.field("ok", true)
        writer.field("count", count)
      }
      return
    case "watch":
      watch(try entity(words))
    case "dump":
      try dump(try entity(words))
      return
    case "copyFrom", "copyTo", "length", "walk":
      let key = ObjectKey(text: String(try text(words, 2).dropFirst().dropLast()))
      let file = name == "length" ? "" : try text(words, 4)
      guard let record = try Records(database.store).of(try entity(words), key: key) else {
        throw Problem("\(key) is not here")
      }
      try await onBigValue(name, record, try text(words, 3), file)
      return
    case "show", "find", "create", "update", "delete", "submit", "cancel", "logs":
      try onObject(name, words)
      return
    default: throw Problem("the command \(name) is not known")
    }
    output.write { $0.field("ok", true) }
  }

  /// Whether what is here is what the business system has now, and as of when.
  private func current() async throws {
    let state = try await database.current(within: .seconds(30))
    output.write { writer in
      writer.field("ok", true)
      guard case .stale(let reason, let asOf) = state else {
        return writer.field("state", "current")
      }
      writer.field("state", "stale")
      writer.field("reason", reason.rawValue)
      writer.field("asOf", asOf.map { Timestamp($0).milliseconds })
    }
  }

  /// `["begin", ["orders"], "evening", true]`: a session of groups, with a context, upload-only or not.
  /// The statuses are events; the answer is its end.
  private func begin(_ words: [JSONNode]) async throws {
    let groups = try node(words, 1).array?.compactMap(\.string) ?? []
    let isUploadOnly = words.count > 3 && words[3].boolean == true
    let session = try database.beginSynchronize(
      groups: groups, context: words.count > 2 ? words[2].string : nil, uploadOnly: isUploadOnly)
    try await session.value
    output.write { $0.field("ok", true) }
  }

  private func onObject(_ name: String, _ words: [JSONNode]) throws {
    let entity = try entity(words)
    if name == "create" {
      var record = ObjectRecord(entity, in: database)
      try set(&record, try node(words, 2))
      try answer(try PendingStore.save(try record.change(.create), in: database.store))
      return
    }
    let key = ObjectKey(text: String(try text(words, 2).dropFirst().dropLast()))
    guard var record = try record(entity, key, for: name), let object = record.object else {
      if name == "find" || name == "show" {
        output.write { writer in
          writer.field("ok", true)
          writer.field("found", false)
        }
        return
      }
      throw Problem("\(entity.name) \(key) is not here")
    }
    switch name {
    case "update":
      try set(&record, try node(words, 3))
      try answer(try PendingStore.save(try record.change(.update), in: database.store))
    case "delete":
      _ = try PendingStore.save(try record.change(.delete), in: database.store)
      output.write { $0.field("ok", true) }
    case "submit":
      _ = try Outbox(database.store).submit(entity, object)
      output.write { $0.field("ok", true) }
    case "cancel":
      _ = try PendingStore.cancel(entity, object, in: database.store)
      output.write { $0.field("ok", true) }
    case "logs":
      let records = try LogRecords(database.store).select(
        "WHERE entity = ? AND object = ?", [.text(entity.name), .integer(object)])
      output.write { writer in
        writer.field("ok", true)
        writer.key("records")
        writer.array(records) { $0.logRecord($1) }
      }
    default: try answer(record)
    }
  }

  private func answer(_ record: ObjectRecord?) throws {
    output.write { writer in
      writer.field("ok", true)
      writer.field("found", record != nil)
      guard let record else { return }
      writer.field("key", record.key.text)
      writer.field("pending", record.pending.rawValue)
      writer.field("failed", record.failed)
      writer.key("values")
      writer.values(
        Dictionary(
          uniqueKeysWithValues: record.values.enumerated().map { ($0.offset, $0.element) }),
        of: record.entity)
    }
  }

  /// A pending delete hides its object: it is found to be submitted or cancelled.
  private func record(
    _ entity: Entity, _ key: ObjectKey, for command: String
  ) throws -> ObjectRecord? {
    if let record = try Records(database.store).of(entity, key: key) { return record }
    guard ["submit", "cancel", "logs"].contains(command) else { return nil }
    return try PendingObjects(database.store).all(entity, .delete, .all, skip: 0, take: nil)
      .first { $0.key == key }
  }

  /// Every pending operation in the order of the changes, with how many log records tell of it.
  private func listPending() throws {
    let store = database.store
    let operations = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try OperationTable(store, connection).select("ORDER BY sequence", [])
      }
    }
    let listed = try operations.map { operation in
      let records = try LogRecords(store).select(
        "WHERE entity = ? AND object = ?", [.text(operation.entity), .integer(operation.object)])
      return (operation, records.count)
    }
    output.write { writer in
      writer.field("ok", true)
      writer.key("operations")
      writer.array(listed) { writer, listed in
        writer.beginObject()
        writer.field("entity", listed.0.entity)
        writer.field("key", listed.0.key.text)
        writer.field("id", listed.0.id.text)
        writer.field("kind", listed.0.kind.rawValue)
        writer.field("state", listed.0.state.rawValue)
        writer.field("logs", listed.1)
        if let entity = package.entity(named: listed.0.entity) {
          writer.key("changed")
          writer.values(listed.0.changed, of: entity)
        }
        writer.endObject()
      }
    }
  }

  /// Writes down how many objects there are, now and whenever one of them changes.
  private func watch(_ entity: Entity) {
    let rows = database.live(RowQuery(from: entity.name))
    Task { [output] in
      do {
        for try await rows in rows {
          output.write { writer in
            writer.field("event", "live")
            writer.field("entity", entity.name)
            writer.field("count", rows.count)
          }
        }
      } catch {
        output.write { writer in
          writer.field("event", "watchEnded")
          writer.field("message", "\(error)")
        }
      }
    }
  }

  /// Every visible row in its canonical form, by key.
  private func dump(_ entity: Entity) throws {
    let records = try Records(database.store).all(entity, "", []).sorted {
      $0.key.text < $1.key.text
    }
    output.write { writer in
      writer.field("ok", true)
      writer.key("rows")
      writer.array(records) { writer, record in writer.row(record.values) }
    }
  }

  private func set(_ record: inout ObjectRecord, _ node: JSONNode) throws {
    for member in node.object ?? [] {
      guard let position = record.entity.position(of: member.key) else {
        throw Problem("\(record.entity.name) has no attribute \(member.key)")
      }
      record.values[position] = value(member.value, record.entity.attributes[position].type)
    }
  }

  private func value(_ node: JSONNode, _ type: AttributeType) -> AttributeValue {
    switch node.content {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .number(let text):
      if type == .decimal {
        .text(text)
      } else if type == .double || type == .float {
        .double(Double(text) ?? 0)
      } else {
        .integer(Int64(text) ?? 0)
      }
    case .string(let text): type == .binary ? .bytes(Base64.decode(text) ?? []) : .text(text)
    case .array, .object: .null
    }
  }

  private func entity(_ words: [JSONNode]) throws -> Entity {
    let name = try text(words, 1)
    guard let entity = package.entity(named: name) else {
      throw Problem("the package \(package.id) has no entity \(name)")
    }
    return entity
  }

  private func node(_ words: [JSONNode], _ index: Int) throws -> JSONNode {
    guard words.indices.contains(index) else { throw Problem("word \(index) is missing") }
    return words[index]
  }

  private func text(_ words: [JSONNode], _ index: Int) throws -> String {
    guard let text = try node(words, index).string else {
      throw Problem("word \(index) is no text")
    }
    return text
  }
}

struct Problem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
