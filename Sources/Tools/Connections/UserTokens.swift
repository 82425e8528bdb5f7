import Dispatch
import FerryConnector
import FerryHTTPClient
import FerryWorld
import Synchronization

/// Access tokens of users, each got by what we sign for the user: no token of a device is kept.
final class UserTokens: UserCredentials {
  private let way: TokenWay
  private let signer: TokenSigner
  private let desk: TokenDesk
  private let clock: any WorldClock
  /// Of each user; the oldest go where there are too many.
  private let known = Mutex<[String: Credential]>([:])
  private static let limit: Int = 1_000
  /// A token is not used in its last moments.
  private static let margin: Duration = .seconds(60)

  /// Reads the key.
  init(
    _ way: TokenWay, transport: any Transport, clock: any WorldClock
  ) throws(ConnectionsError) {
    self.way = way
    signer = try TokenSigner(file: way.keyFile, keyID: way.keyID)
    desk = TokenDesk(
      address: way.address, client: way.client, clientSecret: way.clientSecret,
      transport: transport, clock: clock)
    self.clock = clock
  }

  func credential(
    of user: String, insteadOf rejected: Credential?
  ) throws(ConnectorError) -> Credential? {
    let now = clock.moment
    let cached = known.withLock { $0[user] }
    if let cached, cached != rejected, cached.expires.map({ $0 > now }) ?? true { return cached }
    let found = try ask(for: user)
    known.withLock { known in
      if known.count >= UserTokens.limit { known = [:] }
      known[user] = found
    }
    return found
  }

  /// Nil where the service that gives tokens has none for the user.
  private func ask(for user: String) throws(ConnectorError) -> Credential? {
    let form: [(String, String)]
    do throws(ConnectionsError) { form = try self.form(for: user) } catch {
      throw ConnectorError(error.message, hint: error.hint, isTransient: true)
    }
    switch try desk.ask(form) {
    case .token(let token, let lifetime):
      return Credential(
        .bearer(token),
        expires: lifetime.map { clock.moment.advanced(by: max($0 - UserTokens.margin, .zero)) })
    case .refused(let status, let code):
      // The user is unknown there, or may not have one. What is wrong with us is no reason to wait for
      // the user.
      if code == "invalid_grant" || code == "access_denied" || status == 403 { return nil }
      throw desk.fault(status, code, cure: "Check \"users\" of the connection.")
    }
  }

  private func form(for user: String) throws(ConnectionsError) -> [(String, String)] {
    let signed = try signer.token(
      [("iss", way.issuer), ("sub", user), ("aud", way.audience)], at: clock.now)
    var form: [(String, String)] = []
    switch way.grant {
    case .bearer:
      form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", signed),
      ]
    case .exchange:
      form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", signed),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
      ]
    }
    if let resource = way.resource { form.append(("resource", resource)) }
    if let scope = way.scope { form.append(("scope", scope)) }
    return form
  }
}

/// Waits on a connector's own thread for a task on another one.
enum Blocking {
  static func wait<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Value?>(nil)
    let store: @Sendable (Value) -> Void = { value in result.withLock { $0 = value } }
    Task.detached {
      store(await body())
      done.signal()
    }
    done.wait()
    guard let value = result.withLock({ $0 }) else { preconditionFailure("no result of a task") }
    return value
  }
}
