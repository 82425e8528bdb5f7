import FerryPostgreSQL
import FerryServer

/// A connection of the store that is made again after it was lost.
///
/// A transaction that is open when the connection is lost has failed: no other connection takes its
/// place before `end`.
final class Line {
  private let address: PostgreSQLAddress
  private let application: String
  private var connection: PostgreSQLConnection?
  private var isInTransaction = false
  /// How often a connection was made.
  private(set) var connections = 0

  init(_ address: PostgreSQLAddress, application: String) {
    self.address = address
    self.application = application
  }

  static let deadlines = PostgreSQLConnection.Deadlines(
    connect: .seconds(5), answer: .seconds(60))

  private func open() throws(PostgreSQLError) -> PostgreSQLConnection {
    if let connection, connection.isOpen { return connection }
    guard !isInTransaction else {
      throw PostgreSQLError(
        .connection, message: "The connection was lost in the middle of a transaction")
    }
    let made = try PostgreSQLConnection(
      address, deadlines: Line.deadlines, application: application)
    connection = made
    connections += 1
    return made
  }

  func use<Result>(
    _ body: (PostgreSQLConnection) throws(PostgreSQLError) -> Result
  ) throws(StoreError) -> Result {
    do throws(PostgreSQLError) { return try body(try open()) } catch { throw StoreError(error) }
  }

  func rows(
    _ sql: String, _ parameters: [PostgreSQLValue] = []
  ) throws(StoreError)
    -> PostgreSQLRows
  {
    try use { connection throws(PostgreSQLError) in try connection.rows(sql, parameters) }
  }

  /// One trip; one transaction where none is open.
  @discardableResult
  func pipeline(_ requests: [PostgreSQLConnection.Request]) throws(StoreError) -> [PostgreSQLRows] {
    try use { connection throws(PostgreSQLError) in try connection.pipeline(requests) }
  }

  /// Begins a transaction with `requests`, in one trip; gives what these answer.
  func begin(
    _ statement: String, _ requests: [PostgreSQLConnection.Request] = []
  ) throws(StoreError) -> [PostgreSQLRows] {
    do throws(StoreError) {
      let begin = [PostgreSQLConnection.Request(statement)]
      let rows = Array(try pipeline(begin + requests).dropFirst())
      isInTransaction = true
      return rows
    } catch {
      rollBack()
      throw error
    }
  }

  func commit() throws(StoreError) {
    defer { isInTransaction = false }
    let rows = try rows("COMMIT")
    guard rows.command == "COMMIT" else {
      throw StoreError(.other, "the transaction was rolled back")
    }
  }

  func rollBack() {
    isInTransaction = false
    guard let connection, connection.isInTransaction else { return }
    do throws(PostgreSQLError) { try connection.execute("ROLLBACK") } catch { connection.close() }
  }

  func close() { connection?.close() }
}

extension StoreError {
  init(_ error: PostgreSQLError) {
    let code: Code =
      switch (error.kind, error.sqlState, error.stateClass) {
      case (_, Schema.termIsOver, _): .superseded
      case (_, Schema.clockDiffers, _): .busy
      case (.connection, _, _), (.deadline, _, _), (.address, _, _): .unreachable
      case (_, "53100", _): .full
      case (_, _, "08"), (_, _, "57"), (_, "53300", _), (_, "25006", _): .unreachable
      case (_, _, "58"): .failing
      case (_, _, "XX"): .damaged
      case (_, _, "40"), (_, _, "53"), (_, _, "55"): .busy
      default: .other
      }
    self.init(
      code, error.description,
      isTransient: [.unreachable, .busy, .full, .superseded].contains(code))
  }
}
