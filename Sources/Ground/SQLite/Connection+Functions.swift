import CSQLite

extension Connection {
  /// Gives SQL a function of this connection, of any number of arguments; what a pure one returns
  /// depends on them alone.
  ///
  /// `body` runs while a statement of this connection steps, and must not use the connection.
  public func addFunction(
    _ name: String, isPure: Bool = true, _ body: @escaping ([SQLiteValue]) -> SQLiteValue
  ) throws(SQLiteError) {
    let box = Unmanaged.passRetained(FunctionBox(body)).toOpaque()
    let code = sqlite3_create_function_v2(
      handle, name, -1, SQLITE_UTF8 | (isPure ? SQLITE_DETERMINISTIC : 0), box,
      { context, count, values in
        guard let data = sqlite3_user_data(context) else { return }
        let function = Unmanaged<FunctionBox>.fromOpaque(data).takeUnretainedValue()
        function.body(SQLiteValue.arguments(count, values)).give(to: context)
      }, nil, nil, { release($0, FunctionBox.self) })
    guard code == SQLITE_OK else { throw failure(code, name) }
  }

  /// Gives SQL an aggregate of one argument: `add` takes each value that is not null, `result` gives
  /// what came of them; null where there was none.
  public func addAggregate(
    _ name: String, _ add: @escaping (SQLiteValue?, SQLiteValue) -> SQLiteValue
  ) throws(SQLiteError) {
    let box = Unmanaged.passRetained(AggregateBox(add)).toOpaque()
    let code = sqlite3_create_function_v2(
      handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, box, nil,
      { context, count, values in
        guard let data = sqlite3_user_data(context), let total = AggregateTotal.of(context),
          let value = SQLiteValue.arguments(count, values).first, !value.isNull
        else { return }
        let box = Unmanaged<AggregateBox>.fromOpaque(data).takeUnretainedValue()
        total.value = box.add(total.value, value)
      },
      { context in
        let slot = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(
          to: UnsafeRawPointer?.self)
        guard let held = slot?.pointee else { return }
        let total = Unmanaged<AggregateTotal>.fromOpaque(held).takeRetainedValue()
        total.value?.give(to: context)
      }, { release($0, AggregateBox.self) })
    guard code == SQLITE_OK else { throw failure(code, name) }
  }

  /// Gives SQL an order of texts: `compare` is negative where the first comes before the second.
  public func addCollation(
    _ name: String,
    _ compare: @escaping (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int
  ) throws(SQLiteError) {
    let box = Unmanaged.passRetained(CollationBox(compare)).toOpaque()
    let code = sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, box,
      { data, leftCount, left, rightCount, right in
        guard let data else { return 0 }
        let box = Unmanaged<CollationBox>.fromOpaque(data).takeUnretainedValue()
        let result = box.compare(
          UnsafeBufferPointer(
            start: left?.assumingMemoryBound(to: UInt8.self), count: Int(leftCount)),
          UnsafeBufferPointer(
            start: right?.assumingMemoryBound(to: UInt8.self), count: Int(rightCount)))
        return Int32(result.signum())
      }, { release($0, CollationBox.self) })
    guard code == SQLITE_OK else {
      // Unlike a function's, SQLite does not release what a refused collation was given.
      Unmanaged<CollationBox>.fromOpaque(box).release()
      throw failure(code, name)
    }
  }

  /// The name of the order by which a column compares texts; nil where there is no such column.
  public func collation(of column: String, in table: String) -> String? {
    var name: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(
      handle, "main", table, column, nil, &name, nil, nil, nil)
    guard code == SQLITE_OK, let name else { return nil }
    return String(cString: name)
  }
}

private func release<Box: AnyObject>(_ data: UnsafeMutableRawPointer?, _ type: Box.Type) {
  if let data { Unmanaged<Box>.fromOpaque(data).release() }
}

private final class FunctionBox {
  let body: ([SQLiteValue]) -> SQLiteValue
  init(_ body: @escaping ([SQLiteValue]) -> SQLiteValue) { self.body = body }
}

private final class AggregateBox {
  let add: (SQLiteValue?, SQLiteValue) -> SQLiteValue
  init(_ add: @escaping (SQLiteValue?, SQLiteValue) -> SQLiteValue) { self.add = add }
}

private final class CollationBox {
  let compare: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int
  init(_ compare: @escaping (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int) {
    self.compare = compare
  }
}

/// What an aggregate has come to in one group; SQLite keeps the pointer to it.
private final class AggregateTotal {
  var value: SQLiteValue?

  static func of(_ context: OpaquePointer?) -> AggregateTotal? {
    let bytes = Int32(MemoryLayout<UnsafeRawPointer?>.size)
    guard
      let slot = sqlite3_aggregate_context(context, bytes)?.assumingMemoryBound(
        to: UnsafeRawPointer?.self)
    else { return nil }
    if let held = slot.pointee {
      return Unmanaged<AggregateTotal>.fromOpaque(held).takeUnretainedValue()
    }
    let made = AggregateTotal()
    slot.pointee = UnsafeRawPointer(Unmanaged.passRetained(made).toOpaque())
    return made
  }
}

extension SQLiteValue {
  static func arguments(
    _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) -> [SQLiteValue] {
    (0..<Int(count)).map { index in
      guard let value = values?[index] else { return .null }
      return SQLiteValue(value)
    }
  }

  /// A value that SQLite hands over, by its own type.
  init(_ value: OpaquePointer) {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let start = sqlite3_value_text(value)
      let count = Int(sqlite3_value_bytes(value))
      self = .text(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    case SQLITE_BLOB:
      let start = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      self = .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
    default: self = .null
    }
  }

  fileprivate func give(to context: OpaquePointer?) {
    switch self {
    case .null: sqlite3_result_null(context)
    case .integer(let number): sqlite3_result_int64(context, number)
    case .real(let number): sqlite3_result_double(context, number)
    case .text(let text):
      sqlite3_result_text64(
        context, text, UInt64(text.utf8.count), Statement.transient, UInt8(SQLITE_UTF8))
    case .blob(let bytes):
      sqlite3_result_blob64(context, bytes, UInt64(bytes.count), Statement.transient)
    }
  }
}
