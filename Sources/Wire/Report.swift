import FerryJSON
import FerryModel

/// Log records that an app wrote on its device and submitted.
///
/// Each has an id that was drawn when it was written (`LogRecord.requestID`): whoever reports again
/// reports the same, and the server keeps it once.
public struct Report: Sendable, Equatable {
  /// At most `WireLimits.reportRecords`.
  public let records: [LogRecord]

  public init(records: [LogRecord]) { self.records = records }
}

extension Report {
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("records")
    writer.array(records) { $0.logRecord($1) }
    writer.endObject()
    return writer.bytes
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var records: [LogRecord] = []
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "records":
        records = try scanner.list { scanner throws(JSONError) in try LogRecord(&scanner) }
      default: try scanner.skipValue()
      }
    }
    self.init(records: records)
  }
}
