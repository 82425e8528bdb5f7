import FerryWire

/// Counts what one request holds against the limits that Wire.md gives it.
struct RequestCounts {
  private var confirmed: Int = 0
  private var operations: Int = 0
  private var operationBytes: Int = 0
  private var records: Int = 0

  /// Throws `badMessage` with the first limit that `message` goes past, together with all before.
  mutating func add(_ message: Message) throws(WireError) {
    switch message {
    case .hello(let hello):
      try RequestCounts.check(hello.open.count, WireLimits.operationsInFlight, "open operations")
    case .confirm(let confirm):
      confirmed += confirm.answers.count
      try RequestCounts.check(confirmed, WireLimits.answersConfirmed, "confirmed answers")
    case .replay(let replay):
      operations += replay.operations.count
      operationBytes += replay.operations.reduce(0) { $0 + $1.count }
      try RequestCounts.check(operations, WireLimits.operationsInFlight, "operations")
      try RequestCounts.check(
        replay.mayHaveRun.count, WireLimits.operationsInFlight, "operations that may have run")
      // One operation may fill the message alone, and is judged by its own limit then.
      if replay.operations.count > 1 || operations > 1 {
        try RequestCounts.check(operationBytes, WireLimits.replayBytes, "bytes of operations")
      }
    case .report(let report):
      records += report.records.count
      try RequestCounts.check(records, WireLimits.reportRecords, "log records")
    default: return
    }
  }

  private static func check(
    _ count: Int, _ limit: Int, _ what: String
  ) throws(WireError) {
    guard count > limit else { return }
    throw WireError(
      .badMessage, "the request has \(count) \(what); \(limit) are allowed",
      hint: "Send the others in further requests.")
  }
}
