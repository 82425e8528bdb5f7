import FerryText

/// Decides, besides the level, which records are kept. Called on the thread that logs.
public protocol LogFilter: Sendable {
  /// Whether the record is kept and given to the handlers.
  func allows(_ record: LogEntry) -> Bool
}

/// Converts a record to text.
public protocol LogFormatter: Sendable {
  /// One line without its end.
  func line(_ record: LogEntry) -> String
}

/// Receives each record that is kept, besides the log's own memory.
///
/// Called on the thread that logs, by several threads at once; it must not log and must not wait.
public protocol LogHandler: Sendable {
  /// Takes a record.
  func handle(_ record: LogEntry)
}

/// `yyyy-MM-dd HH:mm:ss.SSS LEVEL tag location message`. The time is in UTC unless `offsetSeconds`
/// is set.
///
/// Line ends within a message are written as `\n`, so that a record is one line.
public struct TextLogFormatter: LogFormatter {
  /// Seconds to add to UTC.
  public let offsetSeconds: Int

  public init(offsetSeconds: Int = 0) { self.offsetSeconds = offsetSeconds }

  public func line(_ record: LogEntry) -> String {
    var line = date(record.time.milliseconds + Int64(offsetSeconds) * 1_000)
    line += " \(record.severity.name.uppercased()) \(record.tag)"
    if !record.location.isEmpty { line += " \(record.location)" }
    line += " \(record.message)"
    if let error = record.error { line += " error=\(error)" }
    if let id = record.correlationID { line += " correlation=\(id)" }
    return oneLine(line)
  }

  private func oneLine(_ line: String) -> String {
    guard line.utf8.contains(where: { $0 == 10 || $0 == 13 }) else { return line }
    var scalars = String.UnicodeScalarView()
    for scalar in line.unicodeScalars {
      switch scalar {
      case "\n": scalars.append(contentsOf: "\\n".unicodeScalars)
      case "\r": scalars.append(contentsOf: "\\r".unicodeScalars)
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  private func date(_ milliseconds: Int64) -> String {
    let day = Int64((Double(milliseconds) / 86_400_000).rounded(.down))
    let rest = milliseconds - day * 86_400_000
    let date = CivilDay(number: day)
    let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60].map { padded($0, 2) }
    return padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) + " "
      + clock.joined(separator: ":") + "." + padded(rest % 1_000, 3)
  }

  private func padded(_ number: Int64, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
