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
      attribute: isElsewhere ? nil : words.attribute(error.column)?.name,
      detail: word(error.detail),
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
    let attribute = isOwn(error) ? words.attribute(error.column) : nil
    return Refusal(
      code: code, message: error.message.hasSuffix(".") ? error.message : "\(error.message).",
      attribute: attribute?.name)
  }

  private func isOwn(_ error: PostgreSQLError) -> Bool {
    guard let table else { return false }
    return table.schema.name == TableName(schema: error.schema, name: error.table)
  }

  private func notNull(_ error: PostgreSQLError) -> Refusal {
    guard isOwn(error), let attribute = words.attribute(error.column) else {
      return Refusal(
        code: 412, message: "\(error.table).\(error.column) must have a value.")
    }
    return words.notNull(attribute)
  }

  private func unique(_ error: PostgreSQLError) -> Refusal {
    guard isOwn(error), let columns = table?.schema.uniqueKeys[error.constraint] else {
      return plain(error)
    }
    return words.unique(columns) ?? plain(error)
  }

  private func check(_ error: PostgreSQLError) -> Refusal {
    words.check(
      table?.schema.checks[error.constraint] ?? error.constraint,
      of: table?.schema.name.description ?? error.table)
  }

  private func foreignKey(_ error: PostgreSQLError) -> Refusal {
    let found = table?.schema.foreignKeys.filter { foreign in
      foreign.name == error.constraint
        && foreign.child == TableName(schema: error.schema, name: error.table)
    }
    guard let table, let foreign = found?.first else { return plain(error) }
    if foreign.child == table.schema.name, operation.kind != .delete,
      let refusal = words.missingParent(foreign.childColumns, in: foreign.parent.description)
    {
      return refusal
    }
    guard foreign.parent == table.schema.name else { return plain(error) }
    return words.stillNeeded(by: foreign.child.description, count: count(foreign, table))
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

  private var words: SQLRefusalWords {
    SQLRefusalWords(operation) { position in
      guard let key = operation.key, let table, let parameters = table.parameters(of: key),
        let rows = try? connection.rows(table.select + table.whereKey, parameters),
        rows.count == 1
      else { return nil }
      return table.columns[position].value(rows.text(0, position))
    }
  }
}
