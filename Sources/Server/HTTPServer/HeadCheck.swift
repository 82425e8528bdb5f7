import CMicroHTTPD
import FerryHTTP

/// What the fields of a head must be.
enum HeadCheck {
  static func fields(of connection: OpaquePointer) -> HTTPHeaders {
    var headers = HTTPHeaders()
    withUnsafeMutablePointer(to: &headers) { headers in
      _ = MHD_get_connection_values(
        connection, .HEADER_KIND,
        { context, _, name, value in
          guard let context else { return .YES }
          // A field without a name is refused by its empty one.
          context.assumingMemoryBound(to: HTTPHeaders.self).pointee.add(
            name.map { String(cString: $0) } ?? "", value.map { String(cString: $0) } ?? "")
          return .YES
        }, headers)
    }
    return headers
  }

  /// Whether the version is one of ours, each name is one, and no value has what a proxy may take for
  /// its end.
  static func isWhole(_ headers: HTTPHeaders, _ version: String) -> Bool {
    ["HTTP/1.1", "HTTP/1.0"].contains(version)
      && headers.fields.allSatisfy { isToken($0.name) && isPlain($0.value) }
  }

  /// Whether a name of a field is one by RFC 9110.
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  /// Whether a value of a field has no control characters.
  static func isPlain(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}
