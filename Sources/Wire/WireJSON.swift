import FerryJSON
import FerryModel

// The small forms that several messages share.

extension JSONWriter {
  mutating func identifiers(_ ids: [OperationID]) { array(ids) { $0.string($1.text) } }

  mutating func cursor(_ cursor: Cursor) {
    beginArray()
    integer(cursor.version)
    integer(cursor.row)
    endArray()
  }

  mutating func cursors(_ cursors: [PartitionCursor]) {
    array(cursors) { writer, cursor in
      writer.beginArray()
      writer.integer(cursor.partition)
      writer.integer(cursor.cursor.version)
      writer.integer(cursor.cursor.row)
      writer.endArray()
    }
  }
}

extension JSONScanner {
  mutating func list<Element>(
    _ element: (inout JSONScanner) throws(JSONError) -> Element
  ) throws(JSONError) -> [Element] {
    var list: [Element] = []
    try enterArray()
    while try nextElement() { list.append(try element(&self)) }
    return list
  }

  mutating func strings() throws(JSONError) -> [String] {
    try list { scanner throws(JSONError) in try scanner.string() }
  }

  mutating func integers() throws(JSONError) -> [Int64] {
    try list { scanner throws(JSONError) in try scanner.integer() }
  }

  mutating func optionalString() throws(JSONError) -> String? {
    if try peek() == .null {
      try null()
      return nil
    }
    return try string()
  }

  mutating func identifier() throws(JSONError) -> OperationID {
    guard let id = OperationID(try string()) else {
      throw failure("an operation's id is 32 hexadecimal digits")
    }
    return id
  }

  mutating func identifiers() throws(JSONError) -> [OperationID] {
    try list { scanner throws(JSONError) in try scanner.identifier() }
  }

  mutating func cursor() throws(JSONError) -> Cursor {
    let numbers = try integers()
    guard numbers.count == 2 else { throw failure("a cursor is two numbers") }
    return Cursor(version: numbers[0], row: numbers[1])
  }

  mutating func cursors() throws(JSONError) -> [PartitionCursor] {
    try list { scanner throws(JSONError) in
      let numbers = try scanner.integers()
      guard numbers.count == 3 else {
        throw scanner.failure("a partition's cursor is three numbers")
      }
      return PartitionCursor(
        partition: numbers[0], cursor: Cursor(version: numbers[1], row: numbers[2]))
    }
  }

  mutating func operationStates() throws(JSONError) -> [OperationStatus] {
    var states: [OperationStatus] = []
    try enterObject()
    while let key = try nextKey() {
      guard let id = OperationID(key), let state = OperationStatus.State(rawValue: try string())
      else {
        throw failure("an operation's state is neverSeen, inWork or answered")
      }
      states.append(OperationStatus(id: id, state: state))
    }
    return states
  }

  /// `replayFailure` is the reference's second name for `replayFailed`; both are read.
  mutating func outcome() throws(JSONError) -> Answer.Outcome {
    let name = try string()
    guard let outcome = Answer.Outcome(rawValue: name == "replayFailure" ? "replayFailed" : name)
    else {
      throw failure("an answer's method is replayResult, replayFailed, notTried or unknown")
    }
    return outcome
  }
}
