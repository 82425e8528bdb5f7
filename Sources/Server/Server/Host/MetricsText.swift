import FerryWorld

/// The answer to `GET /metrics`, in the text format of Prometheus.
struct MetricsText {
  static let contentType: String = "text/plain; version=0.0.4; charset=utf-8"

  /// A package as it is now.
  struct Entry {
    let package: String
    let state: PackageMeter.State
    let isLoaded: Bool
    let isTroubled: Bool
    /// Rows of the business system that do not fit the model.
    let rejectedRows: Int
  }

  private(set) var text: String = ""

  init(_ entries: [Entry], refusals: [String: Int64], now: Timestamp) {
    writeCounters(entries)
    writeLevels(entries, now)
    writeHistograms(entries)
    head("ferry_requests_refused_total", "counter", "Logins and requests refused, by code.")
    for (code, count) in refusals.sorted(by: { $0.key < $1.key }) {
      line("ferry_requests_refused_total", [("code", code)], "\(count)")
    }
  }

  private mutating func writeCounters(_ entries: [Entry]) {
    each("ferry_polls_total", "counter", "Exchanges that devices have begun.", entries) {
      "\($0.state.counts.polls)"
    }
    each("ferry_channels_opened_total", "counter", "Channels that devices have opened.", entries) {
      "\($0.state.counts.channelsOpened)"
    }
    head("ferry_operations_total", "counter", "Operations answered, by outcome.")
    for entry in entries {
      let counts = entry.state.counts
      let refused = counts.refusals.values.reduce(0, +)
      for (outcome, count) in [
        ("accepted", counts.accepted), ("refused", refused), ("unknown", counts.unknown),
      ] {
        line(
          "ferry_operations_total", [("package", entry.package), ("outcome", outcome)], "\(count)")
      }
    }
    head("ferry_refusals_total", "counter", "Operations refused, by reason.")
    for entry in entries {
      for reason in ["business", "conflict", "rights"] {
        line(
          "ferry_refusals_total", [("package", entry.package), ("reason", reason)],
          "\(entry.state.counts.refusals[reason] ?? 0)")
      }
    }
  }

  private mutating func writeLevels(_ entries: [Entry], _ now: Timestamp) {
    each("ferry_channels", "gauge", "Channels that are open.", entries) {
      "\($0.state.levels.channels)"
    }
    each("ferry_waiting_operations", "gauge", "Operations without an answer.", entries) {
      "\($0.state.levels.waitingOperations)"
    }
    each(
      "ferry_credential_waits", "gauge", "Operations that wait for a credential of their user.",
      entries
    ) { "\($0.state.levels.credentialWaits)" }
    each(
      "ferry_replay_age_seconds", "gauge", "Age of the oldest operation without an answer.",
      entries
    ) { MetricsText.seconds(since: $0.state.levels.oldestOperation, now) }
    each(
      "ferry_load_age_seconds", "gauge",
      "Time since the last comparison of all rows ended, or since the start.", entries
    ) { MetricsText.seconds(since: $0.state.loadedAt, now) }
    each(
      "ferry_capture_lag_seconds", "gauge",
      "The cache holds all that the business system had committed this long ago.", entries
    ) { MetricsText.seconds(since: $0.state.capturedUpTo, now) }
    each("ferry_loaded", "gauge", "1 once a first load has ended.", entries) {
      $0.isLoaded ? "1" : "0"
    }
    each("ferry_store_trouble", "gauge", "1 while the store cannot be used.", entries) {
      $0.isTroubled ? "1" : "0"
    }
    each(
      "ferry_rows_left_out", "gauge",
      "Rows of the business system that no device gets, as they do not fit the model.", entries
    ) { "\($0.rejectedRows)" }
  }

  private mutating func writeHistograms(_ entries: [Entry]) {
    histogram(
      "ferry_store_latency_seconds", "Time of a numbered transaction of the store.", entries
    ) { $0.storeSeconds }
    histogram(
      "ferry_delivery_age_seconds",
      "From the commit in the business system to an open channel of a device, at most.", entries
    ) { $0.deliverySeconds }
  }

  private static func seconds(since moment: Timestamp?, _ now: Timestamp) -> String {
    guard let moment else { return "0" }
    return "\(Double(max(0, now.milliseconds - moment.milliseconds)) / 1_000)"
  }

  private mutating func each(
    _ name: String, _ kind: String, _ help: String, _ entries: [Entry],
    _ value: (Entry) -> String
  ) {
    head(name, kind, help)
    for entry in entries { line(name, [("package", entry.package)], value(entry)) }
  }

  private mutating func histogram(
    _ name: String, _ help: String, _ entries: [Entry],
    _ value: (PackageMeter.Counts) -> Histogram
  ) {
    head(name, "histogram", help)
    for entry in entries {
      let found = value(entry.state.counts)
      let label = ("package", entry.package)
      for (bound, count) in zip(found.bounds, found.counts) {
        line("\(name)_bucket", [label, ("le", "\(bound)")], "\(count)")
      }
      line("\(name)_bucket", [label, ("le", "+Inf")], "\(found.count)")
      line("\(name)_sum", [label], "\(found.sum)")
      line("\(name)_count", [label], "\(found.count)")
    }
  }

  private mutating func head(_ name: String, _ kind: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
  }

  private mutating func line(_ name: String, _ labels: [(String, String)], _ value: String) {
    let shown = labels.map { label, text in "\(label)=\"\(MetricsText.escaped(text))\"" }
    text += "\(name){\(shown.joined(separator: ","))} \(value)\n"
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
