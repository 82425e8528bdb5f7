import FerryConnector
import FerryHTTP
import FerryHTTPClient
import FerryModel
import FerryWorld
import Synchronization

/// A service of REST as business system: its address, its mapping, and what is remembered of it. All
/// connectors to one service share it.
public final class RESTConnection: Sendable {
  /// Where the service begins, without a slash at its end.
  public let address: String
  let origin: String
  let mapping: RESTMapping
  let memory: AttemptMemory
  let log: any Log
  let transport: any Transport
  /// How many chains are under way at a time.
  public let requests: Int
  /// Whether changes are sent as the users who made them, and not as the technical user.
  let sendsAsUser: Bool
  let deadlines: TransportDeadlines
  let checkers: [any ResultChecker]
  private let credentials: (any CredentialSource)?
  private let state: Mutex<State>

  private struct State {
    /// Not accepted by the service.
    var rejected: Credential?
    /// Nothing is asked before this moment: the service said so.
    var pausedUntil: Timestamp?
    /// When the next request may leave, where the mapping bounds how many do.
    var nextRequest: Timestamp?
  }

  var clock: any WorldClock { memory.clock }

  /// `folder`: in which files of secrets are that the mapping names. `late`: of it and what the mapping
  /// says the longer one counts. `checkers`: these judge answers to changes before the rules of the
  /// mapping do, in this order. Nothing is asked before a connector is.
  public init(
    _ address: String, mapping: RESTMapping, folder: String, world: World,
    credentials: (any CredentialSource)? = nil, sendsAsUser: Bool = false,
    transport: any Transport = SystemTransport.make(),
    deadlines: TransportDeadlines = TransportDeadlines(
      connect: .seconds(10), total: .seconds(600), idle: .seconds(60)),
    late: Duration = .zero, requests: Int = 6, checkers: [any ResultChecker] = []
  ) throws(ConnectorError) {
    guard let parts = HTTPAddress(address), !address.contains("@"), !address.contains("?"),
      !address.contains("#")
    else {
      throw ConnectorError(
        "This is not the address of a service", hint: "Write https://host/path.",
        isTransient: false)
    }
    self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
    origin = parts.origin
    self.mapping = mapping
    memory = AttemptMemory(world.clock, late: max(mapping.late, late))
    log = world.log
    self.transport = transport
    self.sendsAsUser = sendsAsUser
    self.deadlines = deadlines
    self.requests = max(1, requests)
    self.checkers = checkers
    self.credentials =
      credentials ?? mapping.credential.map { SecretSource(credential: $0, folder: folder) }
    state = Mutex(State())
  }

  /// Somebody has found out whether the service heeds conditions of writes to a set.
  public func prove(_ set: String, _ holds: Bool) { memory.prove(set, holds) }

  /// What a request carries to say who asks; nil where the user has no credential. Throws where that
  /// cannot be known at present.
  func credential(
    of user: String?, insteadOf rejected: Credential?
  ) throws(ConnectorError) -> (headers: HTTPHeaders, credential: Credential?)? {
    guard let credentials else { return (HTTPHeaders(), nil) }
    guard let found = try credentials.credential(for: user, insteadOf: rejected) else {
      // A service that is read without a login, and written to as its users.
      return user == nil && rejected == nil && sendsAsUser ? (HTTPHeaders(), nil) : nil
    }
    var headers = HTTPHeaders()
    let field = try found.header()
    headers[field.name] = field.value
    return (headers, found)
  }

  /// Why the service does not answer at all; nil where it does, whatever it says. Blocks.
  public func trouble() -> ConnectorError? {
    switch send(RESTRequest(url: address + "/")) {
    case .answer(401, _, _, _), .answer(403, _, _, _), .needsCredential:
      RESTDesk.error(.needsCredential)
    case .answer: nil
    case .notDone(let reason), .lost(let reason): RESTDesk.error(.notDone(reason))
    }
  }

  // MARK: How fast

  /// The service asked for a pause, or does not answer.
  func pause(_ duration: Duration) {
    let until = clock.moment.advanced(by: min(duration, RESTConnection.longestPause))
    state.withLock { state in state.pausedUntil = max(state.pausedUntil ?? until, until) }
  }

  /// Whoever asks for an hour of peace is asked again after some minutes all the same.
  static let longestPause: Duration = .seconds(600)

  /// Nil where requests may be sent.
  var pause: Duration? {
    let now = clock.moment
    return state.withLock { state in
      guard let until = state.pausedUntil, now < until else { return nil }
      return .milliseconds(until.milliseconds - now.milliseconds)
    }
  }

  /// How long the next request has to wait for its turn.
  func turn() -> Duration {
    guard let perSecond = mapping.perSecond else { return .zero }
    let now = clock.moment
    return state.withLock { state in
      let next = max(state.nextRequest ?? now, now)
      state.nextRequest = next.advanced(by: .milliseconds(max(1, 1_000 / perSecond)))
      return .milliseconds(next.milliseconds - now.milliseconds)
    }
  }
}
