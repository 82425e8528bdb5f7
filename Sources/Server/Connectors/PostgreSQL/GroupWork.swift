import FerryConnector
import FerryModel
import FerryPostgreSQL

/// A group while it is performed, and the rows that it changed.
final class GroupWork: SQLGroupWork {
  private let connection: PostgreSQLConnection
  private let tables: EntityTables
  let remembersOperations: Bool
  /// Whether an operation may be known already: then each is asked about before anything is done.
  private let isCareful: Bool
  private(set) var touched = SQLTouchedRows<EntityTable>()
  /// The one that was performed last.
  private(set) var last: ConnectorOperation?

  init(_ writer: Writer, isCareful: Bool) {
    connection = writer.connection
    tables = writer.tables
    remembersOperations = writer.remembersOperations
    self.isCareful = isCareful
  }

  /// Where it is not careful the claim goes with the operation's first statement, and one that is known
  /// fails there.
  func claim(_ operation: ConnectorOperation) throws(Interruption) -> OperationClaim {
    last = operation
    do throws(PostgreSQLError) {
      if isCareful { return try AppliedOperations.claim(operation, connection) }
      connection.hold([AppliedOperations.claiming(operation, result: operation.key)])
      // What a judge is answered tells no more that a claim has failed.
      if operation.judge != nil { try connection.sendHeld() }
      return .new
    } catch { throw .database(error) }
  }

  func finish(_ operation: ConnectorOperation, key: ObjectKey) throws(Interruption) {
    // Where it asked for nothing, it is not known yet whether it is new.
    do throws(PostgreSQLError) { try connection.sendHeld() } catch { throw .database(error) }
    guard isCareful || key != operation.key else { return }
    connection.hold([AppliedOperations.finishing(operation, key: key)])
  }

  func work(_ operation: ConnectorOperation) throws(Interruption) -> ObjectKey {
    last = operation
    guard !operation.entity.isOperation else {
      return try StatementWork(operation, connection).perform()
    }
    let table = try table(of: operation.entity)
    let key = try SQLOperationWork(
      operation, PostgreSQLDialect(operation, table, tables, connection)
    ).perform()
    touched.note(table.entity, table, key)
    return key
  }

  func touch(_ operation: ConnectorOperation, _ key: ObjectKey) throws(Interruption) {
    last = operation
    touched.note(operation.entity, try table(of: operation.entity), key)
  }

  private func table(of entity: Entity) throws(Interruption) -> EntityTable {
    do { return try tables.table(of: entity) } catch { throw .failed(error) }
  }
}
