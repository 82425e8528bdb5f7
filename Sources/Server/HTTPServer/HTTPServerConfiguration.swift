/// Where a server listens and what it takes on.
package struct HTTPServerConfiguration: Sendable {
  /// An address of this machine, IPv4 or IPv6, or `localhost`; `0.0.0.0` or `::` for all of them.
  package var address: String
  /// 0 lets the system choose; `HTTPServer.boundPort` tells which.
  package var port: Int
  package var limits: HTTPServerLimits
  /// Addresses of trusted proxies, whose connections are those of many clients.
  package var proxies: Set<String>
  /// Whether connections of `proxies` begin with the PROXY protocol, version 1 or 2, which says who
  /// their client is: that address is then `HTTPRequest.peer`. Connections of others have none.
  package var proxiesSendGreetings: Bool = false
  /// How long a stop by signal waits for requests in flight.
  package var signalGrace: Duration
  /// With one, everything goes over TLS 1.2 or 1.3; nil, the default, over none.
  package var tls: TLSIdentity?

  /// Takes only connections from this machine unless told otherwise.
  package init(
    address: String = "127.0.0.1", port: Int = 0, limits: HTTPServerLimits = HTTPServerLimits(),
    proxies: Set<String> = [], signalGrace: Duration = .seconds(10)
  ) {
    self.address = address
    self.port = port
    self.limits = limits
    self.proxies = proxies
    self.signalGrace = signalGrace
  }
}
