import CSQLite

extension Connection {
  /// A statement for a text that somebody else wrote and that may only read: one SELECT, of tables
  /// that `mayRead` admits. Prepared once and kept like others; `tables` are those that it reads.
  ///
  /// Anything else is refused before it is run, whatever the connection may do.
  public func readingStatement(
    _ sql: String, mayRead: @escaping (String) -> Bool
  ) throws(SQLiteError) -> (statement: Statement, tables: Set<String>) {
    let place = "reading \(sql)"
    if let known = kept(place) { return (known, known.tables) }
    let judge = ReadJudge(mayRead)
    sqlite3_set_authorizer(handle, authorize, Unmanaged.passUnretained(judge).toOpaque())
    defer { sqlite3_set_authorizer(handle, nil, nil) }
    let made: Statement
    do {
      made = try Statement(self, sql, whole: true)
    } catch {
      guard let refused = judge.refused else { throw error }
      throw SQLiteError(code: SQLITE_AUTH, message: "\(refused) is not allowed here", subject: sql)
    }
    guard made.isReading else {
      made.finalize()
      throw SQLiteError(
        code: SQLITE_READONLY, message: "the statement returns no rows, or it writes", subject: sql)
    }
    made.tables = judge.tables
    keep(made, as: place)
    return (made, made.tables)
  }
}

/// What a text does, as SQLite tells while it prepares it.
private final class ReadJudge {
  let mayRead: (String) -> Bool
  var tables: Set<String> = []
  var refused: String?

  init(_ mayRead: @escaping (String) -> Bool) { self.mayRead = mayRead }

  func judge(_ action: Int32, _ name: String, _ function: String) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_RECURSIVE: return true
    case SQLITE_READ where mayRead(name):
      tables.insert(name)
      return true
    case SQLITE_READ: refused = "reading the table \(name)"
    case SQLITE_FUNCTION where function.lowercased() != "load_extension": return true
    // A full-text index asks for its data version when it is read.
    case SQLITE_PRAGMA where name == "data_version": return true
    default: refused = "anything but reading"
    }
    return false
  }
}

private func authorize(
  _ data: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
  _ second: UnsafePointer<CChar>?, _ database: UnsafePointer<CChar>?,
  _ trigger: UnsafePointer<CChar>?
) -> Int32 {
  guard let data else { return SQLITE_DENY }
  let judge = Unmanaged<ReadJudge>.fromOpaque(data).takeUnretainedValue()
  let name = first.map { String(cString: $0) } ?? ""
  let function = second.map { String(cString: $0) } ?? ""
  return judge.judge(action, name, function) ? SQLITE_OK : SQLITE_DENY
}
