import FerryJSON
import FerryWorld

/// A trace as a document: our own XML, whose schema is `Documentation/business-transaction.xsd`.
public enum BusinessTransactionDocument {
  /// The namespace of version 1.
  public static let namespace = "urn:ferry:business-transaction:1"

  /// The whole trace. Moments are milliseconds since 1970-01-01T00:00:00Z.
  public static func xml(_ trace: TraceRecord) -> String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<businessTransaction"
    text += attributes([
      ("xmlns", namespace), ("id", trace.rootID.hexadecimal), ("name", trace.name),
      ("clientHost", trace.clientHost), ("level", String(trace.level.rawValue)),
      ("started", moment(trace.started)), ("ended", moment(trace.ended)),
    ])
    text += ">\n"
    for step in trace.steps {
      text +=
        "  <step"
        + attributes([
          ("number", String(step.number)), ("started", moment(step.started)),
          ("ended", moment(step.ended)),
        ]) + ">\n"
      for action in step.actions { text += "    <action" + attributes([("name", action)]) + "/>\n" }
      for request in step.requests { text += xml(request) }
      text += "  </step>\n"
    }
    return text + "</businessTransaction>\n"
  }

  private static func xml(_ request: TraceRequestRecord) -> String {
    var text =
      "    <request"
      + attributes([
        ("id", request.id.hexadecimal), ("passport", request.passport),
        ("started", moment(request.started)), ("reached", moment(request.reached)),
        ("sending", moment(request.sending)), ("sent", moment(request.sent)),
        ("receiving", moment(request.receiving)), ("received", moment(request.received)),
        ("ended", moment(request.ended)),
      ]) + ">\n"
    for (name, value) in request.elements.sorted(by: { $0.key < $1.key }) {
      text += "      <element" + attributes([("name", name), ("value", value)]) + "/>\n"
    }
    return text + "    </request>\n"
  }

  private static func moment(_ time: Timestamp?) -> String? { time.map { String($0.milliseconds) } }

  private static func attributes(_ pairs: [(String, String?)]) -> String {
    pairs.map { name, value in value.map { " \(name)=\"\(escaped($0))\"" } ?? "" }.joined()
  }

  /// What XML 1.0 cannot hold becomes U+FFFD.
  private static func escaped(_ text: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x26: escaped.append(contentsOf: "&amp;".unicodeScalars)
      case 0x3C: escaped.append(contentsOf: "&lt;".unicodeScalars)
      case 0x3E: escaped.append(contentsOf: "&gt;".unicodeScalars)
      case 0x22: escaped.append(contentsOf: "&quot;".unicodeScalars)
      case 0x09, 0x0A, 0x0D: escaped.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
      case 0..<0x20, 0xFFFE, 0xFFFF: escaped.append("\u{FFFD}")
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}

/// The same trace as spans of OpenTelemetry, in the JSON form of OTLP.
public enum TraceSpans {
  /// A body for a collector's `/v1/traces`. Steps are children of the transaction, requests of steps.
  public static func otlp(_ trace: TraceRecord, service: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("resourceSpans")
    writer.beginArray()
    writer.beginObject()
    writer.key("resource")
    writer.beginObject()
    attributes(&writer, [("service.name", service), ("host.name", trace.clientHost)])
    writer.endObject()
    writer.key("scopeSpans")
    writer.beginArray()
    writer.beginObject()
    writer.key("scope")
    writer.beginObject()
    writer.field("name", "FerryTrace")
    writer.endObject()
    writer.key("spans")
    writer.beginArray()
    let id = trace.rootID.hexadecimal
    span(&writer, id, trace.spanID, nil, trace.name, 1, trace.started, trace.ended, [])
    for step in trace.steps {
      let actions = step.actions.enumerated().map { ("ui.action.\($0.offset)", $0.element) }
      span(
        &writer, id, step.spanID, trace.spanID, "step \(step.number)", 1, step.started,
        step.ended, actions)
      for request in step.requests {
        let elements = request.elements.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        span(
          &writer, id, request.spanID, step.spanID, "request", 3, request.started, request.ended,
          elements + [("correlation.id", request.id.hexadecimal)])
      }
    }
    writer.endArray()
    writer.endObject()
    writer.endArray()
    writer.endObject()
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private static func span(
    _ writer: inout JSONWriter, _ trace: String, _ id: String, _ parent: String?, _ name: String,
    _ kind: Int, _ started: Timestamp, _ ended: Timestamp?, _ pairs: [(String, String)]
  ) {
    writer.beginObject()
    writer.field("traceId", trace)
    writer.field("spanId", id)
    if let parent { writer.field("parentSpanId", parent) }
    writer.field("name", name)
    writer.field("kind", kind)
    writer.field("startTimeUnixNano", "\(started.milliseconds)000000")
    writer.field("endTimeUnixNano", "\((ended ?? started).milliseconds)000000")
    attributes(&writer, pairs)
    writer.endObject()
  }

  private static func attributes(_ writer: inout JSONWriter, _ pairs: [(String, String)]) {
    writer.key("attributes")
    writer.array(pairs) { writer, pair in
      writer.beginObject()
      writer.field("key", pair.0)
      writer.key("value")
      writer.beginObject()
      writer.field("stringValue", pair.1)
      writer.endObject()
      writer.endObject()
    }
  }
}
