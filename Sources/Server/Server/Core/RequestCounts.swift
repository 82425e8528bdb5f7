import FerryModel
import FerryWire

/// Counts what one request holds against the limits that Wire.md gives it.
struct RequestCounts {
  private var confirmed: Int = 0
  private var operations: Int = 0
  private var operationBytes: Int = 0
  private var records: Int = 0
  private var partitions: Int = 0
  private var confirms: Int = 0
  private var writes: Int = 0
  /// Groups that are pulled: each pull reads and makes a checkpoint.
  private var pulled: Set<ExactText> = []

  /// Throws `badMessage` with the first limit that `message` goes past, together with all before.
  mutating func add(_ message: Message) throws(WireError) {
    switch message {
    case .hello(let hello):
      partitions += hello.partitions.count
      try RequestCounts.check(hello.open.count, WireLimits.operationsInFlight, "open operations")
    case .pull(let pull):
      guard pulled.insert(ExactText(pull.group)).inserted else {
        throw WireError(
          .badMessage, "the request pulls the group \(pull.group) twice",
          hint: "Send one pull for each group.")
      }
      try RequestCounts.check(pulled.count, WireLimits.groupsInMessage, "pulls")
      partitions += pull.staged.count
      try RequestCounts.check(partitions, WireLimits.partitionsInMessage, "partitions")
    case .confirm(let confirm):
      confirms += 1
      try RequestCounts.check(confirms, WireLimits.groupsInMessage, "confirms")
      confirmed += confirm.answers.count
      try RequestCounts.check(confirmed, WireLimits.answersConfirmed, "confirmed answers")
    case .replay(let replay):
      try countWrite()
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
      try countWrite()
      records += report.records.count
      try RequestCounts.check(records, WireLimits.reportRecords, "log records")
    default: return
    }
  }

  private mutating func countWrite() throws(WireError) {
    writes += 1
    try RequestCounts.check(
      writes, WireLimits.writesInRequest, "messages of kind replay and report")
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
