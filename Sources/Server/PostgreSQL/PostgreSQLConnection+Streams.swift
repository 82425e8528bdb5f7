import CPostgreSQL
import Glibc

extension PostgreSQLConnection {
  /// Runs one statement and gives each row as it comes; no more than one is in memory.
  ///
  /// Where `body` throws the connection is closed, for the rest of the rows would follow.
  package func stream<Failure: Error>(
    _ sql: String, _ parameters: [PostgreSQLValue] = [],
    wrap: (PostgreSQLError) -> Failure, _ body: (PostgreSQLRows) throws(Failure) -> Void
  ) throws(Failure) {
    do throws(PostgreSQLError) {
      try sendHeld()
      try send(sql, parameters)
      trips += 1
      hasStreamed = true
      guard PQsetSingleRowMode(handle) == 1 else { throw lost() }
    } catch { throw wrap(error) }
    var failure: PostgreSQLError?
    while true {
      let result: OpaquePointer?
      do { result = try nextResult(ContinuousClock.now + deadlines.answer) } catch {
        throw wrap(error)
      }
      guard let result else { break }
      switch PQresultStatus(result) {
      case PGRES_SINGLE_TUPLE:
        do { try body(PostgreSQLRows(result)) } catch {
          close()
          throw error
        }
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK: PQclear(result)
      default:
        failure = failure ?? failed(result)
        PQclear(result)
      }
    }
    if let failure { throw wrap(failure) }
  }

  /// Runs `COPY … TO STDOUT` and gives each of its lines as it comes, its line feed included.
  ///
  /// Where `body` throws the connection is closed.
  package func copyOut<Failure: Error>(
    _ sql: String, wrap: (PostgreSQLError) -> Failure,
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    do throws(PostgreSQLError) {
      try sendHeld()
      guard PQsendQuery(try live(), sql) == 1 else { throw lost() }
      trips += 1
      guard let first = try nextResult(ContinuousClock.now + deadlines.answer) else {
        throw PostgreSQLError(.server, message: "The server did not start the COPY")
      }
      let status = PQresultStatus(first)
      let error = status == PGRES_COPY_OUT ? nil : failed(first)
      PQclear(first)
      if let error {
        while let rest = try nextResult(ContinuousClock.now + deadlines.answer) { PQclear(rest) }
        throw error
      }
    } catch { throw wrap(error) }
    while try copyLine(wrap: wrap, body) {}
    do throws(PostgreSQLError) { _ = try answers() } catch { throw wrap(error) }
  }

  /// False behind the last line.
  private func copyLine<Failure: Error>(
    wrap: (PostgreSQLError) -> Failure, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    let deadline = ContinuousClock.now + deadlines.answer
    while true {
      var line: UnsafeMutablePointer<CChar>?
      let length = PQgetCopyData(handle, &line, 1)
      if length == -1 { return false }
      if length > 0 {
        defer { PQfreemem(line) }
        do { try body(UnsafeRawBufferPointer(start: line, count: Int(length))) } catch {
          close()
          throw error
        }
        return true
      }
      do throws(PostgreSQLError) {
        guard length == 0 else { throw lost() }
        try wait(POLLIN, until: deadline)
        guard PQconsumeInput(handle) == 1 else { throw lost() }
      } catch { throw wrap(error) }
    }
  }
}
