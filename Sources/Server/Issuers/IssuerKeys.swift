import FerryCrypto
import FerryHTTP
import FerryJSON
import FerryWorld

/// The keys of an issuer as it publishes them, kept while they are good.
///
/// They are fetched when a token names a key that is not known, at most once a minute, and in the
/// background once they are an hour old. So a rotation costs one request, and tokens with made-up
/// key names cost one request a minute.
actor IssuerKeys {
  /// The body of an answer 200 from an address; throws `away` or `badDocument`.
  typealias Fetch = @Sendable (_ address: String) async throws(IssuerError) -> [UInt8]

  private static let unknownPause: Duration = .seconds(60)
  private static let failurePause: Duration = .seconds(5)
  private static let freshFor: Duration = .seconds(3_600)
  /// Keys that the issuer has not confirmed for a day are good no more: it may have withdrawn them.
  private static let goodFor: Duration = .seconds(86_400)

  private let issuer: String
  private let world: World
  private let fetch: Fetch
  private var keys: KeySet?
  private var fetched: Timestamp?
  private var nextTry: Timestamp?
  private var failure: IssuerError?
  private var running: Task<Void, Never>?

  init(issuer: String, world: World, fetch: @escaping Fetch) {
    self.issuer = issuer
    self.world = world
    self.fetch = fetch
  }

  /// Errors: `unknownKey`, `away` and `badDocument`.
  func key(_ name: String?) async throws(IssuerError) -> WebKey {
    let now = world.clock.moment
    if let key = good(now)?.key(name) {
      if let fetched, fetched.advanced(by: IssuerKeys.freshFor) <= now,
        nextTry.map({ $0 <= now }) ?? true
      {
        _ = refresh()
      }
      return key
    }
    if nextTry.map({ $0 <= now }) ?? true || running != nil { await refresh().value }
    if let key = good(now)?.key(name) { return key }
    if let failure { throw failure }
    throw IssuerError(
      .unknownKey,
      "the issuer \(issuer) lists no key \"\(SignedToken.short(name ?? ""))\"",
      hint: "Get a new token. The server reads the issuer's keys again after a minute.")
  }

  private func good(_ now: Timestamp) -> KeySet? {
    guard let fetched, now < fetched.advanced(by: IssuerKeys.goodFor) else { return nil }
    return keys
  }

  private func refresh() -> Task<Void, Never> {
    if let running { return running }
    let task = Task { await self.load() }
    running = task
    return task
  }

  private func load() async {
    do throws(IssuerError) {
      let found = try await read()
      keys = found
      fetched = world.clock.moment
      failure = nil
      nextTry = world.clock.moment.advanced(by: IssuerKeys.unknownPause)
    } catch {
      failure = error
      nextTry = world.clock.moment.advanced(by: IssuerKeys.failurePause)
      world.log.warn(
        "the keys of an issuer cannot be read", ("issuer", issuer), ("reason", "\(error)"))
    }
    running = nil
  }

  private func read() async throws(IssuerError) -> KeySet {
    let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    let address = "\(base)/.well-known/openid-configuration"
    let document = try await fetch(address)
    let root = try? JSONNode.parse(document, nodeLimit: 10_000)
    guard let root, let named = root["issuer"]?.string, let keys = root["jwks_uri"]?.string else {
      throw IssuerError(
        .badDocument, "\(address) is not an OpenID configuration",
        hint: "Check the address of the issuer (--issuer).")
    }
    guard named.utf8.elementsEqual(issuer.utf8) else {
      throw IssuerError(
        .badDocument,
        "the OpenID configuration of \(issuer) names the issuer \(SignedToken.short(named))",
        hint: "Write --issuer exactly as the issuer writes it, or check who answers there.")
    }
    guard IssuerAddress.isSafe(keys) else {
      throw IssuerError(
        .badDocument,
        "the address of the issuer's keys, \(SignedToken.short(keys)), does not begin with "
          + "https://",
        hint: "Let the issuer publish its keys over https.")
    }
    return try KeySet(try await fetch(keys), from: keys)
  }
}

/// Addresses of issuers.
package enum IssuerAddress {
  /// Whether nobody on the way can change what comes from there: TLS, or this machine itself.
  package static func isSafe(_ address: String) -> Bool {
    // Readers of addresses do not agree what a backslash ends.
    guard let place = HTTPAddress(address), !address.utf8.contains(UInt8(ascii: "\\")) else {
      return false
    }
    return place.isSecure || ["127.0.0.1", "localhost", "[::1]"].contains(place.host)
  }
}
