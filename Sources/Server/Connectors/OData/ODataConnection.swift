import FerryConnector
import FerryHTTP
import FerryHTTPClient
import FerryModel
import FerryOData
import FerryODataClient
import FerryWorld
import Synchronization

/// A service as business system: its address, how it is asked, and what is remembered of it. All
/// connectors to one service share it.
public final class ODataConnection: Sendable {
  /// Where the service begins.
  public let address: String
  /// How many requests are under way at a time.
  public let requests: Int
  /// What is remembered of operations and of the service's conditions.
  let memory: AttemptMemory
  let chance: any Chance
  let log: any Log
  private let changeSets: Bool?
  private let language: String?
  private let credentials: (any CredentialSource)?
  /// Whether changes are sent as the users who made them, and not as the technical user.
  let sendsAsUser: Bool
  private let deadlines: TransportDeadlines
  private let transport: any Transport
  private let state: Mutex<State>

  private struct State {
    var service: ODataService?
    /// Of each user; of the technical one under "".
    var sessions: [String: ODataSession] = [:]
    /// With what each user's session was made; without the technical one.
    var userCredentials: [String: Credential] = [:]
    /// Sets whose ETags do not change with their rows.
    var fixedETags: Set<String> = []
    /// Why chains are sent one by one although the service declares change sets.
    var noChangeSets: String?
    /// Sets whose changes the service names.
    var tracked: Set<String> = []
    /// What the requests of sessions carry, and what the service did not accept.
    var credential: Credential?
    var rejected: Credential?
    var isUnauthorized = false
    /// Links to later changes that loads were given, by the name of the form's links.
    var loadLinks: [String: String] = [:]
    /// Whether the service wants a token with each change.
    var usesCSRF = false
  }

  /// Sessions that are kept; beyond it all but the technical user's begin anew.
  static let sessionLimit = 200

  /// `address` is that of the service document. Nothing is asked before a connector is. `changeSets`:
  /// whether a chain is sent as one change set; nil leaves that to the metadata of the service.
  /// `language`: of the service's texts, such as `de`; nil leaves that to the service.
  public init(
    _ address: String, world: World, credentials: (any CredentialSource)? = nil,
    sendsAsUser: Bool = false, transport: any Transport = SystemTransport.make(),
    deadlines: TransportDeadlines = TransportDeadlines(
      connect: .seconds(10), total: .seconds(600), idle: .seconds(60)),
    late: Duration = .seconds(120), requests: Int = 6, changeSets: Bool? = nil,
    language: String? = nil
  ) {
    self.sendsAsUser = sendsAsUser
    self.deadlines = deadlines
    self.address = address
    self.requests = max(1, requests)
    chance = world.chance
    log = world.log
    self.changeSets = changeSets
    self.language = language
    self.credentials = credentials
    self.transport = transport
    memory = AttemptMemory(world.clock, late: late)
    state = Mutex(State())
  }

  // MARK: What is remembered

  /// Somebody has found out whether the service heeds conditions of writes to a set.
  public func prove(_ set: String, _ holds: Bool) { memory.prove(set, holds) }

  /// The ETags of a set do not change with its rows: they are no conditions.
  func leaveETags(of set: String) {
    memory.prove(set, false)
    state.withLock { _ = $0.fixedETags.insert(set) }
    log.warn(
      "the ETags of a set do not change when its rows do, so they are not trusted",
      ("service", address), ("set", set))
  }

  /// Whether its ETags are sent although they prove nothing: the service may want one.
  func hasFixedETags(_ set: String) -> Bool { state.withLock { $0.fixedETags.contains(set) } }

  /// Whether a chain is sent as one change set.
  var usesChangeSets: Bool {
    state.withLock { state in
      guard state.noChangeSets == nil, let service = state.service else { return false }
      return changeSets ?? service.metadata.declaresChangeSets
    }
  }

  /// From here on, for as long as the program runs.
  func leaveChangeSets(_ reason: String) {
    let isNew = state.withLock { state in
      defer { state.noChangeSets = reason }
      return state.noChangeSets == nil
    }
    guard isNew else { return }
    log.warn(
      "chains are sent one by one, because the service does not take change sets as it should",
      ("service", address), ("reason", reason))
  }

  func isTracked(_ set: String) -> Bool { state.withLock { $0.tracked.contains(set) } }
  func track(_ set: String, _ isTracked: Bool) {
    state.withLock { state in
      if isTracked { state.tracked.insert(set) } else { state.tracked.remove(set) }
    }
  }

  /// The link to what changes after the last load of these rows; nil where it gave none.
  func loadLink(_ name: String) -> String? { state.withLock { $0.loadLinks[name] } }
  func keepLoadLink(_ link: String?, of name: String) {
    state.withLock { $0.loadLinks[name] = link }
  }

  /// A reading was answered 401: the next one begins with another credential.
  func noteRejected() {
    state.withLock { state in
      state.rejected = state.credential
      state.isUnauthorized = true
      state.service = nil
      state.sessions = [:]
    }
  }

  // MARK: The service

