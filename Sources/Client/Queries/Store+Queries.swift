import FerryModel
import FerrySQLite

extension Store {
  /// The objects that a query from their entity gives.
  package func objects<Object>(
    _ entity: Entity, _ query: Query, _ make: (Record) -> Object
  ) throws(FerryError) -> [Object] {
    let text = try QueryWriter.text(query, .objects(entity), model)
    return try reading { connection throws(SQLiteError) in
      try self.objects(entity, text, connection, make)
    }
  }

  /// The same, with what `paths` lead to.
  package func objects<Object: BusinessObject>(
    _ query: Query, prefetching paths: [any RelationshipPath<Object>]
  ) throws(FerryError) -> [Object] {
    guard !paths.isEmpty else { return try objects(Object.entity, query, Object.init(record:)) }
    let text = try QueryWriter.text(query, .objects(Object.entity), model)
    return try objects(prefetching: paths) { connection throws(SQLiteError) in
      try self.objects(Object.entity, text, connection) { $0 }
    }
  }

  private func objects<Object>(
    _ entity: Entity, _ text: QueryText, _ connection: Connection, _ make: (Record) -> Object
  ) throws(SQLiteError) -> [Object] {
    let statement = try connection.statement(text.sql)
    defer { statement.reset() }
    try statement.bind(text.parameters)
    return try objects(statement, rows(of: entity), make)
  }

  /// `invalidQuery` where one of them is negative.
  static func checkPage(skip: Int, take: Int?) throws(FerryError) {
    let wrong = skip < 0 ? "skip \(skip)" : take.flatMap { $0 < 0 ? "take \($0)" : nil }
    guard let wrong else { return }
    throw FerryError(
      .invalidQuery, "\(wrong) is negative",
      hint: "skip is 0 or more; so is take, and without one there is no limit.")
  }

  package func count(_ query: Query) throws(FerryError) -> Int {
    let text = try QueryWriter.text(query, .count, model)
    return try reading { connection throws(SQLiteError) in
      let statement = try connection.statement(text.sql)
      defer { statement.reset() }
      try statement.bind(text.parameters)
      return try statement.step() ? Int(statement.integer(at: 0)) : 0
    }
  }

  package func rows(_ query: Query) throws(FerryError) -> QueryResultSet {
    let text = try QueryWriter.text(query, .rows, model)
    let values = try reading { connection throws(SQLiteError) -> [[Value]] in
      let statement = try connection.statement(text.sql)
      defer { statement.reset() }
      try statement.bind(text.parameters)
      return try statement.rows(of: text.columns.map(\.type))
    }
    return QueryResultSet(text.columns, values)
  }

  /// The rows that a SQL text gives, which may read the entities' tables and nothing else.
  package func rows(
    sql: String, _ parameters: [Value]
  ) throws(FerryError) -> QueryResultSet {
    try read { connection throws(FerryError) in
      do throws(SQLiteError) {
        return try self.rows(sql, parameters, connection)
      } catch {
        guard !error.isOfTheMachine, !error.isBusy, !error.isTooLargeSum else {
          throw Store.failure(ofQuery: error, path: self.path)
        }
        throw FerryError(
          .invalidQuery, "the SQL text cannot be run: \(error.message)",
          hint: "Write one SELECT over entities by their names, with a value for each `?`.",
          cause: error)
      }
    }
  }

  private func rows(
    _ sql: String, _ parameters: [Value], _ connection: Connection
  ) throws(SQLiteError) -> QueryResultSet {
    let tables = readableTables
    let (statement, _) = try connection.readingStatement(sql) { name in
      name.hasPrefix("ferry_text_") || tables.contains(name.lowercased())
    }
    defer {
      statement.reset()
      connection.forgetStatements(beyond: Store.keptStatements)
    }
    guard statement.parameterCount == parameters.count else {
      throw SQLiteError(
        code: SQLiteError.misuse,
        message: "\(statement.parameterCount) parameters, \(parameters.count) values", subject: sql)
    }
    try statement.bind(parameters.map(\.stored))
    let columns = (0..<statement.columnCount).map {
      (name: statement.columnName(at: $0), type: AttributeType?.none)
    }
    return QueryResultSet(columns, try statement.rows(of: columns.map(\.type)))
  }

  private var readableTables: Set<String> {
    Set(model.entities.map { $0.name.lowercased() } + ["", "json_each", "json_tree"])
  }

  /// Statements that a connection keeps; an app's own queries are few, their texts do not depend on
  /// values.
  static let keptStatements = 500

  /// Reads on one snapshot and speaks of SQLite's errors as the store's.
  func reading<Result>(
    _ body: (Connection) throws(SQLiteError) -> Result
  ) throws(FerryError) -> Result {
    try checkLease()
    return try read { connection throws(FerryError) in
      defer { connection.forgetStatements(beyond: Store.keptStatements) }
      do throws(SQLiteError) { return try body(connection) } catch {
        throw Store.failure(ofQuery: error, path: self.path)
      }
    }
  }

  /// A sum that is too large is the fault of the query, not of the file.
  private static func failure(ofQuery error: SQLiteError, path: String) -> FerryError {
    guard error.isTooLargeSum else { return failure(error, path: path) }
    return FerryError(
      .invalidQuery, "a whole number of the query is too large for a long: \(error.message)",
      hint: "Add up fewer rows, take the average, or give the attribute the type decimal or "
        + "integer in the model: their sums have as many digits as they need.", cause: error)
  }
}

extension SQLiteError {
  /// What `sum` says of whole numbers beyond 64 bits.
  fileprivate var isTooLargeSum: Bool { message.hasSuffix("integer overflow") }
}

extension Statement {
  /// All rows, each column as its type or, where none is known, as it is stored.
  func rows(of types: [AttributeType?]) throws(SQLiteError) -> [[Value]] {
    var rows: [[Value]] = []
    while try step() {
      var row: [Value] = []
      row.reserveCapacity(types.count)
      for (index, type) in types.enumerated() {
        row.append(type.map { stored(at: index, as: $0) } ?? Value(value(at: index)))
      }
      rows.append(row)
    }
    return rows
  }
}

extension Value {
  init(_ stored: SQLiteValue) {
    self =
      switch stored {
      case .null: .null
      case .integer(let number): .integer(number)
      case .real(let number): .double(number)
      case .text(let text): .text(text)
      case .blob(let bytes): .bytes(bytes)
      }
  }
}
