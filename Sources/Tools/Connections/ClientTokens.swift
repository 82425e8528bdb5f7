import FerryConnector
import FerryHTTPClient
import FerryWorld
import Synchronization

/// How the technical user gets its access tokens: OAuth 2 with client credentials (RFC 6749, 4.4).
package struct ClientGrant: Sendable, Equatable {
  package let tokenAddress: String
  package let client: String
  package let clientSecret: Secret
  package let scope: String?
  /// The resource or API that the token is for.
  package let resource: String?
}

/// The access token of a connection. It is renewed before it ends, once for all who ask meanwhile.
final class ClientTokens: Sendable {
  private let grant: ClientGrant
  private let desk: TokenDesk
  private let state = Mutex(State())

  private struct State {
    var token: Credential?
    /// When it was given.
    var since: Timestamp?
  }

  init(_ grant: ClientGrant, transport: any Transport, clock: any WorldClock) {
    self.grant = grant
    desk = TokenDesk(
      address: grant.tokenAddress, client: grant.client, clientSecret: grant.clientSecret,
      transport: transport, clock: clock)
  }

  /// A token that was given a short time ago and is not accepted will not be better at once.
  private static let patience: Duration = .seconds(30)

  /// Nil where the service has just refused a new one. Blocks, all who ask at a time for one answer.
  func credential(insteadOf rejected: Credential?) throws(ConnectorError) -> Credential? {
    try state.withLock { state throws(ConnectorError) in
      let now = desk.clock.moment
      if let token = state.token, token.expires.map({ now < $0 }) ?? true {
        guard token == rejected else { return token }
        if let since = state.since, now < since.advanced(by: ClientTokens.patience) { return nil }
      }
      state.token = nil
      let token = try ask()
      state.token = token
      state.since = now
      return token
    }
  }

  private func ask() throws(ConnectorError) -> Credential {
    var form = [("grant_type", "client_credentials")]
    if let scope = grant.scope { form.append(("scope", scope)) }
    if let resource = grant.resource { form.append(("resource", resource)) }
    switch try desk.ask(form) {
    case .token(let token, let lifetime):
      // Its last minute is not used, and of a short one not its last fifth.
      let end = lifetime.map { $0 - min(.seconds(60), $0 / 5) }
      return Credential(.bearer(token), expires: end.map { desk.clock.moment.advanced(by: $0) })
    case .refused(let status, let code):
      throw desk.fault(status, code, cure: "Check \"credentials\" of the connection.")
    }
  }
}
