import FerryWorld

/// A metric with what it says now, before it has the form of a protocol.
package struct MetricFamily: Sendable {
  package enum Kind: String, Sendable { case counter, gauge, histogram }

  package struct Point: Sendable {
    package let labels: [(name: String, value: String)]
    package let value: Value
  }

  package enum Value: Sendable {
    case count(Int64)
    case seconds(Double)
    /// `counts` are those up to each bound; `count` has those beyond the last bound too.
    case histogram(bounds: [Double], counts: [Int64], count: Int64, sum: Double)
  }

  package let name: String
  package let kind: Kind
  package let help: String
  package fileprivate(set) var points: [Point] = []

  fileprivate init(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    self.kind = kind
    self.help = help
  }
}

/// All metrics of a server: those of `/metrics`, and those that a collector gets.
struct MetricFamilies {
  /// A package as it is now.
  struct Entry {
    let package: String
    let state: PackageMeter.State
    let isLoaded: Bool
    let isTroubled: Bool
    /// Rows of the business system that do not fit the model.
    let rejectedRows: Int
  }

  private(set) var all: [MetricFamily] = []

  init(_ entries: [Entry], refusals: [String: Int64], now: Timestamp) {
    addCounters(entries)
    addLevels(entries, now)
    addHistograms(entries)
    add("ferry_requests_refused_total", .counter, "Logins and requests refused, by code.") {
      family in
      for (code, count) in refusals.sorted(by: { $0.key < $1.key }) {
        family.points.append(MetricFamily.Point(labels: [("code", code)], value: .count(count)))
      }
    }
  }

  private mutating func addCounters(_ entries: [Entry]) {
    each("ferry_polls_total", .counter, "Exchanges that devices have begun.", entries) {
      .count($0.state.counts.polls)
    }
    each("ferry_channels_opened_total", .counter, "Channels that devices have opened.", entries) {
      .count($0.state.counts.channelsOpened)
    }
    add("ferry_operations_total", .counter, "Operations answered, by outcome.") { family in
      for entry in entries {
        let counts = entry.state.counts
        let refused = counts.refusals.values.reduce(0, +)
        for (outcome, count) in [
          ("accepted", counts.accepted), ("refused", refused), ("unknown", counts.unknown),
        ] {
          family.points.append(
            MetricFamily.Point(
              labels: [("package", entry.package), ("outcome", outcome)], value: .count(count)))
        }
      }
    }
    add("ferry_refusals_total", .counter, "Operations refused, by reason.") { family in
      for entry in entries {
        for reason in ["business", "conflict", "rights"] {
          family.points.append(
            MetricFamily.Point(
              labels: [("package", entry.package), ("reason", reason)],
              value: .count(entry.state.counts.refusals[reason] ?? 0)))
        }
      }
    }
  }

  private mutating func addLevels(_ entries: [Entry], _ now: Timestamp) {
    each("ferry_channels", .gauge, "Channels that are open.", entries) {
      .count(Int64($0.state.levels.channels))
    }
    each("ferry_waiting_operations", .gauge, "Operations without an answer.", entries) {
      .count(Int64($0.state.levels.waitingOperations))
    }
    each(
      "ferry_credential_waits", .gauge, "Operations that wait for a credential of their user.",
      entries
    ) { .count(Int64($0.state.levels.credentialWaits)) }
    each(
      "ferry_replay_age_seconds", .gauge, "Age of the oldest operation without an answer.",
      entries
    ) { MetricFamilies.seconds(since: $0.state.levels.oldestOperation, now) }
    each(
      "ferry_load_age_seconds", .gauge,
      "Time since the last comparison of all rows ended, or since the start.", entries
    ) { MetricFamilies.seconds(since: $0.state.loadedAt, now) }
    each(
      "ferry_capture_lag_seconds", .gauge,
      "The cache holds all that the business system had committed this long ago.", entries
    ) { MetricFamilies.seconds(since: $0.state.capturedUpTo, now) }
    each("ferry_loaded", .gauge, "1 once a first load has ended.", entries) {
      .count($0.isLoaded ? 1 : 0)
    }
    each("ferry_store_trouble", .gauge, "1 while the store cannot be used.", entries) {
      .count($0.isTroubled ? 1 : 0)
    }
    each(
      "ferry_rows_left_out", .gauge,
      "Rows of the business system that no device gets, as they do not fit the model.", entries
    ) { .count(Int64($0.rejectedRows)) }
  }

  private mutating func addHistograms(_ entries: [Entry]) {
    each(
      "ferry_store_latency_seconds", .histogram, "Time of a numbered transaction of the store.",
      entries
    ) { MetricFamilies.value(of: $0.state.counts.storeSeconds) }
    each(
      "ferry_delivery_age_seconds", .histogram,
      "From the commit in the business system to an open channel of a device, at most.", entries
    ) { MetricFamilies.value(of: $0.state.counts.deliverySeconds) }
  }

  private static func value(of histogram: Histogram) -> MetricFamily.Value {
    .histogram(
      bounds: histogram.bounds, counts: histogram.counts, count: histogram.count,
      sum: histogram.sum)
  }

  private static func seconds(since moment: Timestamp?, _ now: Timestamp) -> MetricFamily.Value {
    guard let moment else { return .count(0) }
    return .seconds(Double(max(0, now.milliseconds - moment.milliseconds)) / 1_000)
  }

  private mutating func each(
    _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ entries: [Entry],
    _ value: (Entry) -> MetricFamily.Value
  ) {
    add(name, kind, help) { family in
      family.points = entries.map {
        MetricFamily.Point(labels: [("package", $0.package)], value: value($0))
      }
    }
  }

  private mutating func add(
    _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ fill: (inout MetricFamily) -> Void
  ) {
    var family = MetricFamily(name, kind, help)
    fill(&family)
    all.append(family)
  }
}
