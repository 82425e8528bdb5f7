import FerryJSON
import FerryServer
import FerryWorld

/// Sends the metrics of `/metrics` to a collector over OTLP/HTTP, as JSON.
///
/// All values are since the start, so one reading replaces those before it: while the collector is away
/// nothing is kept, and the next reading has all. The log says so once.
struct MetricExport: Sendable {
  private let collector: Collector
  private let interval: Duration
  private let started: Timestamp
  private let clock: any WorldClock

  init(_ address: String, every interval: Duration, _ world: World) {
    collector = Collector(address, "v1/metrics")
    self.interval = interval
    clock = world.clock
    started = world.clock.now
  }

  /// Sends a reading each time that the interval is over, until the task is cancelled.
  func run(
    _ log: any Log, _ read: @Sendable () -> [MetricFamily],
    wait: @Sendable (Duration) async -> Void
  ) async {
    var isAway = false
    while !Task.isCancelled {
      await wait(interval)
      let families = read()
      guard !families.isEmpty, !Task.isCancelled else { continue }
      let failure = await collector.send(MetricExport.body(families, from: started, to: clock.now))
      if let failure, !isAway {
        log.warn(
          "metrics cannot be sent to the collector", ("address", collector.address),
          ("reason", failure))
      } else if failure == nil, isAway {
        log.info("metrics are sent to the collector again", ("address", collector.address))
      }
      isAway = failure != nil
    }
  }

  /// The form of OTLP 1.0: 64-bit numbers and times as texts, sums since the start.
  static func body(
    _ families: [MetricFamily], from start: Timestamp, to now: Timestamp
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("resourceMetrics")
    writer.array([families]) { writer, families in
      writer.beginObject()
      Collector.writeResource(to: &writer)
      writer.key("scopeMetrics")
      writer.array([families]) { writer, families in
        writer.beginObject()
        Collector.writeScope(to: &writer)
        writer.key("metrics")
        writer.array(families) { writer, family in
          write(family, times: (nanoseconds(start), nanoseconds(now)), to: &writer)
        }
        writer.endObject()
      }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  private static func nanoseconds(_ moment: Timestamp) -> String {
    "\(moment.milliseconds)000000"
  }

  private static func write(
    _ family: MetricFamily, times: (start: String, now: String), to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.field("name", family.name)
    writer.field("description", family.help)
    if family.name.hasSuffix("_seconds") { writer.field("unit", "s") }
    switch family.kind {
    case .counter: writer.key("sum")
    case .gauge: writer.key("gauge")
    case .histogram: writer.key("histogram")
    }
    writer.beginObject()
    if family.kind != .gauge {
      // CUMULATIVE.
      writer.field("aggregationTemporality", Int64(2))
    }
    if family.kind == .counter { writer.field("isMonotonic", true) }
    writer.key("dataPoints")
    writer.array(family.points) { writer, point in
      writer.beginObject()
      writer.key("attributes")
      Collector.write(point.labels, to: &writer)
      if family.kind != .gauge { writer.field("startTimeUnixNano", times.start) }
      writer.field("timeUnixNano", times.now)
      write(point.value, to: &writer)
      writer.endObject()
    }
    writer.endObject()
    writer.endObject()
  }

  private static func write(_ value: MetricFamily.Value, to writer: inout JSONWriter) {
    switch value {
    case .count(let count): writer.field("asInt", String(count))
    case .seconds(let seconds):
      writer.key("asDouble")
      writer.double(seconds)
    case .histogram(let bounds, let counts, let count, let sum):
      writer.field("count", String(count))
      writer.key("sum")
      writer.double(sum)
      writer.key("explicitBounds")
      writer.array(bounds) { $0.double($1) }
      // Each bucket has its own, those beyond the last bound too.
      writer.key("bucketCounts")
      writer.array(Array((counts + [count]).enumerated())) { writer, one in
        let below = one.offset == 0 ? 0 : counts[one.offset - 1]
        writer.string(String(one.element - below))
      }
    }
  }
}
