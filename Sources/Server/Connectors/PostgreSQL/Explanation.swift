import FerryConnector
import FerryModel
import FerryPostgreSQL

/// Turns PostgreSQL's words about a broken rule into a sentence for the user of the app.
///
/// To be asked after the statement was rolled back: it looks at rows.
struct Explanation {
  private let operation: ConnectorOperation
  private let table: EntityTable?
  private let connection: PostgreSQLConnection

  init(
    _ operation: ConnectorOperation, _ table: EntityTable?, _ connection: PostgreSQLConnection
  ) {
    self.operation = operation
    self.table = table
    self.connection = connection
  }

  /// Of class 22, 23, 44 or P0, or of any class where a function of the business raised it.
  func refusal(_ error: PostgreSQLError) -> Refusal {
    let refusal = reason(error)
    func word(_ text: String) -> String? { text.isEmpty ? nil : text }
    let named = refusal.adding(constraint: word(error.constraint))
    // DETAIL of the database's own errors may quote the row, also what the user may not see.
    guard error.isRaised else { return named }
    let isElsewhere = !error.table.isEmpty && !isOwn(error)
    return named.adding(
      attribute: isElsewhere ? nil : attribute(error.column)?.name, detail: word(error.detail),
      hint: word(error.hint))
  }

  private func reason(_ error: PostgreSQLError) -> Refusal {
    if error.isRaised { return plain(error) }
    switch error.sqlState {
    case "23502": return notNull(error)
    case "23503": return foreignKey(error)
    case "23505": return unique(error)
    case "23514" where isOwn(error): return check(error)
    default: return plain(error)
    }
  }

  /// What a rule of the business says itself comes without anything of ours.
  private func plain(_ error: PostgreSQLError) -> Refusal {
    let code = error.stateClass == "22" ? 422 : error.sqlState == "42501" ? 403 : 412
    guard error.stateClass != "P0", !error.isRaised else {
      return Refusal(code: code, message: error.message)
    }
    let attribute = isOwn(error) ? attribute(error.column) : nil
    return Refusal(
      code: code, message: error.message.hasSuffix(".") ? error.message : "\(error.message).",
      attribute: attribute?.name)
  }

  private func isOwn(_ error: PostgreSQLError) -> Bool {
    guard let table else { return false }
    return table.schema.name == TableName(schema: error.schema, name: error.table)
  }

  private func notNull(_ error: PostgreSQLError) -> Refusal {
    guard isOwn(error), let attribute = attribute(error.column) else {
      return Refusal(
        code: 412, message: "\(error.table).\(error.column) must have a value.")
    }
    return Refusal(
      code: 412, message: "\(attribute.name) must have a value.", attribute: attribute.name)
  }

  private func unique(_ error: PostgreSQLError) -> Refusal {
    guard isOwn(error), let columns = table?.schema.uniqueKeys[error.constraint] else {
      return plain(error)
    }
    let attributes = columns.compactMap(attribute)
    guard attributes.count == columns.count, !attributes.isEmpty else { return plain(error) }
    let shown = attributes.map { "\($0.name) \(intended($0).shown)" }.joined(separator: " and ")
    return Refusal(
      code: 412, message: "There is a \(operation.entity.name) with \(shown) already.",
      attribute: attributes[0].name)
  }

  private func check(_ error: PostgreSQLError) -> Refusal {
    let rule = table?.schema.checks[error.constraint] ?? error.constraint
    let words = Set(
      rule.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
    let named = operation.entity.attributes.filter { words.contains($0.column.lowercased()) }
    let attribute = named.count == 1 ? named[0] : nil
    let value = attribute.map { " (\($0.name) is \(intended($0).shown))" } ?? ""
    return Refusal(
      code: 412,
      message: "The rule \(rule) of \(table?.schema.name.description ?? error.table) is not met"
        + "\(value).", attribute: attribute?.name)
  }

  private func foreignKey(_ error: PostgreSQLError) -> Refusal {
    let found = table?.schema.foreignKeys.filter { foreign in
      foreign.name == error.constraint
        && foreign.child == TableName(schema: error.schema, name: error.table)
    }
    guard let table, let foreign = found?.first else { return plain(error) }
    if foreign.child == table.schema.name, operation.kind != .delete,
      let refusal = missingParent(foreign)
    {
      return refusal
    }
    return foreign.parent == table.schema.name ? leftChild(foreign, table) : plain(error)
  }

  private func missingParent(_ foreign: CatalogueForeignKey) -> Refusal? {
    let attributes = foreign.childColumns.compactMap(attribute)
    guard attributes.count == foreign.childColumns.count, !attributes.isEmpty else { return nil }
    let shown = attributes.map { "\($0.name) \(intended($0).shown)" }.joined(separator: ", ")
    let verb = attributes.count == 1 ? "does" : "do"
    return Refusal(
      code: 412, message: "\(shown) \(verb) not exist in \(foreign.parent).",
      attribute: attributes[0].name)
  }

  private func leftChild(_ foreign: CatalogueForeignKey, _ table: EntityTable) -> Refusal {
    let name = "\(operation.entity.name) \(operation.key?.text ?? "")"
    let rows = count(foreign, table)
    let number =
      switch rows {
      case nil: "rows of \(foreign.child) refer"
      case "1": "1 row of \(foreign.child) refers"
      case let rows?: "\(rows) rows of \(foreign.child) refer"
      }
    return Refusal(code: 412, message: "\(name) is still needed: \(number) to it.")
  }

  /// How many rows refer to the operation's own; nil where that cannot be told.
  private func count(_ foreign: CatalogueForeignKey, _ table: EntityTable) -> String? {
    guard let key = operation.key, let parameters = table.parameters(of: key) else { return nil }
    let pairs = zip(foreign.childColumns, foreign.parentColumns).map {
      "c.\(quotedName($0)) = t.\(quotedName($1))"
    }
    let sql = """
      SELECT count(*) FROM \(foreign.child.quoted) AS c JOIN \(foreign.parent.quoted) AS t \
      ON \(pairs.joined(separator: " AND "))\(table.whereKey)
      """
    do { return try connection.value(sql, parameters) } catch { return nil }
  }

  private func attribute(_ column: String) -> Attribute? {
    operation.entity.attributes.first { $0.column == column }
  }

  /// The value that the row was to have.
  private func intended(_ attribute: Attribute) -> AttributeValue {
    guard let position = operation.entity.position(of: attribute.name) else { return .null }
    if let value = operation.changed[position] { return value }
    guard let key = operation.key else { return .null }
    if let place = operation.entity.key.firstIndex(of: position) {
      return key.values(of: operation.entity)?[place] ?? .null
    }
    guard let table, let parameters = table.parameters(of: key),
      let rows = try? connection.rows(table.select + table.whereKey, parameters), rows.count == 1
    else { return .null }
    return table.columns[position].value(rows.text(0, position)) ?? .null
  }
}
