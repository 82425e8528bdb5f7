import FerryConnector
import FerryHTTPClient
import FerryWorld
import Synchronization

extension ServiceSettings {
  /// Who gives credentials for the service; nil where it answers without a login.
  ///
  /// `transport`: for the service that gives tokens, which need not be the same; it is made anew.
  func source(
    _ world: World, transport: any Transport
  ) throws(ConnectionsError) -> (any CredentialSource)? {
    guard credentials != nil || users != nil else { return nil }
    return ConnectionCredentials(
      technical: credentials, tokens: tokens(world, transport),
      way: try users.map { way throws(ConnectionsError) in
        switch way {
        case .token(let way): try UserTokens(way, transport: transport, clock: world.clock)
        case .sealedPasswords(let file, let key): SealedPasswords(file: file, key: key)
        }
      }, clock: world.clock)
  }

  private func tokens(_ world: World, _ transport: any Transport) -> ClientTokens? {
    guard case .client(let grant)? = credentials else { return nil }
    return ClientTokens(grant, transport: transport, clock: world.clock)
  }
}

/// Gives what a user, and nobody else, is asked as. Several threads ask at a time.
protocol UserCredentials: Sendable {
  /// Nil where the user has none at present.
  func credential(
    of user: String, insteadOf rejected: Credential?
  ) throws(ConnectorError) -> Credential?
}

/// The credentials of a connection: the technical user's, and those of users where changes are sent as
/// them. Neither ever takes the place of the other.
final class ConnectionCredentials: CredentialSource {
  private let technical: TechnicalCredentials?
  /// Of a technical user with client credentials.
  private let tokens: ClientTokens?
  private let way: (any UserCredentials)?
  private let clock: any WorldClock
  /// What the service has not accepted, and when it may be tried again: an account may have been
  /// locked for a while, and is not to be locked by us.
  private let refused = Mutex<(credential: Credential, until: Timestamp)?>(nil)
  private static let patience: Duration = .seconds(30)

  init(
    technical: TechnicalCredentials?, tokens: ClientTokens? = nil, way: (any UserCredentials)?,
    clock: any WorldClock
  ) {
    self.tokens = tokens
    self.technical = technical
    self.way = way
    self.clock = clock
  }

  func credential(
    for user: String?, insteadOf rejected: Credential?
  ) throws(ConnectorError) -> Credential? {
    if let user { return try way?.credential(of: user, insteadOf: rejected) }
    if let tokens { return try tokens.credential(insteadOf: rejected) }
    guard let technical else { return nil }
    let found: Credential
    do throws(ConnectionsError) {
      switch technical {
      case .password(let user, let secret):
        found = Credential(.password(user: user, password: try secret.read()))
      case .token(let secret): found = Credential(.bearer(try secret.read()))
      case .header(let name, let secret):
        found = Credential(.header(name: name, value: try secret.read()))
      case .client: return nil
      }
    } catch {
      throw ConnectorError(error.message, hint: error.hint, isTransient: true)
    }
    guard let rejected, rejected == found else { return found }
    let now = clock.moment
    return refused.withLock { refused in
      if let known = refused, known.credential == found, known.until <= now {
        refused = nil
        return found
      }
      if refused?.credential != found {
        refused = (found, now.advanced(by: ConnectionCredentials.patience))
      }
      return nil
    }
  }
}