  /// The service with its metadata, which are read once.
  func service() throws(ConnectorError) -> ODataService {
    if let known = state.withLock({ $0.service }) { return known }
    let (address, session) = (address, try session(of: nil))
    let found: ODataService = try Bridge.get { () async -> Result<ODataService, ConnectorError> in
      do throws(ODataClientError) {
        return .success(try await ODataService.open(address, session: session))
      } catch {
        if error.isUnauthorized { self.noteRejected() }
        return .failure(ConnectorError(error))
      }
    }
    try askForToken(found, session)
    state.withLock { $0.service = found }
    noteAccepted()
    return found
  }

  /// Asks the service for a sign of life. Errors: why there is none. To be called on a thread that may
  /// block.
  package func reach() throws(ConnectorError) {
    do throws(ConnectorError) { try askRoot() } catch {
      guard isUnauthorized else { throw error }
      // With another credential.
      try askRoot()
    }
  }

  /// Whether the service did not let the technical user in when it was read last.
  package var isUnauthorized: Bool { state.withLock { $0.isUnauthorized } }

  private func askRoot() throws(ConnectorError) {
    let isNew = state.withLock { $0.service == nil }
    let root = try service().root
    // The service was asked just now.
    if isNew { return }
    let session = try session(of: nil)
    try Bridge.get { () async -> Result<Void, ConnectorError> in
      do throws(ODataClientError) {
        _ = try await session.sendChecked(ODataRequest(root, headers: ["Accept": "*/*"]))
        return .success(())
      } catch {
        if error.isUnauthorized { self.noteRejected() }
        return .failure(ConnectorError(error))
      }
    }
    noteAccepted()
  }

  private func noteAccepted() {
    state.withLock { $0.isUnauthorized = false }
    memory.noteReached(true)
  }

  /// A service that gives a token when it is asked for one wants it with changes.
  private func askForToken(
    _ service: ODataService, _ session: ODataSession
  ) throws(ConnectorError) {
    let request = ODataRequest(
      service.root, headers: ["X-CSRF-Token": "Fetch", "Accept": "*/*"])
    let hasToken: Bool = try Bridge.get { () async -> Result<Bool, ConnectorError> in
      do throws(ODataClientError) {
        return .success(try await session.send(request).headers["X-CSRF-Token"] != nil)
      } catch {
        return .failure(ConnectorError(error))
      }
    }
    guard hasToken else { return }
    state.withLock { state in
      state.usesCSRF = true
      state.sessions = [:]
    }
  }

  /// With cookies and the token of this user alone.
  func session(of user: String?) throws(ConnectorError) -> ODataSession {
    if let known = state.withLock({ $0.sessions[user ?? ""] }) { return known }
    var options = ODataSessionOptions()
    options.language = language
    options.usesCSRF = state.withLock { $0.usesCSRF }
    options.deadlines = deadlines
    let rejected = user == nil ? state.withLock { $0.rejected } : nil
    let found = try headers(of: user, insteadOf: rejected)
    if let found { options.headers = found.headers }
    let made = ODataSession(transport, options: options)
    state.withLock { state in
      if state.sessions.count >= ODataConnection.sessionLimit {
        state.sessions = state.sessions.filter { $0.key.isEmpty }
      }
      state.sessions[user ?? ""] = made
      if let user {
        state.userCredentials[user] = found?.credential
      } else {
        state.credential = found?.credential ?? rejected
      }
    }
    return made
  }

  /// A user's session carries what the user has now: its token for changes belongs to that.
  func renewSession(of user: String, for credential: Credential?) {
    state.withLock { state in
      guard state.sessions[user] != nil, state.userCredentials[user] != credential else { return }
      state.sessions[user] = nil
    }
  }

  /// What a request of this user carries; nil where the user has no credential.
  func headers(
    of user: String?, insteadOf rejected: Credential? = nil
  ) throws(ConnectorError) -> (headers: HTTPHeaders, credential: Credential?)? {
    guard let credentials else { return (HTTPHeaders(), nil) }
    guard let found = try credentials.credential(for: user, insteadOf: rejected) else {
      // A service that is read without a login, and written to as its users.
      return user == nil && rejected == nil ? (HTTPHeaders(), nil) : nil
    }
    var headers = HTTPHeaders()
    let field = try found.header()
    headers[field.name] = field.value
    return (headers, found)
  }
}

extension ODataClientError {
  var isUnauthorized: Bool {
    if case .http(let error) = cause { error.status == 401 } else { false }
  }
}

extension ConnectorError {
  /// The service could not be asked.
  init(_ error: ODataClientError) {
    let isForGood: Bool =
      switch error.cause {
      case .call: true
      default: false
      }
    self.init(
      "The service cannot be asked: \(error.request): \(error.message)", hint: error.hint,
      isTransient: !isForGood)
  }
}

extension EdmMetadata {
  /// V4 says so by an annotation of the container; V2 has no word for it.
  var declaresChangeSets: Bool {
    containers.contains { container in
      annotations(of: container.qualifiedName).contains { annotation in
        if annotation.term.hasSuffix("Capabilities.V1.BatchSupported") {
          return annotation.value.boolean != false
        }
        return annotation.term.hasSuffix("Capabilities.V1.BatchSupport")
          && annotation.value["Supported"]?.boolean == true
      }
    }
  }
}
