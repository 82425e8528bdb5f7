import FerryConnector
import FerryModel
import FerrySQLite

/// An operation that the model states in SQL, inside the transaction of its group.
///
/// Each statement must change a row: where nothing is found to change the operation is refused, as
/// an update of a row that is gone would be.
struct StatementWork {
  private let operation: ConnectorOperation
  private let connection: Connection

  init(_ operation: ConnectorOperation, _ connection: Connection) {
    self.operation = operation
    self.connection = connection
  }

  /// The key of the operation itself.
  func perform() throws(Interruption) -> Key {
    guard let key = operation.key, let parts = key.values(of: operation.entity) else {
      throw .refused(
        Refusal(code: 422, message: "\(operation.entity.name) does not say which one it is."))
    }
    var values = operation.changed
    for (position, value) in zip(operation.entity.key, parts) { values[position] = value }
    for statement in operation.entity.performs ?? [] { try run(statement, values) }
    return key
  }

  private func run(_ statement: String, _ values: [Int: Value]) throws(Interruption) {
    var sql = ""
    var parameters: [SQLiteValue] = []
    for part in SQLText.parts(of: statement) {
      switch part {
      case .plain(let text): sql += text
      case .parameter(let name):
        let position = operation.entity.position(of: name)
        parameters.append(SQLiteValue(position.flatMap { values[$0] } ?? .null))
        sql += "?\(parameters.count)"
      }
    }
    do throws(SQLiteError) {
      let before = try connection.value("SELECT total_changes()")
      try connection.run(sql, parameters)
      guard try connection.value("SELECT total_changes()") == before else { return }
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
    throw .refused(
      Refusal(
        code: 404,
        message: "\(operation.entity.name) found nothing in the business system to change."
      ))
  }
}

extension SQLiteValue {
  fileprivate init(_ value: Value) {
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
