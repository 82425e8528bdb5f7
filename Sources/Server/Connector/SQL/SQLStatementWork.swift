import FerryModel

/// Performs an operation that the model states in SQL, inside the transaction of its group.
///
/// Each statement must change a row: where nothing is found to change the operation is refused, as
/// an update of a row that is gone would be.
public struct SQLStatementWork<Interruption: SQLInterruption> {
  private let operation: ConnectorOperation
  private let sign: String
  private let literal: ((AttributeValue) -> String)?

  /// `sign`: what the database writes before the number of a parameter, `?` or `$`.
  public init(_ operation: ConnectorOperation, sign: String) {
    self.operation = operation
    self.sign = sign
    literal = nil
  }

  /// `literal`: a value as the database's SQL has it, for one that is given no parameters.
  public init(_ operation: ConnectorOperation, literal: @escaping (AttributeValue) -> String) {
    self.operation = operation
    sign = ""
    self.literal = literal
  }

  /// Runs the statements and returns the key of the operation itself. `changesRow` runs one with its
  /// parameters, and returns whether it changed a row.
  public func perform(
    _ changesRow: (String, [AttributeValue]) throws(Interruption) -> Bool
  ) throws(Interruption) -> ObjectKey {
    guard let key = operation.key, let parts = key.values(of: operation.entity) else {
      throw .refused(
        Refusal(code: 422, message: "\(operation.entity.name) does not say which one it is."))
    }
    var values = operation.changed
    for (position, value) in zip(operation.entity.key, parts) { values[position] = value }
    for statement in operation.entity.performs ?? [] {
      let (sql, parameters) = numbered(statement, values)
      guard try changesRow(sql, parameters) else {
        throw .refused(
          Refusal(
            code: 404,
            message: "\(operation.entity.name) found nothing in the business system to change."))
      }
    }
    return key
  }

  /// The statement with 1 for its first parameter; one that comes again has its number again.
  private func numbered(
    _ statement: String, _ values: [Int: AttributeValue]
  ) -> (sql: String, parameters: [AttributeValue]) {
    var sql = ""
    var parameters: [AttributeValue] = []
    var numbers: [String: Int] = [:]
    for part in SQLText.parts(of: statement) {
      switch part {
      case .plain(let text): sql += text
      case .parameter(let name):
        if let literal {
          sql += literal(operation.entity.position(of: name).flatMap { values[$0] } ?? .null)
          continue
        }
        let number = numbers[name] ?? parameters.count + 1
        if number > parameters.count {
          parameters.append(operation.entity.position(of: name).flatMap { values[$0] } ?? .null)
          numbers[name] = number
        }
        sql += "\(sign)\(number)"
      }
    }
    return (sql, parameters)
  }
}
