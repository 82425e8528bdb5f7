import FerryConnector
import FerryModel
import FerrySQLite

/// Turns SQLite's short words about a broken rule into a sentence for the user of the app.
struct Explanation {
  private let operation: ConnectorOperation
  private let table: EntityTable
  private let connection: Connection

  init(_ operation: ConnectorOperation, _ table: EntityTable, _ connection: Connection) {
    self.operation = operation
    self.table = table
    self.connection = connection
  }

  func refusal(_ error: SQLiteError) -> Refusal {
    if error.isForeignKey {
      return brokenForeignKey(at: operation.key) ?? Explanation.plain(error)
    }
    if error.isTrigger { return Refusal(code: 412, message: error.message) }
    if error.isNotNull { return notNull(error) }
    if error.isUnique { return unique(error) }
    if error.isCheck { return check(error) }
    if error.isValue { return Refusal(code: 422, message: "\(error.message).") }
    if error.isConstraint { return Explanation.plain(error) }
    return Refusal(
      code: 500, message: "The business database cannot do this: \(error.message).")
  }

  static func plain(_ error: SQLiteError) -> Refusal {
    error.isForeignKey
      ? Refusal(
        code: 412, message: "A rule of the business database broke one of its foreign keys.")
      : Refusal(code: 412, message: "\(error.message).")
  }

  /// What stands after the colon of SQLite's sentence.
  private func detail(_ error: SQLiteError) -> String {
    guard let colon = error.message.firstIndex(of: ":") else { return error.message }
    return String(error.message[colon...].dropFirst(2))
  }

  private func notNull(_ error: SQLiteError) -> Refusal {
    let place = detail(error)
    guard let attribute = attribute(atPlace: place) else {
      return Refusal(code: 412, message: "\(place) must have a value.")
    }
    return Refusal(
      code: 412, message: "\(attribute.name) must have a value.", attribute: attribute.name)
  }

  private func unique(_ error: SQLiteError) -> Refusal {
    let places = detail(error)
    var attributes: [Attribute] = []
    var rest = Substring(places)
    // Column names may hold commas: the next place begins at the next `, Table.`.
    let separator = ", \(table.schema.name)."
    while let place = rest.firstRange(of: separator) {
      if let one = attribute(atPlace: String(rest[..<place.lowerBound])) { attributes.append(one) }
      rest = rest[rest.index(place.lowerBound, offsetBy: 2)...]
    }
    if let one = attribute(atPlace: String(rest)) { attributes.append(one) }
    guard !attributes.isEmpty else {
      return Refusal(
        code: 412, message: "\(places) must be unique, and another row already has the same values."
      )
    }
    let shown = attributes.map { "\($0.name) \(intended($0).shown)" }.joined(separator: " and ")
    return Refusal(
      code: 412, message: "There is already a \(operation.entity.name) with \(shown).",
      attribute: attributes[0].name)
  }

