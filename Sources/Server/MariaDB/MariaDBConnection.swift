import CMariaDB
import Glibc

/// One connection to a database of MariaDB or MySQL. It blocks, and belongs to one thread.
///
/// Each answer has a deadline. Where it is over, or the line breaks, the connection is closed and stays
/// closed: what became of the last request is unknown. Statements have their values in their text; the
/// session is strict, in UTC, and takes no backslash for an escape.
package final class MariaDBConnection {
  /// How long the server may take.
  package struct Deadlines: Sendable {
    package var connect: Duration
    /// For each piece of an answer.
    package var answer: Duration

    package init(connect: Duration = .seconds(15), answer: Duration = .seconds(120)) {
      self.connect = connect
      self.answer = answer
    }

    var connectSeconds: UInt32 { Deadlines.seconds(connect) }
    var answerSeconds: UInt32 { Deadlines.seconds(answer) }

    private static func seconds(_ time: Duration) -> UInt32 {
      UInt32(clamping: max(1, time.components.seconds))
    }
  }

  package let address: MariaDBAddress
  private var handle: UnsafeMutablePointer<MYSQL>?

  /// Connects. Throws `.connection`, or `.server` where the server does not let this user in.
  package init(
    _ address: MariaDBAddress, deadlines: Deadlines = Deadlines(), application: String = "ferry"
  ) throws(MariaDBError) {
    self.address = address
    guard let handle = mysql_init(nil) else {
      throw MariaDBError(.connection, message: "libmariadb has no memory for a connection")
    }
    self.handle = handle
    MariaDBConnection.set(handle, address, deadlines, application)
    let options = address.options
    let flags = UInt(CLIENT_FOUND_ROWS)
    guard
      mysql_real_connect(
        handle, options["host"], options["user"], getenv("MYSQL_PWD").map { String(cString: $0) },
        address.database, options["port"].flatMap { UInt32($0) } ?? 0, options["socket"], flags)
        != nil
    else {
      let error = failed(
        "Check that the server runs and lets this user in; passwords come from an option file or "
          + "MYSQL_PWD.")
      close()
      throw error
    }
    do { try execute(MariaDBConnection.settings) } catch {
      close()
      throw error
    }
  }

  /// What every session begins with: what a column cannot keep is an error, and times are in UTC.
  private static let settings: String = """
    SET NAMES utf8mb4, SESSION time_zone = '+00:00', SESSION sql_mode = \
    'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES'
    """

  private static func set(
    _ handle: UnsafeMutablePointer<MYSQL>, _ address: MariaDBAddress, _ deadlines: Deadlines,
    _ application: String
  ) {
    var (connect, answer, off) = (deadlines.connectSeconds, deadlines.answerSeconds, UInt32(0))
    mysql_options(handle, MYSQL_OPT_CONNECT_TIMEOUT, &connect)
    mysql_options(handle, MYSQL_OPT_READ_TIMEOUT, &answer)
    mysql_options(handle, MYSQL_OPT_WRITE_TIMEOUT, &answer)
    // A server may ask for any file of the client otherwise.
    mysql_options(handle, MYSQL_OPT_LOCAL_INFILE, &off)
    mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4")
    // The password never goes over the line as it is.
    mysql_options(
      handle, MARIADB_OPT_RESTRICTED_AUTH,
      "mysql_native_password,client_ed25519,caching_sha2_password,auth_gssapi_client")
    mysql_options4(handle, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", application)
    if let file = address.options["file"] { mysql_options(handle, MYSQL_READ_DEFAULT_FILE, file) }
    mysql_options(handle, MYSQL_READ_DEFAULT_GROUP, "ferry")
    if let authority = address.options["ssl-ca"] {
      var on: CChar = 1
      mysql_options(handle, MYSQL_OPT_SSL_CA, authority)
      mysql_options(handle, MYSQL_OPT_SSL_ENFORCE, &on)
      mysql_options(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on)
    }
  }

  deinit { close() }

  /// Ends the connection; a transaction that is open is rolled back by the server.
  package func close() {
    guard let handle else { return }
    mysql_close(handle)
    self.handle = nil
  }

  /// False once the line is broken: nothing can be asked of it any more.
  package var isOpen: Bool { handle != nil }

  /// Whether a transaction is open: some errors end it.
  package var isInTransaction: Bool {
    guard let handle else { return false }
    return handle.pointee.server_status & UInt32(SERVER_STATUS_IN_TRANS) != 0
  }

  /// Whether it is MariaDB, and not MySQL.
  package var isMariaDB: Bool { handle.map { mariadb_connection($0) != 0 } ?? false }

  /// Runs one statement and forgets its rows.
  package func execute(_ sql: String) throws(MariaDBError) { try rows(sql) }

  /// Runs one statement and gives its rows.
  @discardableResult
  package func rows(_ sql: String) throws(MariaDBError) -> MariaDBRows {
    let handle = try send(sql)
    guard let result = mysql_store_result(handle) else {
      guard mysql_errno(handle) == 0 else { throw ended(failed()) }
      return MariaDBRows(texts: [], affected: Int(clamping: mysql_affected_rows(handle)))
    }
    defer { mysql_free_result(result) }
    let reader = RowReader(result: result)
    var texts: [[String?]] = []
    while let row = reader.next() { texts.append(row) }
    return MariaDBRows(texts: texts, affected: texts.count)
  }

  /// The first value of the first row; nil where there is no row, or null.
  package func value(_ sql: String) throws(MariaDBError) -> String? { try rows(sql).first }

  /// The key that the last INSERT was given by a counter; 0 where it was given none.
  package var insertedID: UInt64 { handle.map { mysql_insert_id($0) } ?? 0 }

  /// Runs one statement and gives each row as it comes; no more than one is in memory.
  ///
  /// Where `body` throws the connection is closed, for more rows would follow.
  package func stream<Failure: Error>(
    _ sql: String, wrap: (MariaDBError) -> Failure, _ body: ([String?]) throws(Failure) -> Void
  ) throws(Failure) {
    let handle: UnsafeMutablePointer<MYSQL>
    let result: UnsafeMutablePointer<MYSQL_RES>
    do throws(MariaDBError) {
      handle = try send(sql)
      guard let found = mysql_use_result(handle) else { throw ended(failed()) }
      result = found
    } catch { throw wrap(error) }
    let reader = RowReader(result: result)
    while let row = reader.next() {
      do { try body(row) } catch {
        // Its rest is not waited for.
        shutdown(mysql_get_socket(handle), Int32(SHUT_RDWR))
        mysql_free_result(result)
        close()
        throw error
      }
    }
    let error = mysql_errno(handle) == 0 ? nil : ended(failed())
    mysql_free_result(result)
    if let error { throw wrap(error) }
  }

  private func send(_ sql: String) throws(MariaDBError) -> UnsafeMutablePointer<MYSQL> {
    guard let handle else {
      throw MariaDBError(.connection, message: "The connection to the database is closed")
    }
    var sql = sql
    let code = sql.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        mysql_real_query(handle, $0.baseAddress, UInt($0.count))
      }
    }
    guard code == 0 else { throw ended(failed()) }
    return handle
  }

  /// After an error without an answer nothing can be asked any more.
  private func ended(_ error: MariaDBError) -> MariaDBError {
    if error.isLost { close() }
    return error
  }

  /// What libmariadb says of the last request: its own errors have numbers from 2,000 on.
  private func failed(_ hint: String = "") -> MariaDBError {
    guard let handle else { return MariaDBError(.connection, message: "The connection is closed") }
    let number = Int(clamping: mysql_errno(handle))
    let message = String(cString: mysql_error(handle))
    let isOwn = (2_000..<3_000).contains(number) || (5_000..<6_000).contains(number)
    // The server says that it ends the connection: it was shut down, or somebody ended it.
    let isEnd = [1_053, 1_077, 1_079, 1_080, 1_152, 1_184, 1_927, 4_031].contains(number)
    guard !isOwn, !isEnd, number != 0 else {
      return MariaDBError(
        .connection, message: "The connection to the database was lost: \(message)", hint: hint)
    }
    return MariaDBError(
      .server, number: number, sqlState: String(cString: mysql_sqlstate(handle)), message: message,
      hint: hint)
  }
}
