import CPostgreSQL

extension PostgreSQLConnection {
  /// A statement of a pipeline.
  package struct Request: Sendable {
    package let sql: String
    package let parameters: [PostgreSQLValue]

    package init(_ sql: String, _ parameters: [PostgreSQLValue] = []) {
      self.sql = sql
      self.parameters = parameters
    }
  }

  /// Statements that are kept back.
  struct Held {
    let requests: [Request]
    let take: ([PostgreSQLRows]) -> Void
  }

  /// Keeps statements back, to be sent ahead of the next ones in the same trip. `take` is given their
  /// answers. Where one fails, whoever asks next gets its error, and nothing behind it was run.
  package func hold(
    _ requests: [Request], _ take: @escaping ([PostgreSQLRows]) -> Void = { _ in }
  ) { held.append(Held(requests: requests, take: take)) }

  /// Whether statements are kept back.
  package var holdsRequests: Bool { !held.isEmpty }

  /// Forgets what is kept back.
  package func dropHeld() { held = [] }

  /// Sends what is kept back, in a trip of its own.
  package func sendHeld() throws(PostgreSQLError) { try pipeline([]) }

  /// Sends all statements before it reads the first answer; they are one transaction where none is
  /// open. The first error is thrown, and nothing behind it was run.
  @discardableResult
  package func pipeline(_ requests: [Request]) throws(PostgreSQLError) -> [PostgreSQLRows] {
    let ahead = held
    held = []
    let all = ahead.flatMap(\.requests) + requests
    guard !all.isEmpty else { return [] }
    let wasIdle = isIdle
    var answer = try trip(all)
    if usedPrepared, let failure = answer.failure, failure.mayBeOfPrepared {
      if failure.isOfOtherLine { statements.turnOff() } else { statements.expire() }
      // Nothing is left of what was sent: it can be sent again.
      if wasIdle, isOpen, isIdle { answer = try trip(all) }
    }
    var rest = answer.rows[...]
    // Those that were answered before another one failed are answered all the same.
    for one in ahead {
      guard rest.count >= one.requests.count else { break }
      one.take(Array(rest.prefix(one.requests.count)))
      rest = rest.dropFirst(one.requests.count)
    }
    if let failure = answer.failure { throw failure }
    return Array(rest)
  }

  /// Tables were changed: what is prepared is forgotten before the next statement.
  package func forgetPrepared() { statements.expire() }

  /// Whether no transaction is open.
  private var isIdle: Bool { PQtransactionStatus(handle) == PQTRANS_IDLE }

  /// What is sent in a pipeline, each with one answer.
  private enum Sent {
    case request
    /// The text that is prepared.
    case preparation(String)
    case forgetting
    /// Says nothing. libpq reads the first answer of a pipeline row by row where a stream came before.
    case blank
  }

  /// The answers that came, and why the others did not.
  private func trip(
    _ requests: [Request]
  ) throws(PostgreSQLError) -> (rows: [PostgreSQLRows], failure: PostgreSQLError?) {
    guard PQenterPipelineMode(try live()) == 1 else { throw lost() }
    let sent = try send(requests)
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    trips += 1
    var rows: [PostgreSQLRows] = []
    var failure: PostgreSQLError?
    var place = 0
    while true {
      // Each statement's answer ends with nil; the pipeline's with its own mark.
      guard let result = try nextResult(ContinuousClock.now + deadlines.answer) else { continue }
      let status = PQresultStatus(result)
      guard status != PGRES_PIPELINE_SYNC else {
        PQclear(result)
        break
      }
      let one = sent[min(place, sent.count - 1)]
      place += 1
      switch (status, one) {
      case (PGRES_TUPLES_OK, .request), (PGRES_COMMAND_OK, .request):
        rows.append(PostgreSQLRows(result))
      case (PGRES_COMMAND_OK, _), (PGRES_EMPTY_QUERY, .blank): PQclear(result)
      default:
        if case .preparation(let sql) = one { statements.failed(sql) }
        let error = status == PGRES_PIPELINE_ABORTED ? nil : failed(result)
        PQclear(result)
        failure = failure ?? error
        if let error, error.isLost {
          close()
          throw error
        }
      }
    }
    guard PQexitPipelineMode(handle) == 1 else { throw lost() }
    return (rows, failure)
  }

  private func send(_ requests: [Request]) throws(PostgreSQLError) -> [Sent] {
    var sent: [Sent] = []
    usedPrepared = false
    if hasStreamed {
      hasStreamed = false
      try send("", [])
      sent.append(.blank)
    }
    // In a transaction that has failed the server would refuse it.
    if statements.isOver, PQtransactionStatus(handle) != PQTRANS_INERROR {
      try send("DEALLOCATE ALL", [])
      sent.append(.forgetting)
      statements.forgotten()
    }
    for request in requests {
      switch statements.form(of: request.sql) {
      case .text: try send(request.sql, request.parameters)
      case .new(let name):
        guard PQsendPrepare(handle, name, request.sql, 0, nil) == 1 else { throw lost() }
        sent.append(.preparation(request.sql))
        try send(prepared: name, request.parameters)
      case .known(let name): try send(prepared: name, request.parameters)
      }
      sent.append(.request)
    }
    return sent
  }

  private func send(
    prepared name: String, _ parameters: [PostgreSQLValue]
  ) throws(PostgreSQLError) {
    usedPrepared = true
    let handle = try live()
    let isSent = withParameters(parameters) { values, lengths, formats in
      PQsendQueryPrepared(handle, name, CInt(parameters.count), values, lengths, formats, 0)
    }
    guard isSent == 1 else { throw lost() }
  }
}