  private func check(_ error: SQLiteError) -> Refusal {
    let rule = detail(error)
    let words = Set(
      rule.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
    let named = operation.entity.attributes.filter { words.contains($0.column.lowercased()) }
    let attribute = named.count == 1 ? named[0] : nil
    let value = attribute.map { " (\($0.name) is \(intended($0).shown))" } ?? ""
    return Refusal(
      code: 412,
      message: "The rule \(rule) of \(table.schema.name) is not met\(value).",
      attribute: attribute?.name, constraint: isConstraint(rule) ? rule : nil)
  }

  /// SQLite gives the name of a check that has one, and the text of any other.
  private func isConstraint(_ rule: String) -> Bool {
    let schemas = try? connection.rows("SELECT sql FROM sqlite_schema WHERE type = 'table'")
    return schemas?.contains { ConstraintName.isDeclared(rule, in: $0[0].text ?? "") } ?? false
  }

  /// The foreign key that the operation breaks, from the table or to it, told from the rows as
  /// they are in the transaction.
  func brokenForeignKey(at key: ObjectKey?) -> Refusal? {
    do { return try missingParent() ?? leftChild(at: key) } catch { return nil }
  }

  private func missingParent() throws(SQLiteError) -> Refusal? {
    guard operation.kind != .delete else { return nil }
    for foreign in try ForeignKey.from(table.schema.name, in: connection) {
      var values: [SQLiteValue] = []
      var attributes: [Attribute] = []
      for column in foreign.childColumns {
        guard let position = position(ofColumn: column) else { continue }
        let attribute = operation.entity.attributes[position]
        guard let raw = table.columns[position].raw(intended(attribute)), !raw.isNull
        else { continue }
        values.append(raw)
        attributes.append(attribute)
      }
      guard values.count == foreign.childColumns.count,
        try count(foreign.parent, foreign.parentColumns, values) == 0
      else { continue }
      let shown = attributes.map { "\($0.name) \(intended($0).shown)" }.joined(separator: ", ")
      let verb = attributes.count == 1 ? "does" : "do"
      return Refusal(
        code: 412, message: "\(shown) \(verb) not exist in \(foreign.parent).",
        attribute: attributes[0].name)
    }
    return nil
  }

  private func leftChild(at key: ObjectKey?) throws(SQLiteError) -> Refusal? {
    guard operation.kind != .create, let key else { return nil }
    let row = try table.rawRow(key, connection)
    for foreign in try ForeignKey.to(table.schema.name, in: connection) {
      var values: [SQLiteValue] = []
      for column in foreign.parentColumns {
        guard let position = position(ofColumn: column) else { continue }
        // A deferred rule speaks when the row is gone: what is known of it is its key and base.
        let based = operation.base[position] ?? keyValue(position, of: key)
        values.append(based.flatMap { table.columns[position].raw($0) } ?? row?[position] ?? .null)
      }
      guard values.count == foreign.parentColumns.count else { continue }
      let rows = try count(foreign.child, foreign.childColumns, values)
      // After an update in place the children may refer to the row as it is now.
      guard rows > 0, operation.kind == .delete || changes(foreign.parentColumns) else { continue }
      let number =
        rows == 1 ? "1 row of \(foreign.child) refers" : "\(rows) rows of \(foreign.child) refer"
      return Refusal(
        code: 412,
        message: "\(operation.entity.name) \(key) is still needed: \(number) to it.")
    }
    return nil
  }

  private func keyValue(_ position: Int, of key: ObjectKey) -> AttributeValue? {
    operation.entity.key.firstIndex(of: position).flatMap { key.values(of: operation.entity)?[$0] }
  }

  private func changes(_ columns: [String]) -> Bool {
    columns.contains { position(ofColumn: $0).map { operation.changed[$0] != nil } ?? false }
  }

  private func count(
    _ name: String, _ columns: [String], _ values: [SQLiteValue]
  ) throws(SQLiteError) -> Int64 {
    let conditions = columns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
    let rows = try connection.rows(
      "SELECT count(*) FROM \(quoted(name)) WHERE \(conditions)", values)
    return rows.first?[0].integer ?? 0
  }

  private func position(ofColumn column: String) -> Int? {
    let wanted = column.lowercased()
    return operation.entity.attributes.firstIndex { $0.column.lowercased() == wanted }
  }

  /// The attribute of `Table.Column`; nil when it is of another table.
  private func attribute(atPlace place: String) -> Attribute? {
    let prefix = table.schema.name.lowercased() + "."
    guard place.lowercased().hasPrefix(prefix) else { return nil }
    return position(ofColumn: String(place.dropFirst(prefix.count))).map {
      operation.entity.attributes[$0]
    }
  }

  /// The value that the row was to have.
  private func intended(_ attribute: Attribute) -> AttributeValue {
    guard let position = operation.entity.position(of: attribute.name) else { return .null }
    if let value = operation.changed[position] { return value }
    guard let key = operation.key else { return .null }
    if let value = keyValue(position, of: key) { return value }
    guard let row = try? table.rawRow(key, connection) else { return .null }
    return table.columns[position].value(row[position]) ?? .null
  }
}
