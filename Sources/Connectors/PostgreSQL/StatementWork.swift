import FerryConnector
import FerryModel
import FerryPostgreSQL

/// An operation that the model states in SQL, inside the transaction of its group.
///
/// Each statement must change a row: where nothing is found to change the operation is refused, as
/// an update of a row that is gone would be.
struct StatementWork {
  private let operation: ConnectorOperation
  private let connection: PostgreSQLConnection

  init(_ operation: ConnectorOperation, _ connection: PostgreSQLConnection) {
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
    for statement in operation.entity.performs ?? [] {
      let (sql, parameters) = StatementWork.numbered(statement) { name in
        operation.entity.position(of: name).flatMap { values[$0] } ?? .null
      }
      let rows: PostgreSQLRows
      do { rows = try connection.rows(sql, parameters) } catch { throw .database(error) }
      guard rows.affected > 0 else {
        throw .refused(
          Refusal(
            code: 404,
            message: "\(operation.entity.name) found nothing in the business system to change."))
      }
    }
    return key
  }

  /// The statement with `$1` for its first parameter; one that comes again has its number again.
  static func numbered(
    _ statement: String, value: (String) -> Value
  ) -> (sql: String, parameters: [PostgreSQLValue]) {
    var sql = ""
    var parameters: [PostgreSQLValue] = []
    var numbers: [String: Int] = [:]
    for part in SQLText.parts(of: statement) {
      switch part {
      case .plain(let text): sql += text
      case .parameter(let name):
        if numbers[name] == nil {
          parameters.append(parameter(value(name)))
          numbers[name] = parameters.count
        }
        sql += "$\(numbers[name] ?? 0)"
      }
    }
    return (sql, parameters)
  }

  private static func parameter(_ value: Value) -> PostgreSQLValue {
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
