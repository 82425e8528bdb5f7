import FerryHTTP
import FerryServer
import FerryWorld

/// Decides who asks, before anything is answered: a session in a browser, a name with its password,
/// or a process of the server's own user.
package final class AdminGate: Sendable {
  private let operators: (any AuthenticationProvider)?
  /// Nil where nobody logs in; it has a thread.
  private let logins: BasicLogins?
  private let proxies: Set<String>
  private let isSecure: Bool
  package let sessions: AdminSessions

  /// `operators`: those who may log in, each with a role of `AdminRole`; nil: nobody may. `isSecure`:
  /// browsers reach it over TLS alone.
  package init(
    _ operators: (any AuthenticationProvider)?, proxies: Set<String>, isSecure: Bool, world: World
  ) {
    self.operators = operators
    logins = operators.map { BasicLogins($0, world: world) }
    self.proxies = proxies
    self.isSecure = isSecure
    sessions = AdminSessions(world: world)
  }

  /// Who asks, and the session; nil: nobody is known by the request.
  package struct Caller: Sendable {
    package let person: Operator
    package let session: AdminSessions.Session?
  }

  package static let cookie: String = "ferry_admin"

  package func address(of request: HTTPRequest) -> String {
    TrustedProxies(proxies).client(of: request)
  }

  private func person(_ name: String) -> Operator? {
    operators?.record(of: name).flatMap { Operator($0) }
  }

  /// The session of the request's cookie; a cookie that is there twice is none.
  package func session(of request: HTTPRequest) -> Caller? {
    guard let token = AdminGate.token(of: request),
      let (session, person) = sessions.use(token, { self.person($0) })
    else { return nil }
    return Caller(person: person, session: session)
  }

  static func token(of request: HTTPRequest) -> String? {
    let pairs = request.headers.values("Cookie").flatMap { $0.split(separator: ";") }
      .map { $0.drop { $0 == " " } }
      .filter { $0.hasPrefix("\(cookie)=") }
    guard pairs.count == 1, let pair = pairs.first else { return nil }
    let token = String(pair.dropFirst(cookie.utf8.count + 1))
    return token.utf8.count == 64 ? token : nil
  }

  /// Who asks. A changing request of a browser must have the session's token beside the cookie, which
  /// no other site can read, and must come from a page of this address.
  package func caller(
    of request: HTTPRequest, formToken: String? = nil
  ) async throws(AdminError) -> Caller {
    if let user = request.peerUser {
      // The socket is in the data folder, which nobody else may enter.
      return Caller(
        person: Operator(name: "local user \(user)", role: .administrator), session: nil)
    }
    if request.headers["Authorization"] != nil {
      try requireOwnOrigin(request)
      guard let basic = BasicLogin(request) else { throw AdminGate.nobody }
      return Caller(
        person: try await logIn(basic.user, basic.password, from: address(of: request)),
        session: nil)
    }
    guard let caller = session(of: request), let session = caller.session else {
      throw AdminGate.nobody
    }
    guard request.method != .get, request.method != .head else { return caller }
    try requireOwnOrigin(request)
    guard let sent = formToken ?? request.headers["X-CSRF-Token"],
      sent.utf8.elementsEqual(session.csrf.utf8)
    else {
      throw AdminError(
        403, "noToken", "the request does not carry the token of this session",
        hint: "Load the page again. A program sends X-CSRF-Token with the csrf of its session.")
    }
    return caller
  }

  /// Throws where a browser says that the request comes from another site.
  package func requireOwnOrigin(_ request: HTTPRequest) throws(AdminError) {
    let site = request.headers["Sec-Fetch-Site"]
    var isOwn = site == nil || site == "same-origin" || site == "none"
    if let origin = request.headers["Origin"] {
      // Behind a proxy the scheme is the proxy's; the host is what the browser has.
      let host = origin.split(separator: "/").last.map(String.init) ?? ""
      isOwn = isOwn && origin.hasPrefix("http") && host == request.headers["Host"]
    }
    guard isOwn else {
      throw AdminError(
        403, "otherOrigin", "the request comes from a page of another site",
        hint: "Open the control center by its own address.")
    }
  }

  /// Errors: 401, and 429 after too many wrong passwords.
  package func logIn(
    _ user: String, _ password: String, from address: String
  ) async throws(AdminError) -> Operator {
    do throws(ServerError) {
      guard let logins else { throw ServerError.wrongLogin }
      let record = try await logins.login(user: user, password: password, from: address)
      guard let person = Operator(record) else { throw ServerError.wrongLogin }
      return person
    } catch {
      throw AdminError(error)
    }
  }

  /// The header that gives a browser its session.
  package func setCookie(_ token: String) -> String {
    "\(AdminGate.cookie)=\(token); Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
  }

  package static let endCookie: String =
    "\(cookie)=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"

  package static let nobody = AdminError(
    401, "notLoggedIn", "nobody is logged in",
    hint: "Log in first. A program sends Authorization: Basic with the name of an operator.")
}
