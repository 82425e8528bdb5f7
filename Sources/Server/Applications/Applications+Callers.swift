import FerryCrypto
import FerryHTTP
import FerryOData
import FerryRegistration
import FerryServer

/// What a request says of who sends it, in either spelling, as header or cookie.
struct RequestIdentity {
  /// The application connection id.
  let connection: String?
  let session: String?
  /// What an anonymous connection shows.
  let token: String?

  init(_ request: HTTPRequest) {
    let pairs: [Substring] = request.headers.values("Cookie").flatMap { $0.split(separator: ";") }
    let cookies: [Substring] = pairs.map { pair in pair.drop { $0 == " " } }
    func find(_ name: String) -> String? {
      for spelled in ["X-SUP-\(name)", "X-SMP-\(name)"] {
        if let value = request.headers[spelled] { return value }
        if let cookie = cookies.first(where: { $0.hasPrefix("\(spelled)=") }) {
          return String(cookie.dropFirst(spelled.count + 1))
        }
      }
      return nil
    }
    connection = find("APPCID")
    session = find("SESSID")
    token = find("SECTOKEN")
  }
}

/// Who has sent a request.
struct RegistrationCaller {
  /// Nil: nobody has logged in, and the application allows it.
  let user: UserRecord?
  /// The id of a session that the answer has to give.
  let newSession: String?

  var name: String { user?.name ?? "" }
}

extension Applications {
  /// Longer names are refused before a password is looked at.
  static let userBytes: Int = 256

  /// `application`: nil where somebody has to log in whatever it is.
  func caller(
    _ request: HTTPRequest, _ application: Application?
  ) async throws(ApplicationsRefusal) -> RegistrationCaller {
    let identity = RequestIdentity(request)
    guard let credentials = BasicLogin(request) else {
      if let user = identity.session.flatMap(sessions.user(of:)) {
        return RegistrationCaller(user: user, newSession: nil)
      }
      guard application?.isAnonymous == true, request.headers["Authorization"] == nil else {
        throw ApplicationsRefusal(.wrongCredentials)
      }
      return RegistrationCaller(user: nil, newSession: nil)
    }
    guard credentials.user.utf8.count <= Applications.userBytes else {
      throw ApplicationsRefusal(.userNameTooLong)
    }
    let user: UserRecord
    do throws(ServerError) {
      user = try await logins.login(
        user: credentials.user, password: credentials.password, request.headers,
        from: request.peer ?? "")
    } catch { throw ApplicationsRefusal(error) }
    let isKnown = identity.session.flatMap(sessions.user(of:))?.name == user.name
    return RegistrationCaller(user: user, newSession: isKnown ? nil : sessions.begin(user))
  }

  /// The connection that a request names, where it is the caller's own and may be used.
  ///
  /// `id`: that of the path; nil where only the header names one.
  func connection(
    _ request: HTTPRequest, _ id: String?, of application: Application?
  ) async throws(ApplicationsRefusal) -> (StoredConnection, RegistrationCaller) {
    let identity = RequestIdentity(request)
    guard let named = identity.connection else { throw ApplicationsRefusal(.noConnectionID) }
    guard ConnectionID.isGood(named) else { throw ApplicationsRefusal(.invalidConnectionID) }
    guard id == nil || id == named else { throw ApplicationsRefusal(.wrongUserForRegistration) }
    // Of an anonymous connection the token says who asks.
    let caller =
      identity.token != nil && BasicLogin(request) == nil
      ? RegistrationCaller(user: nil, newSession: nil) : try await caller(request, application)
    let found: StoredConnection?
    let host = try host()
    do throws(ServerError) { found = try await host.connection(named) } catch {
      throw ApplicationsRefusal(error)
    }
    guard let found else {
      // Who has only a token that nothing is known of has not logged in.
      throw ApplicationsRefusal(caller.user == nil ? .wrongCredentials : .notRegistered)
    }
    if let proof = found.proof {
      guard let token = identity.token,
        equalInConstantTime(Array(Applications.proof(token).utf8), Array(proof.utf8))
      else { throw ApplicationsRefusal(.wrongUserForRegistration) }
    } else {
      guard caller.user != nil else { throw ApplicationsRefusal(.wrongCredentials) }
      guard Array(found.user.utf8) == Array(caller.name.utf8) else {
        throw ApplicationsRefusal(.wrongUserForRegistration)
      }
    }
    guard application == nil || application?.id == found.application else {
      throw ApplicationsRefusal(.wrongUserForRegistration)
    }
    switch found.state {
    case .active, .activating: break
    case .locked: throw ApplicationsRefusal(.deviceLocked)
    case .wiping, .wiped: throw ApplicationsRefusal(.deviceWiped)
    }
    return (found, caller)
  }

  static func proof(_ token: String) -> String {
    hexadecimal(SHA256Digest.hash(Array(token.utf8)))
  }

  /// Gives a session that was opened on the way.
  func completed(_ response: HTTPResponse, _ caller: RegistrationCaller) -> HTTPResponse {
    guard let session = caller.newSession else { return response }
    var response = response
    response.headers.add("Set-Cookie", cookie("X-SUP-SESSID", session))
    return response
  }

  /// A browser sends it to this server alone, and never for another site.
  func cookie(_ name: String, _ value: String) -> String {
    "\(name)=\(value); Path=/; HttpOnly; SameSite=Strict"
      + (door?.lowercased().hasPrefix("https:") == true ? "; Secure" : "")
  }
}
