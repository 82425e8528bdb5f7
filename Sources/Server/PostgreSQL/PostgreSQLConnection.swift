import CPostgreSQL
import Glibc

/// One connection to a database of PostgreSQL. It blocks, and belongs to one thread.
///
/// Every call has a deadline. Where it is over, or the line breaks, the connection is closed and
/// stays closed: what became of the last request is unknown.
package final class PostgreSQLConnection {
  /// How long the server may take.
  package struct Deadlines: Sendable {
    package var connect: Duration
    /// For each statement, each piece of a stream and each answer of a pipeline.
    package var answer: Duration

    package init(connect: Duration = .seconds(15), answer: Duration = .seconds(120)) {
      self.connect = connect
      self.answer = answer
    }
  }

  package let address: PostgreSQLAddress
  package var deadlines: Deadlines
  var handle: OpaquePointer?
  /// Sent ahead of what is asked next.
  var held: [Held] = []
  var statements: PreparedStatements
  /// Whether the last trip ran a statement by its name.
  var usedPrepared: Bool = false
  /// Whether a stream was read since the last pipeline.
  var hasStreamed: Bool = false
  /// How often something was sent and its answer awaited.
  package internal(set) var trips: Int = 0
  /// How many statements the server keeps parsed for this connection, at most 250.
  package var preparedStatements: Int { statements.count }

  /// Connects. Throws `.connection` or `.deadline`.
  package init(
    _ address: PostgreSQLAddress, deadlines: Deadlines = Deadlines(), application: String = "ferry"
  ) throws(PostgreSQLError) {
    self.address = address
    self.deadlines = deadlines
    let number = UInt64.random(in: .min ... .max)
    statements = PreparedStatements(prefix: "ferry_\(String(number, radix: 36))")
    var options = address.options.map { ($0.keyword, $0.value) }
    options += [("client_encoding", "UTF8"), ("fallback_application_name", application)]
    handle = PostgreSQLConnection.start(options)
    guard handle != nil else {
      throw PostgreSQLError(.connection, message: "libpq has no memory for a connection")
    }
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    do { try finishConnecting() } catch {
      close()
      throw error
    }
  }

  deinit { PQfinish(handle) }

  /// Ends the connection; a transaction that is open is rolled back by the server.
  package func close() {
    PQfinish(handle)
    handle = nil
    held = []
  }

  /// False once the line is broken: nothing can be asked of it any more.
  package var isOpen: Bool { handle != nil && PQstatus(handle) == CONNECTION_OK }

  /// Whether a transaction is open, failed or not.
  package var isInTransaction: Bool {
    let status = PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
  }

  /// The server's version as a number, 150018 for 15.18.
  package var serverVersion: Int { Int(PQserverVersion(handle)) }

  /// Runs statements without parameters, one after the other, and forgets their rows.
  package func execute(_ sql: String) throws(PostgreSQLError) {
    try sendHeld()
    guard PQsendQuery(try live(), sql) == 1 else { throw lost() }
    trips += 1
    _ = try answers()
  }

  /// Runs one statement and gives its rows, all of them in memory. The server parses a text that
  /// comes more than once only the first times.
  @discardableResult
  package func rows(
    _ sql: String, _ parameters: [PostgreSQLValue] = []
  ) throws(PostgreSQLError) -> PostgreSQLRows {
    guard let rows = try pipeline([Request(sql, parameters)]).last else {
      throw PostgreSQLError(.connection, message: "The server gave no answer to a statement")
    }
    return rows
  }

  /// The first value of the first row; nil where there is no row, or null.
  package func value(
    _ sql: String, _ parameters: [PostgreSQLValue] = []
  ) throws(PostgreSQLError) -> String? {
    let rows = try rows(sql, parameters)
    return rows.count > 0 ? rows.text(0, 0) : nil
  }

  func live() throws(PostgreSQLError) -> OpaquePointer {
    guard let handle, PQstatus(handle) == CONNECTION_OK else {
      throw PostgreSQLError(.connection, message: "The connection to the database is closed")
    }
    return handle
  }

  func send(_ sql: String, _ parameters: [PostgreSQLValue]) throws(PostgreSQLError) {
    let handle = try live()
    let isSent = withParameters(parameters) { values, lengths, formats in
      PQsendQueryParams(
        handle, sql, CInt(parameters.count), nil, values, lengths, formats, 0)
    }
    guard isSent == 1 else { throw lost() }
  }

  /// All answers to what was sent; gives the last one's rows, throws the first error.
  func answers() throws(PostgreSQLError) -> PostgreSQLRows? {
    let deadline = ContinuousClock.now + deadlines.answer
    var rows: PostgreSQLRows?
    var failure: PostgreSQLError?
    while let result = try nextResult(deadline) {
      switch PQresultStatus(result) {
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_SINGLE_TUPLE: rows = PostgreSQLRows(result)
      case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
        PQclear(result)
        close()
        throw PostgreSQLError(
          .server, message: "The statement is a COPY and returns no rows",
          hint: "Use copyOut.")
      default:
        let error = failed(result)
        PQclear(result)
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return rows
  }

  /// The next answer, nil behind the last one.
  func nextResult(_ deadline: ContinuousClock.Instant) throws(PostgreSQLError) -> OpaquePointer? {
    let handle = try live()
    while true {
      let left = PQflush(handle)
      guard left >= 0 else { throw lost() }
      if PQisBusy(handle) == 0 { return PQgetResult(handle) }
      try wait(POLLIN | (left > 0 ? POLLOUT : 0), until: deadline)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
  }

  /// The connection is of no use any more: it is closed, and why is told.
  func lost() -> PostgreSQLError {
    let text = PostgreSQLConnection.sentence(PQerrorMessage(handle))
    close()
    return PostgreSQLError(
      .connection, message: "The connection to the database was lost: \(text)")
  }

  /// What an answer says that is an error. A server that ends its connection says so first.
  func failed(_ result: OpaquePointer) -> PostgreSQLError {
    func field(_ code: Character) -> String {
      guard let value = code.asciiValue, let text = PQresultErrorField(result, CInt(value)) else {
        return ""
      }
      return String(cString: text)
    }
    let state = field("C")
    guard !state.isEmpty else {
      let text = PostgreSQLConnection.sentence(PQresultErrorMessage(result))
      return PostgreSQLError(
        .connection, message: "The connection to the database was lost: \(text)")
    }
    return PostgreSQLError(
      .server, sqlState: state, message: field("M"), detail: field("D"), hint: field("H"),
      schema: field("s"), table: field("t"), column: field("c"), constraint: field("n"),
      // The server's own function behind PL/pgSQL's RAISE, whatever SQLSTATE it was given.
      isRaised: field("R") == "exec_stmt_raise")
  }

  func wait(_ events: Int32, until deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
    while true {
      let rest = deadline - ContinuousClock.now
      let milliseconds = Int32(clamping: Int64(rest / .milliseconds(1)) + 1)
      guard rest > .zero else {
        close()
        throw PostgreSQLError(
          .deadline, message: "The database did not answer in time",
          hint: "Check its load, its locks and the network.")
      }
      var descriptor = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
      let found = poll(&descriptor, 1, milliseconds)
      if found > 0 { return }
      guard found == 0 || errno == EINTR else { throw lost() }
    }
  }

  private func finishConnecting() throws(PostgreSQLError) {
    let deadline = ContinuousClock.now + deadlines.connect
    while true {
      guard PQstatus(handle) != CONNECTION_BAD else { throw refused() }
      switch PQconnectPoll(handle) {
      case PGRES_POLLING_OK:
        guard PQsetnonblocking(handle, 1) == 0 else { throw refused() }
        return
      case PGRES_POLLING_READING: try wait(POLLIN, until: deadline)
      case PGRES_POLLING_WRITING: try wait(POLLOUT, until: deadline)
      default: throw refused()
      }
    }
  }

  private func refused() -> PostgreSQLError {
    PostgreSQLError(
      .connection, message: PostgreSQLConnection.sentence(PQerrorMessage(handle)),
      hint: "Check that the server runs and lets this user in; passwords come from a password "
        + "file, a service file or PGPASSWORD.")
  }

  private static func sentence(_ text: UnsafePointer<CChar>?) -> String {
    let lines = text.map { String(cString: $0) } ?? ""
    var sentence = ""
    for line in lines.split(separator: "\n") {
      let words = line.drop { $0 == " " || $0 == "\t" }
      // One that begins with a small letter goes on with the line before it.
      let isMore = words.first?.isLowercase ?? false
      sentence += sentence.isEmpty ? "" : isMore ? " " : "; "
      sentence += words
    }
    while sentence.last == "." { sentence.removeLast() }
    return sentence
  }

  private static func sentence(_ text: UnsafeMutablePointer<CChar>?) -> String {
    sentence(text.map { UnsafePointer($0) })
  }

  private static func start(_ options: [(String, String)]) -> OpaquePointer? {
    let keywords = options.map { strdup($0.0) }
    let values = options.map { strdup($0.1) }
    defer { for text in keywords + values { free(text) } }
    let ends: [UnsafePointer<CChar>?] = [nil]
    return PQconnectStartParams(
      keywords.map { UnsafePointer($0) } + ends, values.map { UnsafePointer($0) } + ends, 0)
  }
}

/// Lends the parameters to libpq while `body` runs.
func withParameters<Answer>(
  _ parameters: [PostgreSQLValue],
  _ body: (
    UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<CInt>, UnsafePointer<CInt>
  ) -> Answer
) -> Answer {
  var lengths: [CInt] = []
  var formats: [CInt] = []
  var storage: [UnsafeMutableRawPointer?] = []
  defer { for block in storage { block?.deallocate() } }
  for parameter in parameters {
    switch parameter {
    case .null:
      storage.append(nil)
      lengths.append(0)
      formats.append(0)
    case .text(let text):
      let bytes = Array(text.utf8) + [0]
      storage.append(copy(bytes))
      lengths.append(CInt(clamping: text.utf8.count))
      formats.append(0)
    case .bytes(let bytes):
      storage.append(copy(bytes))
      lengths.append(CInt(clamping: bytes.count))
      formats.append(1)
    }
  }
  let values = storage.map { $0.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) } }
  return body(values, lengths, formats)
}

private func copy(_ bytes: [UInt8]) -> UnsafeMutableRawPointer {
  let block = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
  bytes.withUnsafeBytes {
    block.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(block), byteCount: $0.count)
  }
  return block
}
