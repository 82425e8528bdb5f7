import FerryJSON
import FerryWorld
import Synchronization

/// Sends spans to a collector over OTLP/HTTP, as JSON. Whoever gives a span never waits.
///
/// While the collector is away spans are dropped beyond `countLimit`, and the log says so once.
final class SpanExport: SpanReceiver {
  static let countLimit = 4_096
  private static let batch = 512
  private static let interval: Duration = .seconds(1)

  private let collector: Collector
  private let state = Mutex(State())

  private struct State {
    var spans: [Span] = []
    var dropped = 0
  }

  /// `address` as OpenTelemetry's exporters take it, such as `http://collector:4318`.
  init(_ address: String) { collector = Collector(address, "v1/traces") }

  func receive(_ span: Span) {
    state.withLock { state in
      guard state.spans.count < SpanExport.countLimit else {
        state.dropped += 1
        return
      }
      state.spans.append(span)
    }
  }

  /// Sends what has come, each second, until the task is cancelled.
  func run(_ log: any Log, wait: @Sendable (Duration) async -> Void) async {
    var isAway = false
    while !Task.isCancelled {
      await wait(SpanExport.interval)
      while case let batch = state.withLock({ Array($0.spans.prefix(SpanExport.batch)) }),
        !batch.isEmpty
      {
        if let failure = await collector.send(SpanExport.body(batch)) {
          if !isAway {
            log.warn(
              "spans cannot be sent to the collector", ("address", collector.address),
              ("reason", failure))
          }
          isAway = true
          break
        }
        let dropped = state.withLock { state in
          state.spans.removeFirst(batch.count)
          defer { state.dropped = 0 }
          return state.dropped
        }
        if isAway {
          log.info(
            "spans are sent to the collector again", ("address", collector.address),
            ("dropped", String(dropped)))
        }
        isAway = false
      }
    }
  }

  /// The form of OTLP 1.0: ids in hexadecimal digits, times as texts.
  static func body(_ spans: [Span]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("resourceSpans")
    writer.array([spans]) { writer, spans in
      writer.beginObject()
      Collector.writeResource(to: &writer)
      writer.key("scopeSpans")
      writer.array([spans]) { writer, spans in
        writer.beginObject()
        Collector.writeScope(to: &writer)
        writer.key("spans")
        writer.array(spans) { writer, span in write(span, &writer) }
        writer.endObject()
      }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  private static func write(_ span: Span, _ writer: inout JSONWriter) {
    let start = span.start.milliseconds * 1_000_000
    let length = Int64(span.duration / .nanoseconds(1))
    writer.beginObject()
    writer.field("traceId", span.traceID)
    writer.field("spanId", span.id)
    if let parent = span.parentID { writer.field("parentSpanId", parent) }
    writer.field("name", span.name)
    // SERVER and INTERNAL.
    writer.field("kind", Int64(span.isOfRequest ? 2 : 1))
    writer.field("startTimeUnixNano", String(start))
    writer.field("endTimeUnixNano", String(start + length))
    writer.key("attributes")
    let sorted = span.attributes.sorted { $0.key < $1.key }
    Collector.write(sorted.map { (name: $0.key, value: $0.value) }, to: &writer)
    writer.key("status")
    writer.beginObject()
    if let failure = span.failure {
      writer.field("code", Int64(2))
      writer.field("message", failure)
    }
    writer.endObject()
    writer.endObject()
  }
}
