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
        var bytes = 0
        records = try scanner.list(of: key, atMost: WireLimits.reportRecords) {
          scanner throws(JSONError) in
          let start = scanner.position
          let record = try LogRecord(&scanner)
          bytes += scanner.position - start
          guard bytes <= WireLimits.reportBytes else {
            throw scanner.failure(
              "records have more than the \(WireLimits.reportBytes) bytes that are allowed")
          }
          return record
        }
      default: try scanner.skipValue()
      }
    }
    self.init(records: records)
  }
}
