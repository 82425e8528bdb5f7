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
  mutating func names(of member: String) throws(JSONError) -> [String] {
    try list(of: member, atMost: WireLimits.groupsInMessage) { scanner throws(JSONError) in
      try scanner.name(of: member)
    }
  }

  mutating func integers(of member: String, atMost limit: Int) throws(JSONError) -> [Int64] {
    try list(of: member, atMost: limit) { scanner throws(JSONError) in try scanner.integer() }
  }

  mutating func partitions(of member: String) throws(JSONError) -> [Int64] {
    try integers(of: member, atMost: WireLimits.partitionsInMessage)
  }

  mutating func identifier() throws(JSONError) -> OperationID {
    guard let id = OperationID(try string()) else {
      throw failure("an operation's id is 32 hexadecimal digits")
    }
    return id
  }

  mutating func identifiers(
    of member: String, atMost limit: Int
  ) throws(JSONError) -> [OperationID] {
    try list(of: member, atMost: limit) { scanner throws(JSONError) in try scanner.identifier() }
  }

  mutating func cursor() throws(JSONError) -> Cursor {
    let numbers = try integers(of: "a cursor", atMost: 2)
    guard numbers.count == 2 else { throw failure("a cursor is two numbers") }
    return Cursor(version: numbers[0], row: numbers[1])
  }

  mutating func cursors(of member: String) throws(JSONError) -> [PartitionCursor] {
    try list(of: member, atMost: WireLimits.partitionsInMessage) { scanner throws(JSONError) in
      let numbers = try scanner.integers(of: "a partition's cursor", atMost: 3)
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
    while let key = try nextName(
      of: "operations", after: states.count, atMost: WireLimits.operationsInFlight)
    {
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
