import CMicroHTTPD
import Glibc
import Synchronization

/// Who a server is over TLS: its certificate, the ones between it and its authority, and the key.
package struct TLSIdentity: Sendable, CustomStringConvertible {
  let certificates: String
  let key: String
  /// Those whose certificates clients are asked for; nil: clients are asked for none.
  let clientAuthorities: String?

  /// All as PEM; the certificate of the server comes first. Of a client's certificate only the proof of
  /// its key is checked: `HTTPRequest.clientCertificate` has it.
  package init(certificates: String, key: String, clientAuthorities: String? = nil) {
    self.certificates = certificates
    self.key = key
    self.clientAuthorities = clientAuthorities
  }

  /// Does not name the key.
  package var description: String {
    "TLSIdentity(\(certificates.utf8.count) bytes of certificates)"
  }
}

/// The same in the form of GnuTLS.
///
/// `@unchecked Sendable`: nobody writes to it after it was made.
final class TLSKeys: @unchecked Sendable {
  let made: UnsafeMutablePointer<ferry_tls>

  init(_ identity: TLSIdentity) throws(HTTPServerError) {
    guard let made = ferry_tls_make(identity.certificates, identity.key) else {
      throw HTTPServerError(
        code: .badIdentity, message: "the certificate and its key cannot be used for TLS",
        hint:
          "Give both as PEM, the server's own certificate first, and the key that belongs to it.")
    }
    self.made = made
  }

  deinit { ferry_tls_free(made) }
}

/// What a server shows now; any thread.
final class ShownTLS: Sendable {
  private struct State {
    var keys: TLSKeys
    /// Handshakes that have begun use those of before until they end.
    var before: [(keys: TLSKeys, until: ContinuousClock.Instant)] = []
  }

  private let state: Mutex<State>
  let clientAuthorities: String?

  init(_ identity: TLSIdentity) throws(HTTPServerError) {
    clientAuthorities = identity.clientAuthorities
    state = Mutex(State(keys: try TLSKeys(identity)))
  }

  /// `handshake`: how long one may last.
  func change(to keys: TLSKeys, handshake: Duration) {
    state.withLock { state in
      let now = ContinuousClock.now
      state.before.removeAll { $0.until < now }
      state.before.append((state.keys, now + handshake + handshake))
      state.keys = keys
    }
  }

  /// It lives at least as long as the handshake that asks for it.
  var now: UnsafeMutablePointer<ferry_tls> { state.withLock { $0.keys.made } }
}
