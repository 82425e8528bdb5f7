import FerryCrypto
import FerryJSON
import FerryModel
import FerrySQLite

/// The file of another product: a copy of it, which nobody else has open.
package final class TakeoverSource {
  /// The most entries of an outbox.
  package static let entryLimit = 100_000
  /// The largest JSON text of an entry, in bytes.
  package static let textLimitBytes = 4 << 20
  /// All that is read of an outbox, in bytes.
  package static let outboxLimitBytes = 64 << 20

  private let connection: Connection
  private let mapping: TakeoverMapping
  private let name: String

  /// `name` is the file's for messages. Errors say which table or column of the mapping it has not.
  package init(
    path: String, name: String, mapping: TakeoverMapping
  ) throws(TakeoverError) {
    self.mapping = mapping
    self.name = name
    do throws(SQLiteError) {
      connection = try Connection(path: path)
      _ = try connection.value("SELECT count(*) FROM sqlite_schema")
    } catch {
      throw TakeoverError(
        "\(name) is no database of SQLite that can be read: \(error)",
        hint:
          "Name a copy that was made while the app was closed. One that another product sealed must "
          + "be opened and copied with that product first.")
    }
    try checkOutbox()
    for kind in mapping.kinds.values.sorted(by: { $0.type < $1.type }) { try check(kind) }
  }

  private func checkOutbox() throws(TakeoverError) {
    let outbox = mapping.outbox
    let there = try columns(of: outbox.table, "outbox.table")
    var named = [("order", outbox.order)]
    if let column = outbox.transaction { named.append(("transaction", column)) }
    if let column = outbox.json {
      named.append(("json", column))
    } else {
      named += [("operation", outbox.operation), ("type", outbox.type), ("key", outbox.key)]
      if let column = outbox.values { named.append(("values", column)) }
    }
    for (member, column) in named where !there.contains(column) {
      throw missing(column, in: outbox.table, there, "outbox.\(member)")
    }
  }

  /// A type whose values are all in the outbox may be without a table.
  private func check(_ kind: TakeoverMapping.Kind) throws(TakeoverError) {
    let place = "types.\(kind.type)"
    let there = try columns(of: kind.table, "\(place).table")
    guard there.contains(kind.key) else {
      throw missing(kind.key, in: kind.table, there, "\(place).key")
    }
    let known = Set(kind.columns.keys).union(kind.ignored)
    for column in known.sorted() where !there.contains(column) {
      throw missing(column, in: kind.table, there, "\(place).columns")
    }
    for column in there where column != kind.key && !known.contains(column) {
      throw TakeoverError(
        "\(place).columns says nothing of the column \(column) of \(kind.table)",
        hint: "Name its attribute, or write null to leave it out.")
    }
  }

  private func columns(of table: String, _ place: String) throws(TakeoverError) -> [String] {
    let found = try rows("SELECT name FROM pragma_table_info(?)", .text(table))
      .compactMap { $0.first?.text }
    guard found.isEmpty else { return found }
    let all = try rows("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
      .compactMap { $0.first?.text }
    throw TakeoverError(
      "\(place): \(name) has no table or view \(table)",
      hint: NearestWord.cure(table, among: all.sorted()))
  }

  private func missing(
    _ column: String, in table: String, _ there: [String], _ place: String
  ) -> TakeoverError {
    TakeoverError(
      "\(place): the table \(table) has no column \(column)",
      hint: NearestWord.cure(column, among: there))
  }

  private func rows(
    _ text: String, _ parameters: SQLiteValue...
  ) throws(TakeoverError) -> [[SQLiteValue]] {
    do throws(SQLiteError) { return try connection.rows(text, parameters) } catch {
      throw TakeoverError(
        "\(name) cannot be read: \(error)", hint: "Make another copy while the app is closed.")
    }
  }

  /// The values of a row by its own key; nil if there is none.
  func row(
    _ kind: TakeoverMapping.Kind, _ key: String
  ) throws(TakeoverError) -> [String: AttributeValue]? {
    let columns = kind.columns.keys.sorted()
    let list = columns.map { ", \(quoted($0))" }.joined()
    let found = try rows(
      "SELECT 1\(list) FROM \(quoted(kind.table)) WHERE CAST(\(quoted(kind.key)) AS TEXT) = ?",
      .text(key))
    guard found.count <= 1 else {
      throw TakeoverError(
        "\(kind.table) has \(found.count) rows whose \(kind.key) is \(key)",
        hint: "types.\(kind.type).key must be a column with another value in each row.")
    }
    return found.first.map { row in
      Dictionary(
        uniqueKeysWithValues: zip(columns, row.dropFirst().map(AttributeValue.init(taken:))))
    }
  }

  /// The entries by transaction, in their order. Faults of entries are reported to `fault`.
  func groups(
    _ fault: (TakeoverFault) throws(TakeoverError) -> Void
  ) throws(TakeoverError) -> [TakeoverGroup] {
    let outbox = mapping.outbox
    let table = quoted(outbox.table)
    let count = try rows("SELECT count(*) FROM \(table)").first?.first?.integer ?? 0
    guard count <= Int64(TakeoverSource.entryLimit) else {
      throw TakeoverError(
        "the outbox has \(count) entries; at most \(TakeoverSource.entryLimit) are taken over",
        hint: "Let the other product send a part of them first.")
    }
    let twice = try rows(
      "SELECT 1 FROM \(table) GROUP BY \(quoted(outbox.order)) HAVING count(*) > 1 LIMIT 1")
    guard twice.isEmpty else {
      throw TakeoverError(
        "two entries of \(outbox.table) have the same \(outbox.order)",
        hint: "outbox.order must be a column with another value in each entry.")
    }
    var columns = [outbox.order, outbox.transaction ?? outbox.order]
    columns +=
      outbox.json.map { [$0] } ?? [outbox.operation, outbox.type, outbox.key]
      + (outbox.values.map { [$0] } ?? [])
    let sizes = columns.map { "coalesce(length(CAST(\(quoted($0)) AS BLOB)), 0)" }
    let size =
      try rows("SELECT sum(\(sizes.joined(separator: " + "))) FROM \(table)").first?.first?.integer
      ?? 0
    guard size <= Int64(TakeoverSource.outboxLimitBytes) else {
      throw TakeoverError(
        "the outbox has \(size) bytes; at most \(TakeoverSource.outboxLimitBytes) are read",
        hint: "Let the other product send a part of it first.")
    }
    let read = try rows(
      "SELECT \(columns.map(quoted).joined(separator: ", ")) FROM \(table) "
        + "ORDER BY \(quoted(outbox.order))")
    var groups: [TakeoverGroup] = []
    var entries: [TakeoverEntry] = []
    var texts: [String] = []
    var last: SQLiteValue?
    var isBroken = false
    func end() {
      guard !texts.isEmpty else { return }
      groups.append(
        TakeoverGroup(
          entries: entries,
          digest: hexadecimal(SHA256Digest.hash(Array(texts.joined(separator: "\n").utf8))),
          isBroken: isBroken))
      (entries, texts, isBroken) = ([], [], false)
    }
    for row in read {
      let transaction = row[1].isNull ? nil : row[1]
      if outbox.transaction == nil || transaction == nil || transaction != last { end() }
      last = transaction
      texts.append(row.map(\.digested).joined(separator: "\t"))
      do throws(TakeoverFault) {
        entries.append(try entry(row))
      } catch {
        isBroken = true
        try fault(error)
      }
    }
    end()
    return groups
  }

  private func entry(_ row: [SQLiteValue]) throws(TakeoverFault) -> TakeoverEntry {
    let outbox = mapping.outbox
    let order = AttributeValue(taken: row[0]).keyText
    func fault(_ message: String, hint: String) -> TakeoverFault {
      TakeoverFault(entry: order, type: nil, message: message, hint: hint)
    }
    var fields: [String: AttributeValue] = [:]
    var values: JSONNode?
    if outbox.json != nil {
      let node = try object(row[2], order)
      for name in [outbox.operation, outbox.type, outbox.key] {
        fields[name] = node[name].flatMap(AttributeValue.init(taken:))
      }
      values = outbox.values.flatMap { node[$0] }
    } else {
      for (name, value) in zip([outbox.operation, outbox.type, outbox.key], row.dropFirst(2)) {
        fields[name] = AttributeValue(taken: value)
      }
      if outbox.values != nil, row.count > 5, !row[5].isNull { values = try object(row[5], order) }
    }
    let word = fields[outbox.operation]?.keyText ?? ""
    guard let verb = outbox.operations[word] else {
      throw fault(
        "the operation \"\(word)\" is unknown",
        hint: "Add it to outbox.operations: create, update, delete or save.")
    }
    let type = fields[outbox.type]?.keyText ?? ""
    guard let kind = mapping.kinds[type] else {
      throw fault(
        "the type \"\(type)\" is not mapped",
        hint: "Add it to types: \(NearestWord.cure(type, among: mapping.kinds.keys.sorted()))")
    }
    guard let key = fields[outbox.key], !key.isNull else {
      throw fault("the entry names no row", hint: "Check outbox.key.")
    }
    return TakeoverEntry(
      order: order, verb: verb, kind: kind, key: key.keyText,
      values: try values.flatMap { node throws(TakeoverFault) in
        try taken(node, kind, order)
      })
  }

  private func object(_ value: SQLiteValue, _ order: String) throws(TakeoverFault) -> JSONNode {
    let bytes = value.text.map { Array($0.utf8) } ?? value.blob ?? []
    let limit = TakeoverSource.textLimitBytes
    guard bytes.count <= limit else {
      throw TakeoverFault(
        entry: order, type: nil,
        message: "its text has \(bytes.count) bytes; at most \(limit) are read",
        hint: "Let the other product send this entry first.")
    }
    do throws(JSONError) {
      let node = try JSONNode.parse(bytes, depthLimit: 32)
      if node.object != nil { return node }
    } catch {
      throw TakeoverFault(
        entry: order, type: nil, message: "its text is no JSON: \(error)",
        hint: "Check which column outbox names.")
    }
    throw TakeoverFault(
      entry: order, type: nil, message: "its text is no JSON object",
      hint: "Check which column outbox names.")
  }

  private func taken(
    _ node: JSONNode, _ kind: TakeoverMapping.Kind, _ order: String
  ) throws(TakeoverFault) -> [String: AttributeValue]? {
    if node.isNull { return nil }
    var values: [String: AttributeValue] = [:]
    for member in node.object ?? [] {
      guard !kind.ignored.contains(member.key) else { continue }
      guard kind.columns[member.key] != nil || member.key == kind.key else {
        throw TakeoverFault(
          entry: order, type: kind.type, message: "the column \(member.key) is not mapped",
          hint: "Add it to types.\(kind.type).columns, with its attribute or null.")
      }
      values[member.key] = AttributeValue(taken: member.value)
    }
    return values
  }
}

/// What is wrong with one entry.
package struct TakeoverFault: Error {
  /// Its place in the outbox.
  package let entry: String
  /// The type of its row; nil where that is not known.
  package let type: String?
  package let message: String
  package let hint: String
}

extension SQLiteValue {
  /// Different for all that differs.
  fileprivate var digested: String {
    switch self {
    case .null: "n"
    case .integer(let value): "i\(value)"
    case .real(let value): "r\(value)"
    case .text(let value): "t\(value.utf8.count):\(value)"
    case .blob(let value): "b\(hexadecimal(SHA256Digest.hash(value)))"
    }
  }
}

extension AttributeValue {
  init(taken value: SQLiteValue) {
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .double(number)
    case .text(let text): self = .text(text)
    case .blob(let bytes): self = .bytes(bytes)
    }
  }

  init(taken node: JSONNode) {
    switch node.content {
    case .null: self = .null
    case .boolean(let value): self = .boolean(value)
    case .number(let text): self = Int64(text).map(AttributeValue.integer) ?? .text(text)
    case .string(let text): self = .text(text)
    case .array, .object: self = .text(node.jsonText)
    }
  }

  /// As the outbox and the rows write a key.
  var keyText: String {
    switch self {
    case .null: ""
    case .boolean(let value): value ? "1" : "0"
    case .integer(let number): String(number)
    case .double(let number): number.description
    case .text(let text): text
    case .bytes(let bytes): hexadecimal(bytes)
    }
  }
}
