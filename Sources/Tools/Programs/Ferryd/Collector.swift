import FerryHTTP
import FerryHTTPClient
import FerryJSON

/// Where OpenTelemetry's data is taken: OTLP over HTTP, as JSON.
struct Collector: Sendable {
  let address: String
  private let transport: any Transport

  /// `address` as OpenTelemetry's exporters take it, such as `http://collector:4318`; `path` is that of a
  /// signal, such as `v1/traces`.
  init(_ address: String, _ path: String, _ transport: any Transport = SystemTransport.make()) {
    self.address = (address.hasSuffix("/") ? String(address.dropLast()) : address) + "/" + path
    self.transport = transport
  }

  /// nil where the collector took it, or refused it for good; otherwise why it is to be tried again.
  func send(_ body: [UInt8]) async -> String? {
    let request = TransportRequest(
      url: address, method: .post, headers: ["Content-Type": "application/json"], body: body,
      deadlines: TransportDeadlines(connect: .seconds(5), total: .seconds(10)))
    do throws(TransportError) {
      let response = try await transport.send(request)
      _ = try await response.body.collect()
      let isTransient = [429, 502, 503, 504].contains(response.status)
      return isTransient ? "it answered \(response.status)" : nil
    } catch {
      return error.message
    }
  }

  /// Who sends it.
  static func writeResource(to writer: inout JSONWriter) {
    writer.key("resource")
    writer.beginObject()
    writer.key("attributes")
    write([("service.name", "ferryd")], to: &writer)
    writer.endObject()
  }

  static func writeScope(to writer: inout JSONWriter) {
    writer.key("scope")
    writer.beginObject()
    writer.field("name", "ferry")
    writer.endObject()
  }

  static func write(
    _ attributes: [(name: String, value: String)], to writer: inout JSONWriter
  ) {
    writer.array(attributes) { writer, attribute in
      writer.beginObject()
      writer.field("key", attribute.name)
      writer.key("value")
      writer.beginObject()
      writer.field("stringValue", attribute.value)
      writer.endObject()
      writer.endObject()
    }
  }
}
