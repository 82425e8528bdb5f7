import FerryConnector
import FerryModel
import FerryPostgreSQL

/// The statements of an operation that the model states in SQL.
struct StatementWork {
  private let operation: ConnectorOperation
  private let connection: PostgreSQLConnection

  init(_ operation: ConnectorOperation, _ connection: PostgreSQLConnection) {
    self.operation = operation
    self.connection = connection
  }

  /// The key of the operation itself.
  func perform() throws(Interruption) -> ObjectKey {
    try SQLStatementWork<Interruption>(operation, sign: "$").perform {
      sql, values throws(Interruption) in
      do throws(PostgreSQLError) {
        return try connection.rows(sql, values.map(StatementWork.parameter)).affected > 0
      } catch { throw .database(error) }
    }
  }

  private static func parameter(_ value: AttributeValue) -> PostgreSQLValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .text(flag ? "t" : "f")
    case .integer(let number): .text(String(number))
    case .double(let number): .text(number.description)
    case .text(let text): .text(text)
    case .bytes(let bytes): .bytes(bytes)
    }
  }
}
