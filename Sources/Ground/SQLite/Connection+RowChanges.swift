#if os(Linux)
  import CSQLite

  /// What a statement, a trigger or a cascade is about to do to one row of a table.
  ///
  /// Valid only inside the closure given to `observeRowChanges`.
  public struct RowChange {
    /// As the schema spells it.
    public let table: String
    private let handle: OpaquePointer
    private let operation: Int32
    private let rowIDs: (before: Int64, after: Int64)

    fileprivate init(
      table: String, handle: OpaquePointer, operation: Int32, rowIDs: (Int64, Int64)
    ) {
      self.table = table
      self.handle = handle
      self.operation = operation
      self.rowIDs = rowIDs
    }

    /// The row id before the change, nil when the row is new; of a table that has row ids. SQLite
    /// knows it without reading the row, which `before` and `after` make it hold as a whole.
    public var rowIDBefore: Int64? { operation == SQLITE_INSERT ? nil : rowIDs.before }

    /// The row id after the change, nil when the row goes.
    public var rowIDAfter: Int64? { operation == SQLITE_DELETE ? nil : rowIDs.after }

    /// Column values before the change, nil when the row is new. Columns are counted as they are
    /// stored: virtual generated columns do not count.
    public func before(_ columns: [Int]) -> [SQLiteValue]? {
      operation == SQLITE_INSERT ? nil : values(columns, sqlite3_preupdate_old)
    }

    /// Column values after the change, nil when the row goes.
    public func after(_ columns: [Int]) -> [SQLiteValue]? {
      operation == SQLITE_DELETE ? nil : values(columns, sqlite3_preupdate_new)
    }

    private func values(
      _ columns: [Int],
      _ read: (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
    ) -> [SQLiteValue]? {
      var values: [SQLiteValue] = []
      for column in columns {
        var value: OpaquePointer?
        guard read(handle, Int32(column), &value) == SQLITE_OK, let value else { return nil }
        values.append(SQLiteValue(value))
      }
      return values
    }
  }

  extension Connection {
    /// Calls `body` before each change of a row in the main database, effects of triggers and
    /// cascades and rows that REPLACE removes included; nil ends it.
    ///
    /// A statement that fails later is not called back: what was seen may not have happened.
    /// `body` must not use the connection.
    public func observeRowChanges(_ body: ((RowChange) -> Void)?) {
      guard let body else {
        _ = sqlite3_preupdate_hook(handle, nil, nil)
        rowObserver = nil
        return
      }
      let observer = RowObserver(body)
      rowObserver = observer
      _ = sqlite3_preupdate_hook(
        handle,
        { context, handle, operation, database, table, before, after in
          guard let context, let handle, let database, let table,
            String(cString: database) == "main"
          else { return }
          Unmanaged<RowObserver>.fromOpaque(context).takeUnretainedValue()
            .body(
              RowChange(
                table: String(cString: table), handle: handle, operation: operation,
                rowIDs: (before, after)))
        }, Unmanaged.passUnretained(observer).toOpaque())
    }
  }

  private final class RowObserver {
    let body: (RowChange) -> Void
    init(_ body: @escaping (RowChange) -> Void) { self.body = body }
  }
#endif
