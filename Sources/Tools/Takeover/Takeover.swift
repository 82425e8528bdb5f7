import Ferry
import FerryJSON
import FerryModel
import FerrySQLite

/// Writes the pending work of another product as pending operations of a device's database.
///
/// What one transaction of the outbox has is one transaction of the database, with a receipt in the same
/// transaction: a takeover that was interrupted goes on, and none does anything twice.
package final class Takeover {
  /// The most faults that are listed; the number of all is counted.
  package static let faultLimit = 1_000

  private let store: Store
  private let source: TakeoverSource
  private let mapping: TakeoverMapping
  private let submits: Bool
  /// The objects that entries have created, by their rows in the file.
  private var created: [TakenRow: LocalObject] = [:]
  private var report = TakeoverReport()

  /// `submits`: what is taken over is sent with the next synchronization; else it waits as drafts.
  package init(
    _ source: TakeoverSource, mapping: TakeoverMapping, into store: Store, submits: Bool
  ) {
    self.store = store
    self.source = source
    self.mapping = mapping
    self.submits = submits
  }

  /// Takes over all entries that can be. An entry that cannot be is a fault, and its transaction is left
  /// out. Errors of the database or of the file end the run; what was done before stays.
  package func run() throws -> TakeoverReport {
    let groups = try source.groups { fault in self.note(fault) }
    for group in groups where !group.isBroken { try take(group) }
    return report
  }

  private func note(_ fault: TakeoverFault) {
    report.faultCount += 1
    if report.faults.count < Takeover.faultLimit { report.faults.append(fault) }
  }

  private func take(_ group: TakeoverGroup) throws {
    if try wasTaken(group) {
      report.skipped += group.entries.count
      return
    }
    var fault: TakeoverFault?
    var broken: TakeoverError?
    let (before, counts) = (created, report.counts)
    do throws(FerryError) {
      try store.transaction { () throws(FerryError) in
        var saved: [(entity: Entity, object: Int64)] = []
        for entry in group.entries {
          do {
            if let one = try self.save(entry) { saved.append(one) }
          } catch let error as TakeoverError {
            broken = error
            throw FerryError(.store, error.message, hint: error.hint)
          } catch let error as FerryError {
            if error.isOfEntry { fault = TakeoverFault(entry, error) }
            throw error
          } catch {
            throw FerryError(.store, "\(error)", hint: "Report this as a bug.", cause: error)
          }
          self.report.counts[entry.verb, default: 0] += 1
        }
        if self.submits {
          for one in saved { _ = try Outbox(self.store).submit(one.entity, one.object) }
        }
        try self.keepReceipt(group)
      }
    } catch {
      (created, report.counts) = (before, counts)
      if let broken { throw broken }
      guard let fault else { throw error }
      note(fault)
    }
  }

  /// Saves the change of one entry, and returns its object.
  private func save(_ entry: TakeoverEntry) throws -> (entity: Entity, object: Int64)? {
    let entity = entry.kind.entity
    var record: ObjectRecord
    var kind: OperationKind
    switch entry.verb {
    case .create:
      record = ObjectRecord(entity, store: store)
      kind = .create
    case .save:
      let found = try object(of: entry)
      record = found ?? ObjectRecord(entity, store: store)
      kind = found == nil ? .create : .update
    case .update, .delete:
      guard let found = try object(of: entry) else {
        throw FerryError(
          .objectNotFound, "the \(entity.name) that it changes is not on the device",
          hint:
            "Synchronize the app's database first. If the business system has deleted the row, remove "
            + "the entry from the copy.", entity: entity.name)
      }
      record = found
      kind = entry.verb == .delete ? .delete : .update
    }
    if kind != .delete { try fill(&record, entry, isNew: kind == .create) }
    let saved = try PendingStore.save(try record.change(kind), in: store)
    guard let object = saved?.object ?? record.object else { return nil }
    if kind == .create { created[TakenRow(entry)] = LocalObject(entity.name, object) }
    return (entity, object)
  }

  private func fill(
    _ record: inout ObjectRecord, _ entry: TakeoverEntry, isNew: Bool
  ) throws {
    let kind = entry.kind
    guard let given = try entry.values ?? source.row(kind, entry.key) else {
      throw FerryError(
        .objectNotFound, "\(kind.table) has no row \(entry.key), and the entry has no values",
        hint: "Set outbox.values if the outbox has them; else remove the entry from the copy.",
        entity: kind.entity.name)
    }
    var values = given
    // The outbox names the row's key beside the values.
    if kind.columns[kind.key] != nil, values[kind.key] == nil {
      values[kind.key] = .text(entry.key)
    }
    for (column, value) in values.sorted(by: { $0.key < $1.key }) {
      guard let position = kind.columns[column] else { continue }
      let isKey = kind.entity.key.contains(position)
      // The business system gives the key of a new object; that of another one never changes.
      if isKey, !isNew || kind.entity.keyOrigin != .app { continue }
      record.values[position] = try canonical(
        try leading(value, column, kind), position, column, kind)
    }
  }

  private func canonical(
    _ value: AttributeValue, _ position: Int, _ column: String, _ kind: TakeoverMapping.Kind
  ) throws(FerryError) -> AttributeValue {
    let attribute = kind.entity.attributes[position]
    if let canonical = attribute.type.canonical(value) { return canonical }
    // Numbers may be texts in the outbox, and truth values too.
    if case .text(let text) = value, let number = Int64(text),
      let canonical = attribute.type.canonical(.integer(number))
    {
      return canonical
    }
    if case .text(let text) = value, let number = Double(text),
      let canonical = attribute.type.canonical(.double(number))
    {
      return canonical
    }
    throw FerryError(
      .invalidValue,
      "the value of the column \(column) is no \(attribute.type.rawValue): \(value.described)",
      hint: "Correct it in the copy, or map the column to null.", entity: kind.entity.name,
      attribute: attribute.name)
  }

  /// The value of a column that refers to a row of the file, as the key that its object has on the device.
  private func leading(
    _ value: AttributeValue, _ column: String, _ kind: TakeoverMapping.Kind
  ) throws -> AttributeValue {
    guard !value.isNull, let (other, position) = mapping.target(of: column, in: kind) else {
      return value
    }
    let row = TakenRow(type: other.type, key: value.keyText)
    if let object = created[row],
      let record = try Records(store).of(other.entity, object: object.object)
    {
      return record.value(at: position)
    }
    guard let there = other.column(of: position), there != other.key else { return value }
    guard let found = try source.row(other, row.key)?[there], !found.isNull else {
      throw FerryError(
        .invalidReference,
        "\(column) refers to the row \(row.key) of \(other.table), which has no \(there)",
        hint: "Let the other product synchronize first, so that the row has its key.",
        entity: kind.entity.name)
    }
    return found
  }

  /// The object on the device that is the row of the entry.
  private func object(of entry: TakeoverEntry) throws -> ObjectRecord? {
    let kind = entry.kind
    if let known = created[TakenRow(entry)] {
      return try Records(store).of(kind.entity, object: known.object)
    }
    var key: [AttributeValue] = []
    var row: [String: AttributeValue]??
    for position in kind.entity.key {
      guard let column = kind.column(of: position) else {
        throw FerryError(
          .unknownName,
          "no column is mapped to \(kind.entity.attributes[position].name), by which the "
            + "object is found",
          hint: "Add it to types.\(kind.type).columns.", entity: kind.entity.name)
      }
      var value: AttributeValue =
        column == kind.key ? .text(entry.key) : entry.values?[column] ?? .null
      if value.isNull {
        if row == nil { row = .some(try source.row(kind, entry.key)) }
        value = row??[column] ?? .null
      }
      // A row that has no key yet was never sent: there is no object for it.
      guard !value.isNull else { return nil }
      key.append(try canonical(try leading(value, column, kind), position, column, kind))
    }
    return try Records(store).of(kind.entity, key: ObjectKey(key))
  }
}

