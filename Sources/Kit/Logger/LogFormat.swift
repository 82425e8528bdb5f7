import FerryWorld

/// Records as lines of text that can be read back: ten cells with tabs between.
///
/// Tabs, line ends and backslashes of a cell are written as `\t`, `\n`, `\r` and `\\`; a missing
/// error or correlation id is `\0`.
enum LogFormat {
  static let header = "FerryLog 1"
  static let start = "FerryLog "

  static func line(_ record: LogEntry) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(128 + record.message.utf8.count)
    append(String(record.number), &bytes)
    append(String(record.time.milliseconds), &bytes)
    append(record.severity.name, &bytes)
    append(record.tag, &bytes)
    append(record.component, &bytes)
    append(record.message, &bytes)
    append(record.location, &bytes)
    append(record.error, &bytes)
    append(String(record.process), &bytes)
    append(record.correlationID, &bytes)
    bytes[bytes.count - 1] = 10
    return bytes
  }

  /// nil when the line is no record.
  static func record(_ line: ArraySlice<UInt8>) -> LogEntry? {
    let cells = line.split(separator: 9, omittingEmptySubsequences: false)
    guard cells.count == 10, let number = parsed(cells[0], Int64.self),
      let time = parsed(cells[1], Int64.self), let name = text(cells[2]),
      let severity = LogSeverity.allCases.first(where: { $0.name == name }),
      let tag = text(cells[3]), let component = text(cells[4]), let message = text(cells[5]),
      let location = text(cells[6]), let process = parsed(cells[8], Int32.self),
      cells[7] == none || text(cells[7]) != nil, cells[9] == none || text(cells[9]) != nil
    else { return nil }
    return LogEntry(
      number: number, time: Timestamp(milliseconds: time), severity: severity, tag: tag,
      component: component, message: message, location: location, error: text(cells[7]),
      process: process, correlationID: text(cells[9]))
  }

  private static let none: ArraySlice<UInt8> = [UInt8(ascii: "\\"), UInt8(ascii: "0")]

  private static func parsed<Value: FixedWidthInteger>(
    _ cell: ArraySlice<UInt8>, _ type: Value.Type
  ) -> Value? {
    text(cell).flatMap { Value($0) }
  }

  private static func append(_ text: String?, _ bytes: inout [UInt8]) {
    guard let text else {
      bytes.append(contentsOf: none)
      bytes.append(9)
      return
    }
    for byte in text.utf8 {
      switch byte {
      case 9: bytes.append(contentsOf: [92, UInt8(ascii: "t")])
      case 10: bytes.append(contentsOf: [92, UInt8(ascii: "n")])
      case 13: bytes.append(contentsOf: [92, UInt8(ascii: "r")])
      case 92: bytes.append(contentsOf: [92, 92])
      default: bytes.append(byte)
      }
    }
    bytes.append(9)
  }

  private static func text(_ cell: ArraySlice<UInt8>) -> String? {
    guard cell.contains(92) else { return String(validating: cell, as: UTF8.self) }
    var bytes: [UInt8] = []
    var isEscape = false
    for byte in cell {
      if isEscape {
        switch byte {
        case 92: bytes.append(92)
        case UInt8(ascii: "t"): bytes.append(9)
        case UInt8(ascii: "n"): bytes.append(10)
        case UInt8(ascii: "r"): bytes.append(13)
        default: return nil
        }
        isEscape = false
      } else if byte == 92 {
        isEscape = true
      } else {
        bytes.append(byte)
      }
    }
    return isEscape ? nil : String(validating: bytes, as: UTF8.self)
  }
}
