import Foundation

/// The page of `ferry status`.
struct StatusText {
  private(set) var lines: [String] = []

  init(_ status: ServerStatus, now: Date) {
    let isRunning = status.word != "notRunning"
    line("server", "\(status.server): \(isRunning ? "running, \(status.word)" : "not running")")
    if let version = status.version { line("version", version) }
    if let started = status.startedAt {
      let moment = Date(timeIntervalSince1970: Double(started) / 1_000)
      let seconds = max(0, now.timeIntervalSince(moment))
      line("since", "\(moment.formatted(.iso8601)), for \(StatusText.span(seconds))")
    }
    for problem in status.problems { line("problem", problem) }
    if let users = status.users { line("users", "\(users)") }
    if let devices = status.devices {
      let locked = status.lockedDevices ?? 0
      line("devices", "\(devices)\(locked > 0 ? ", \(locked) locked" : "")")
    }
    for package in status.packages { write(package) }
  }

  private mutating func write(_ package: ServerStatus.Package) {
    let facts = [package.name, package.word, package.database ?? ""].filter { !$0.isEmpty }
    line("package", facts.joined(separator: "  "))
    if let devices = package.devices {
      let open = package.channels.map { ", \(Int($0)) connected" } ?? ""
      line("  devices", "\(devices)\(open)")
    }
    if let waiting = package.waiting {
      let oldest = waiting > 0 ? package.oldestSeconds : nil
      line(
        "  waiting",
        Terminal.counted(Int(waiting), "operation", "operations")
          + (oldest.map { ", the oldest for \(StatusText.span($0))" } ?? ""))
    }
    if let waits = package.credentialWaits, waits > 0 {
      let operations = Terminal.counted(Int(waits), "operation waits", "operations wait")
      line("  waiting", "\(operations) for a credential of the user, see the log")
    }
    if let rows = package.loadedRows {
      line("  loading", "\(rows)\(package.loadRows.map { " of \($0)" } ?? "") rows")
    }
    if let behind = package.behindSeconds {
      line("  changes", "read up to \(StatusText.span(behind)) ago")
    }
    if let compared = package.comparedSeconds {
      line("  rows", "last compared \(StatusText.span(compared)) ago, or at the start")
    }
    for group in package.cacheGroups { line("  cache", group.text) }
    if let rows = package.leftOutRows {
      line(
        "  left out",
        "\(Terminal.counted(Int(rows), "row", "rows")), see the log and `ferry why`"
          + (package.leftOutExample.map { ": \($0)" } ?? ""))
    }
    for problem in package.problems { line("  problem", problem) }
  }

  private mutating func line(_ name: String, _ text: String) {
    lines.append("\(Terminal.padded(name, 10)) \(Terminal.harmless(text))")
  }

  /// As exact as an operator needs it.
  static func span(_ seconds: Double) -> String {
    switch seconds {
    case ..<10: "\(Double(Int(seconds * 10)) / 10) s"
    case ..<120: "\(Int(seconds)) s"
    case ..<7_200: "\(Int(seconds / 60)) min"
    case ..<172_800: "\(Int(seconds / 3_600)) h"
    default: "\(Int(seconds / 86_400)) days"
    }
  }
}
