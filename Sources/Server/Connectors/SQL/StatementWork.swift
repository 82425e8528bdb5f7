import FerryConnector
import FerryModel
import FerrySQLite

/// The statements of an operation that the model states in SQL.
struct StatementWork {
  private let operation: ConnectorOperation
  private let connection: Connection

  init(_ operation: ConnectorOperation, _ connection: Connection) {
    self.operation = operation
    self.connection = connection
  }

  /// The key of the operation itself.
  func perform() throws(Interruption) -> ObjectKey {
    try SQLStatementWork<Interruption>(operation, sign: "?").perform {
      sql, values throws(Interruption) in
      do throws(SQLiteError) {
        let before = try connection.value("SELECT total_changes()")
        try connection.run(sql, values.map(SQLiteValue.init))
        return try connection.value("SELECT total_changes()") != before
      } catch {
        if error.isBusy || error.isOfTheMachine {
          throw .failed(ConnectorError(error, connection.path))
        }
        throw .refused(
          Refusal(
            code: error.isConstraint ? 412 : 500,
            message: "\(operation.entity.name) was refused by the business database: "
              + error.message + "."))
      }
    }
  }
}

extension SQLiteValue {
  fileprivate init(_ value: AttributeValue) {
    self =
      switch value {
      case .null: .null
      case .boolean(let flag): .flag(flag)
      case .integer(let number): .integer(number)
      case .double(let number): .real(number)
      case .text(let text): .text(text)
      case .bytes(let bytes): .blob(bytes)
      }
  }
}
