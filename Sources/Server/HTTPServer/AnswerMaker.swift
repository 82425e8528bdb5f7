import CMicroHTTPD
import FerryHTTP
import FerryWorld

/// Makes libmicrohttpd's form of an answer. On the loop's thread.
enum AnswerMaker {
  /// The caller lets go of what it gets. The second is the body, where it is asked for piece by piece.
  static func make(
    _ response: HTTPResponse, for exchange: Exchange
  ) -> (OpaquePointer, Outflow?)? {
    let (made, outflow) = body(of: response, for: exchange)
    guard let made else { return nil }
    for field in response.headers.fields {
      let name = field.name.lowercased()
      if name == "content-length" || name == "transfer-encoding" || name == "trailer" { continue }
      if MHD_add_response_header(made, field.name, field.value) != .YES {
        // A line break in a value: the header is left out, as it would forge others.
        exchange.engine.log.error("response header refused", ("name", field.name))
      }
    }
    if exchange.engine.isDraining { MHD_add_response_header(made, "Connection", "close") }
    return (made, outflow)
  }

  private static func body(
    of response: HTTPResponse, for exchange: Exchange
  ) -> (OpaquePointer?, Outflow?) {
    switch response.body {
    case .bytes(let bytes) where bytes.count <= Outflow.blockBytes:
      let made = bytes.withUnsafeBytes { buffer in
        MHD_create_response_from_buffer(
          buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress),
          .RESPMEM_MUST_COPY)
      }
      return (made, nil)
    case .bytes(let bytes):
      let outflow = Outflow(exchange: exchange, whole: bytes)
      return (outflow.makeAnswer(size: UInt64(bytes.count)), outflow)
    case .stream(let source):
      let outflow = Outflow(exchange: exchange, source: source)
      let length = response.headers["Content-Length"].flatMap { UInt64($0) } ?? .max
      let made = outflow.makeAnswer(size: length)
      // libmicrohttpd 0.9.75 ends chunks that it has not begun: whoever reads the next answer on the
      // connection would read their end.
      if let made, length == .max, exchange.isHead || response.status == 304 {
        ferry_mhd_end_by_close(made)
      }
      return (made, outflow)
    }
  }
}
