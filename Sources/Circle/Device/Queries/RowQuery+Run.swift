import FerryModel
import FerrySQLite

extension RowQuery {
  /// The objects of their entity that it gives.
  package func objects<Object>(
    of entity: Entity, in store: Store, _ make: (ObjectRecord) -> Object
  ) throws(FerryError) -> [Object] {
    let text = try QueryWriter.text(self, .objects(entity), store.model)
    let records = Records(store)
    return try records.read { connection throws(SQLiteError) in
      try records.objects(entity, text, connection, make)
    }
  }

  /// The same under their type, with what `paths` lead to.
  package func objects<Object: BusinessObject>(
    prefetching paths: [any RelationshipPath<Object>], in store: Store
  ) throws(FerryError) -> [Object] {
    guard !paths.isEmpty else {
      return try objects(of: Object.entity, in: store, Object.init(record:))
    }
    let text = try QueryWriter.text(self, .objects(Object.entity), store.model)
    let records = Records(store)
    return try records.objects(prefetching: paths) { connection throws(SQLiteError) in
      try records.objects(Object.entity, text, connection) { $0 }
    }
  }

  /// `invalidQuery` where one of them is negative.
  static func checkPage(skip: Int, take: Int?) throws(FerryError) {
    let wrong = skip < 0 ? "skip \(skip)" : take.flatMap { $0 < 0 ? "take \($0)" : nil }
    guard let wrong else { return }
    throw FerryError(
      .invalidQuery, "\(wrong) is negative",
      hint: "skip is 0 or more; so is take, and without one there is no limit.")
  }

  package func count(in store: Store) throws(FerryError) -> Int {
    let text = try QueryWriter.text(self, .count, store.model)
    return try Records(store).read { connection throws(SQLiteError) in
      let statement = try connection.statement(text.sql)
      defer { statement.reset() }
      try statement.bind(text.parameters)
      return try statement.step() ? Int(statement.integer(at: 0)) : 0
    }
  }

  package func rows(in store: Store) throws(FerryError) -> QueryResultSet {
    let text = try QueryWriter.text(self, .rows, store.model)
    let values = try Records(store).read { connection throws(SQLiteError) -> [[AttributeValue]] in
      let statement = try connection.statement(text.sql)
      defer { statement.reset() }
      try statement.bind(text.parameters)
      return try statement.rows(of: text.columns.map(\.type))
    }
    return QueryResultSet(text.columns, values)
  }
}

extension Records {
  fileprivate func objects<Object>(
    _ entity: Entity, _ text: QueryText, _ connection: Connection, _ make: (ObjectRecord) -> Object
  ) throws(SQLiteError) -> [Object] {
    let statement = try connection.statement(text.sql)
    defer { statement.reset() }
    try statement.bind(text.parameters)
    return try objects(statement, store.rows(of: entity), make)
  }

  /// The rows that a SQL text gives, which may read the entities' tables and nothing else.
  package func rows(
    sql: String, _ parameters: [AttributeValue]
  ) throws(FerryError) -> QueryResultSet {
    try store.read { connection throws(FerryError) in
      do throws(SQLiteError) { return try rows(sql, parameters, connection) } catch {
        guard !error.isOfTheMachine, !error.isBusy, !error.isTooLargeSum else {
          throw failure(error)
        }
        throw FerryError(
          .invalidQuery, "the SQL text cannot be run: \(error.message)",
          hint: "Write one SELECT over entities by their names, with a value for each `?`.",
          cause: error)
      }
    }
  }

  private func rows(
    _ sql: String, _ parameters: [AttributeValue], _ connection: Connection
  ) throws(SQLiteError) -> QueryResultSet {
    let tables = Set(store.model.entities.map { $0.name.lowercased() })
      .union(["", "json_each", "json_tree"])
    let (statement, _) = try connection.readingStatement(sql) { name in
      name.hasPrefix("ferry_text_") || tables.contains(name.lowercased())
    }
    defer {
      statement.reset()
      connection.forgetStatements(beyond: Records.keptStatements)
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
}

extension Statement {
  /// All rows, each column as its type or, where none is known, as it is stored.
  func rows(of types: [AttributeType?]) throws(SQLiteError) -> [[AttributeValue]] {
    var rows: [[AttributeValue]] = []
    while try step() {
      var row: [AttributeValue] = []
      row.reserveCapacity(types.count)
      for (index, type) in types.enumerated() {
        row.append(type.map { stored(at: index, as: $0) } ?? AttributeValue(value(at: index)))
      }
      rows.append(row)
    }
    return rows
  }
}

extension AttributeValue {
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
