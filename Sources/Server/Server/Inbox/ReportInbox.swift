import FerryJSON
import FerryModel
import FerryWire

/// Takes in the log records that apps wrote on their devices, each once.
struct ReportInbox {
  let store: any Store
  let limits: ServiceLimits
  /// The bytes that users may still send before theirs are counted again.
  private var room: [ExactText: Int] = [:]

  /// Users of whom it is remembered.
  private static let usersInMemory: Int = 10_000

  init(store: any Store, limits: ServiceLimits) {
    self.store = store
    self.limits = limits
  }

  /// One durable transaction. Returns the ids of all of them: those that were here already too.
  mutating func keep(_ report: Report, from owner: Owner) throws(StoreError) -> [OperationID] {
    let records = report.records.map { record in
      var writer = JSONWriter()
      writer.logRecord(record)
      return StoredReport(id: record.requestID, level: record.level, json: writer.text)
    }
    try store.keep(
      records, from: owner, perDevice: limits.reportsPerDevice, perUser: limits.reportsPerUser)
    try count(records.reduce(0) { $0 + $1.json.utf8.count }, of: owner.user)
    return records.map(\.id)
  }

  /// To count is to read all of them, so it is done when a quarter of the bound may have come.
  private mutating func count(_ bytes: Int, of user: ExactText) throws(StoreError) {
    let left = (room[user] ?? 0) - bytes
    guard left < 0 else {
      room[user] = left
      return
    }
    if room.count >= ReportInbox.usersInMemory { room = [:] }
    let limit = limits.reportBytesPerUser
    room[user] = limit - (try store.cutReports(of: user, toBytes: limit * 3 / 4))
  }
}
