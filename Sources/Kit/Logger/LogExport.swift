import FerryCompression
import FerryWorld

/// Records that the user has selected, to send to support as text or as one compressed file.
public struct LogExport: Sendable {
  public let header: LogHeader
  public let records: [LogEntry]
  private let formatter: any LogFormatter

  public init(
    header: LogHeader, records: [LogEntry], formatter: any LogFormatter = TextLogFormatter()
  ) {
    self.header = header
    self.records = records
    self.formatter = formatter
  }

  /// The nine fields of the header as `Name: value`, an empty line, and a line for each record.
  public var text: String {
    var text = ""
    for field in header.fields { text += "\(field.name): \(oneLine(field.value))\n" }
    text += "\n"
    for record in records { text += formatter.line(record) + "\n" }
    return text
  }

  /// The text in gzip's format, as `flights.log.gz`. Throws `.damaged` when it cannot be compressed.
  public func compressed() throws(LogError) -> [UInt8] {
    try LogExport.compressed(text)
  }

  static func compressed(_ text: String) throws(LogError) -> [UInt8] {
    do {
      return try Gzip.compress(Array(text.utf8))
    } catch {
      throw LogError(.damaged, error.description)
    }
  }

  /// The text of an exported file, compressed or not. Throws `.damaged` and `.tooLarge`.
  public static func text(
    of bytes: [UInt8], limitBytes: Int = 64 << 20
  ) throws(LogError) -> String {
    var plain = bytes
    if bytes.starts(with: Gzip.header) {
      do {
        plain = try Gzip.expand(bytes, limitBytes: limitBytes)
      } catch {
        let isLarge = error.problem.contains("more than")
        throw LogError(isLarge ? .tooLarge : .damaged, error.description)
      }
    }
    guard plain.count <= limitBytes else {
      throw LogError(.tooLarge, "the export has \(plain.count) bytes, the limit is \(limitBytes)")
    }
    guard let text = String(validating: plain, as: UTF8.self) else {
      throw LogError(.damaged, "the export is not UTF-8 text")
    }
    guard text.hasPrefix(LogHeader().fields[0].name + ": ") else {
      throw LogError(.damaged, "the export does not begin with its header")
    }
    return text
  }

  private func oneLine(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 ? " " : $0 }))
  }
}

extension DeviceLog {
  /// The header and all records as text.
  public func text(formatter: any LogFormatter = TextLogFormatter()) -> String {
    LogExport(header: header, records: records(), formatter: formatter).text
  }
}
