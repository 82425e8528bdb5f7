/// How a transport reaches servers: one value for libcurl and for URLSession.
public struct TransportOptions: Sendable, Equatable {
  /// Whose signature makes a server's certificate good.
  public enum Trust: Sendable, Equatable {
    /// The authorities of the system; the default.
    case system
    /// A file of certificates in PEM form, in place of the system's: a company's own authority.
    ///
    /// A file that cannot be read trusts nobody: each request over TLS fails with
    /// `TransportError.Code.tls`.
    case file(String)
  }

  public var trust: Trust

  public init(trust: Trust = .system) { self.trust = trust }
}
