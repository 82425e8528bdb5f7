import FerryHTTP
import FerryJSON
import FerryServer
import FerryWorld

/// The admin API over HTTP.
package struct AdminServer: Sendable {
  package let api: AdminAPI
  package var gate: AdminGate { api.gate }

  package init(_ api: AdminAPI) { self.api = api }

  /// One correction has at most 128 KB of values on each side.
  package static let bodyBytes: Int = 512 << 10

  package func admit(_ request: HTTPRequest) -> HTTPAdmission {
    .take(bodyBytes: AdminServer.bodyBytes, by: HTTPCaller(address: gate.address(of: request)))
  }

  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    do throws(AdminError) { return try await perform(request) } catch {
      return AdminServer.response(error.answer)
    }
  }

  private func perform(_ request: HTTPRequest) async throws(AdminError) -> HTTPResponse {
    guard let segments = request.pathSegments, segments.count >= 2 else {
      throw .bad("the path cannot be read", hint: "GET /admin/1/ names all paths.")
    }
    let path = Array(segments.dropFirst(2))
    if path == ["session"], request.method == .post { return try await logIn(request) }
    let caller = try await gate.caller(of: request)
    if path == ["session"], request.method == .delete { return logOut(request, caller) }
    if path == ["session"], request.method == .get, let session = caller.session {
      return AdminServer.session(caller.person, session)
    }
    var body: JSONNode?
    if !request.body.isEmpty {
      guard let node = try? JSONNode.parse(request.body, depthLimit: 32) else {
        throw .bad("the body is no JSON", hint: "Send one JSON object.")
      }
      body = node
    }
    let call = AdminCall(
      request.method, path, by: caller.person, from: gate.address(of: request),
      query: AdminServer.query(request), body: body)
    if path == ["events"], request.method == .get {
      return AdminEvents.response(api, call, after: request.headers["Last-Event-ID"])
    }
    return AdminServer.response(await api.answer(call))
  }

  /// The first value of each name.
  package static func query(_ request: HTTPRequest) -> [String: String] {
    var values: [String: String] = [:]
    for pair in (request.query ?? "").split(separator: "&") {
      guard let name = pair.split(separator: "=", maxSplits: 1).first,
        let key = PercentEncoding.decode(name.utf8, plusIsBlank: true), values[key] == nil
      else { continue }
      values[key] = request.queryValue(key)
    }
    return values
  }

  // Sessions.

  private func logIn(_ request: HTTPRequest) async throws(AdminError) -> HTTPResponse {
    try gate.requireOwnOrigin(request)
    guard let node = try? JSONNode.parse(request.body), let user = node["user"]?.string,
      let password = node["password"]?.string
    else { throw .bad("a login takes user and password", hint: "Send both as JSON.") }
    let (person, token, session) = try await begin(user, password, request)
    var response = AdminServer.session(person, session)
    response.headers["Set-Cookie"] = gate.setCookie(token)
    return response
  }

  /// A new session; each login, and each that is refused, is in the audit log.
  package func begin(
    _ user: String, _ password: String, _ request: HTTPRequest
  ) async throws(AdminError) -> (Operator, token: String, AdminSessions.Session) {
    let audit = try api.desk().audit
    let address = gate.address(of: request)
    do throws(AdminError) {
      let person = try await gate.logIn(user, password, from: address)
      let (token, session) = gate.sessions.begin(person)
      audit.note(.operatorLogin, by: person.name, address: address)
      return (person, token, session)
    } catch {
      audit.noteStranger(
        .operatorLoginRefused, user: AuditLog.short(user), address: address,
        what: "a login of an operator was refused",
        reason: ServerError(.wrongLogin, error.message, hint: error.hint))
      throw error
    }
  }

  private static func session(
    _ person: Operator, _ session: AdminSessions.Session
  ) -> HTTPResponse {
    response(
      AdminAnswer { writer in
        writer.field("name", person.name)
        writer.field("role", person.role.rawValue)
        writer.field("csrf", session.csrf)
      })
  }

  private func logOut(_ request: HTTPRequest, _ caller: AdminGate.Caller) -> HTTPResponse {
    end(request, caller.person)
    var response = AdminServer.response(AdminAnswer { $0.field("name", caller.person.name) })
    response.headers["Set-Cookie"] = AdminGate.endCookie
    return response
  }

  package func end(_ request: HTTPRequest, _ person: Operator) {
    guard let token = AdminGate.token(of: request) else { return }
    gate.sessions.end(token)
    (try? api.desk())?.audit.note(
      .operatorLogout, by: person.name, address: gate.address(of: request))
  }

  package static func response(_ answer: AdminAnswer) -> HTTPResponse {
    HTTPResponse(
      status: answer.status,
      headers: [
        "Content-Type": "application/json", "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
      ], body: .bytes(answer.json))
  }
}
