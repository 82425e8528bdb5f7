import FerryHTTP

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

  /// The authorities of the system unless set otherwise.
  public var trust: Trust

  /// Decides about a server that `trust` does not accept; with none, which is the default, such a
  /// server is refused. Nothing of a request is sent before the decision.
  public var trustListener: (any ServerTrustListener)?

  /// What proves to servers which client this is (mutual TLS); nil by default.
  public var identity: ClientIdentity?

  /// How requests leave the network of this machine.
  public var proxy: Proxy = .system

  /// Requests under way at one time to one host and port; more wait for their turn. 6 by default,
  /// as URLSession has it.
  public var connectionsPerHost: Int = 6

  /// Whether HTTP/2 is spoken where a server offers it in its TLS handshake; on by default.
  /// URLSession always does so.
  public var usesHTTP2: Bool = true

  /// Bounds the bytes per second of all transports that share it; nil, the default, bounds nothing.
  public var bandwidth: TransportBandwidth?

  #if canImport(Glibc)
    /// A Unix socket of this machine that every request goes to, whatever host its address names; nil by
    /// default. Only libcurl can do so.
    package var socketPath: String?

    /// Kinds of addresses that a connection may be opened to, looked at when it is opened; nil, the
    /// default, allows all. A name that resolves to another kind is not connected to.
    package var allowedAddresses: Set<AddressKind>?
  #endif

  /// The defaults of every member, with this trust.
  public init(trust: Trust = .system) { self.trust = trust }

  /// Equal with the same values and the same objects.
  public static func == (left: TransportOptions, right: TransportOptions) -> Bool {
    #if canImport(Glibc)
      guard left.socketPath == right.socketPath, left.allowedAddresses == right.allowedAddresses
      else { return false }
    #endif
    return left.trust == right.trust && left.trustListener === right.trustListener
      && left.identity == right.identity && left.proxy == right.proxy
      && left.connectionsPerHost == right.connectionsPerHost && left.usesHTTP2 == right.usesHTTP2
      && left.bandwidth === right.bandwidth
  }
}

extension TransportOptions {
  /// How requests leave the network of this machine.
  public enum Proxy: Sendable, Equatable {
    /// As the system's settings say, or the environment on Linux; never for this machine itself.
    case system
    /// Straight to each server.
    case none
    /// Everything through one proxy of HTTP.
    case server(host: String, port: Int)
  }
}

/// A certificate with its private key in a file of PKCS#12, given to the system as it is.
public struct ClientIdentity: Sendable, Equatable, CustomStringConvertible {
  let pkcs12: [UInt8]
  let password: String

  /// `pkcs12` is the content of the file. A wrong password shows with the first request, as
  /// `TransportError.Code.tls`.
  public init(pkcs12: [UInt8], password: String) {
    self.pkcs12 = pkcs12
    self.password = password
  }

  /// Names neither the key nor the password.
  public var description: String { "ClientIdentity(\(pkcs12.count) bytes)" }
}
