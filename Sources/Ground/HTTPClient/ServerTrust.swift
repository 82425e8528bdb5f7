import FerryHTTP

/// A question whether a server may be trusted whose certificate no known authority signed.
public struct ServerTrustQuestion: Sendable, Equatable {
  /// Host and port, as `host:443`.
  public let server: String
  /// What the server shows, its own certificate first; never empty.
  public let chain: [ServerCertificate]
  /// Whether another certificate of this server was accepted before.
  public let isChanged: Bool
  /// Why it is not trusted, as the system says: another name, a date that is over, an unknown issuer.
  public let problem: String
}

/// The answer to a `ServerTrustQuestion`.
public enum ServerTrustDecision: Sendable, Hashable {
  /// The request fails with `TransportError.Code.tls`; the next one asks again.
  case refuse
  /// Accepts this key of this server while the transport lives.
  case acceptOnce
  /// Accepts this key of this server for good: `keep` is called with it.
  case acceptForGood
}

/// Decides about servers that no known authority vouches for.
///
/// Where a server is accepted, its key counts and nothing else of the certificate: a renewed
/// certificate of the same key is accepted, one of another key is asked about again.
public protocol ServerTrustListener: AnyObject, Sendable {
  /// May take as long as a user needs; requests to this server wait with it, and one question
  /// stands for all of them. Called for a chain that the system trusts: never.
  func decide(_ question: ServerTrustQuestion) async -> ServerTrustDecision

  /// What `keep` was last given for a server; nil if nothing.
  func pin(of server: String) -> String?

  /// Stores the fingerprint of a server's public key for the next start of the app.
  func keep(_ pin: String, for server: String)
}

extension ServerTrustListener {
  /// Nothing was kept.
  public func pin(of server: String) -> String? { nil }

  /// Keeps nothing: accepting for good then lasts as long as the transport.
  public func keep(_ pin: String, for server: String) {}
}

/// Asks each question once, however many requests wait for it, and knows the answers.
actor TrustDesk {
  private let listener: any ServerTrustListener
  private var accepted: [String: String] = [:]
  private var underWay: [String: Task<String?, Never>] = [:]

  init(_ listener: any ServerTrustListener) { self.listener = listener }

  /// The key that was accepted for a server, if any.
  func pin(of server: String) -> String? { accepted[server] ?? listener.pin(of: server) }

  /// Asks about a server that was not accepted with `failed` as its pin; nil where it is refused.
  func ask(
    _ server: String, failed: String?, problem: String,
    _ probe: @escaping @Sendable () async -> [ServerCertificate]
  ) async -> String? {
    if let now = pin(of: server), now != failed { return now }
    if let task = underWay[server] { return await task.value }
    let listener = self.listener
    let task = Task { () -> String? in
      let chain = await probe()
      guard let own = chain.first else { return nil }
      let question = ServerTrustQuestion(
        server: server, chain: chain, isChanged: failed != nil, problem: problem)
      switch await listener.decide(question) {
      case .refuse: return nil
      case .acceptOnce: return own.publicKeyPin
      case .acceptForGood:
        listener.keep(own.publicKeyPin, for: server)
        return own.publicKeyPin
      }
    }
    underWay[server] = task
    let pin = await task.value
    underWay[server] = nil
    if let pin { accepted[server] = pin }
    return pin
  }
}
