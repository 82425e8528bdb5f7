import FerryJSON
import FerryModel
import FerryWire

/// Takes in the log records that apps wrote on their devices, each once.
struct ReportInbox {
  let store: any Store
  let limits: ServiceLimits

  /// One durable transaction. Returns the ids of all of them: those that were here already too.
  func keep(_ report: Report, from owner: Owner) throws(StoreError) -> [OperationID] {
    let records = report.records.map { record in
      var writer = JSONWriter()
      writer.logRecord(record)
      return StoredReport(id: record.requestID, level: record.level, json: writer.text)
    }
    try store.keep(
      records, from: owner, perDevice: limits.reportsPerDevice, perUser: limits.reportsPerUser)
    return records.map(\.id)
  }
}

/// A log record of a device, as the operator sees it (`ferry log`).
public struct DeviceReport: Sendable, Equatable {
  public let package: String
  public let device: String
  public let user: String
  public let record: LogRecord

  /// Which of them; everything that is given must hold.
  public struct Question: Sendable {
    public var user: String?
    public var device: String?
    public var component: String?
    /// This level or a graver one.
    public var atLeast: LogRecord.Level = .trace
    public var take: Int = 100

    public init() {}
  }

  package init(package: String, device: String, user: String, record: LogRecord) {
    self.package = package
    self.device = device
    self.user = user
    self.record = record
  }
}
