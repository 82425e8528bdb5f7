import FerryHTTP

/// Which fields of a head go on to the other side.
enum ForwardedFields {
  /// Of one connection (RFC 9110, 7.6.1), whatever `Connection` names.
  private static let ofConnection: Set = [
    "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
    "proxy-authentication-info", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings",
  ]

  /// What the door says itself, or what only a proxy that it trusts may say.
  private static let ofDoor: Set = [
    "host", "content-length", "expect", "authorization", "cookie", "via", "forwarded",
    "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port",
    "x-forwarded-prefix", "x-real-ip", "x-sup-backend-url", "ssl_client_cert", "x-correlationid",
    "traceparent", "sap-passport", "x-original-url", "x-rewrite-url",
  ]

  private static let ofAnswer: Set = [
    "content-length", "set-cookie", "alt-svc", "via", "x-correlationid", "clear-site-data",
  ]

  /// Those of a request that go on as they are, in their order.
  static func request(_ headers: HTTPHeaders, without extra: String?) -> HTTPHeaders {
    let named = namedByConnection(headers)
    return HTTPHeaders(
      headers.fields.filter { field in
        let name = field.name.lowercased()
        return !ofConnection.contains(name) && !named.contains(name)
          && !ofDoorAsRead.contains(asRead(name)) && asRead(name) != extra.map(asRead)
      })
  }

  private static let ofDoorAsRead: Set<String> = Set(ofDoor.map(asRead))

  /// Some services read both spellings of a name as one: `X_User` and `X-User`.
  private static func asRead(_ name: String) -> String {
    name.lowercased().replacing("_", with: "-")
  }

  /// Those of an answer that go on as they are, in their order.
  static func answer(_ headers: HTTPHeaders) -> HTTPHeaders {
    let named = namedByConnection(headers)
    return HTTPHeaders(
      headers.fields.filter { field in
        let name = field.name.lowercased()
        return !ofConnection.contains(name) && !ofAnswer.contains(name) && !named.contains(name)
      })
  }

  static func namedByConnection(_ headers: HTTPHeaders) -> Set<String> {
    Set(
      headers.values("Connection").flatMap { $0.split(separator: ",") }.map {
        $0.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }.lowercased()
      })
  }

  /// `Via` of the next hop, behind those of the way so far.
  static func via(_ headers: HTTPHeaders) -> String {
    (headers.values("Via") + ["1.1 ferry"]).joined(separator: ", ")
  }

  /// How many proxies have passed it on: more than this is a circle.
  static let mostHops: Int = 16

  static func hops(_ headers: HTTPHeaders) -> Int {
    headers.values("Via").reduce(0) { $0 + $1.split(separator: ",").count }
  }
}