/// A row of the file.
private struct TakenRow: Hashable {
  let type: String
  let key: String

  init(type: String, key: String) {
    self.type = type
    self.key = key
  }

  init(_ entry: TakeoverEntry) { self.init(type: entry.kind.type, key: entry.key) }
}

// What was taken over is kept among the settings of the database, beside the changes.
extension Takeover {
  private static func name(_ group: TakeoverGroup) -> SQLiteValue {
    .text("takeover/\(group.digest)")
  }

  private func keepReceipt(_ group: TakeoverGroup) throws(FerryError) {
    var writer = JSONWriter()
    writer.beginArray()
    for entry in group.entries {
      guard let object = created[TakenRow(entry)] else { continue }
      writer.array([entry.kind.type, entry.key, object.entity, String(object.object)]) {
        $0.string($1)
      }
    }
    writer.endArray()
    let text = writer.text
    try store.write { connection throws(SQLiteError) in
      try connection.run(
        "INSERT INTO ferry_setting (name, value) VALUES (?, ?)", Takeover.name(group), .text(text))
    }
  }

  /// Whether the transaction was taken over before; what it created is known again then.
  private func wasTaken(_ group: TakeoverGroup) throws -> Bool {
    let found = try store.read { connection throws(SQLiteError) in
      try connection.value(
        "SELECT value FROM ferry_setting WHERE name = ?", Takeover.name(group))
    }
    guard let text = found?.text else { return false }
    let rows = (try? JSONNode.parse(Array(text.utf8)))?.array ?? []
    for row in rows {
      let words = row.array?.compactMap(\.string) ?? []
      guard words.count == 4, let object = Int64(words[3]) else { continue }
      created[TakenRow(type: words[0], key: words[1])] = LocalObject(words[2], object)
    }
    return true
  }
}

extension FerryError {
  /// Whether it is about a value or an object, and not about the database itself.
  fileprivate var isOfEntry: Bool {
    let codes: Set<FerryError.Code> = [
      .objectNotFound, .objectExists, .invalidValue, .operationNotAllowed, .keyChanged, .tooLarge,
      .invalidReference, .unknownName, .notDownloaded,
    ]
    return codes.contains(code)
  }
}

extension TakeoverFault {
  fileprivate init(_ entry: TakeoverEntry, _ error: FerryError) {
    let entity = entry.kind.entity.name
    let place = [entity, error.attribute].compactMap { $0 }.joined(separator: ".")
    self.init(
      entry: entry.order, type: entry.kind.type,
      message: error.message.contains(entity) ? error.message : "\(place): \(error.message)",
      hint: error.hint)
  }
}

extension AttributeValue {
  /// What it is, without the user's data.
  fileprivate var described: String {
    switch self {
    case .null: "null"
    case .boolean: "a truth value"
    case .integer, .double: "a number"
    case .text(let text): "a text of \(text.count) characters"
    case .bytes(let bytes): "\(bytes.count) bytes"
    }
  }
}
