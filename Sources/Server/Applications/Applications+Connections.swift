import FerryCrypto
import FerryHTTP
import FerryOData
import FerryRegistration
import FerryServer

/// Registering, reading, changing and deleting connections.
extension Applications {
  func serve(
    _ request: HTTPRequest, _ place: ApplicationsPlace, _ application: Application,
    _ format: AnswerFormat
  ) async throws(ApplicationsRefusal) -> HTTPResponse {
    let method = Applications.method(request)
    let root = base(request) + place.root
    switch (place.target, method) {
    case (.connections, "POST"): return try await register(request, application, root, format)
    case (.connection(let id), "PUT"), (.connection(let id), "MERGE"),
      (.connection(let id), "PATCH"):
      return try await update(request, id, application, isWhole: method == "PUT")
    case (.connection(let id), "DELETE"): return try await unregister(request, id, application)
    case (.packages, "GET"), (.packages, "HEAD"): return try packagePage(application)
    case (.bundle(let id), _): return try await bundle(request, id, application)
    case (_, "GET"), (_, "HEAD"): return try await read(request, place, application, root, format)
    default: throw ApplicationsRefusal(.notOffered, method)
    }
  }

  /// `MERGE` may travel as `POST` where a proxy knows only the methods of HTML.
  private static func method(_ request: HTTPRequest) -> String {
    let tunnelled = request.headers["X-HTTP-Method"] ?? request.headers["X-HTTP-Method-Override"]
    guard request.method == .post, let tunnelled,
      ["PUT", "MERGE", "PATCH", "DELETE"].contains(tunnelled.uppercased())
    else { return request.method.rawValue }
    return tunnelled.uppercased()
  }

  // Registering.

  private func register(
    _ request: HTTPRequest, _ application: Application, _ root: String, _ format: AnswerFormat
  ) async throws(ApplicationsRefusal) -> HTTPResponse {
    let caller = try await caller(request, application)
    if let users = application.users, !users.contains(caller.name) {
      throw ApplicationsRefusal(.userNotAllowed, application.id)
    }
    let change = try Applications.change(request)
    let id = try chosenID(request, application)
    let host = try host()
    let template = try await template(application, host)
    var connection = StoredConnection(
      id: id, user: caller.name, application: application.id,
      registered: world.clock.now.milliseconds)
    connection.template = template?.name
    connection.properties = ConnectionValues.write(ConnectionValues.values(of: template))
    var values = ConnectionValues(connection, application, door: base(request))
    connection.properties = values.apply(change, isWhole: false)
    var token: String?
    if caller.user == nil {
      // One that the client has chosen is good for a second attempt too.
      let chosen = RequestIdentity(request).token.flatMap { token in
        token.utf8.count >= 32 && ConnectionID.isGood(token) ? token : nil
      }
      let made = chosen ?? hexadecimal(world.chance.bytes(32))
      connection.proof = Applications.proof(made)
      token = made
    }
    if application.asksCaptcha { try askCaptcha(request, caller, application) }
    let code = request.headers["X-SUP-ACTIVATION-CODE"] ?? request.headers["X-SMP-ACTIVATION-CODE"]
    guard code != nil || application.admission == .automatic else {
      throw ApplicationsRefusal(.automaticRegistrationDisabled, application.id)
    }
    if let code { try await activate(code, id, caller, request, host) }
    let outcome: RegisteredOutcome
    do throws(ServerError) { outcome = try await host.register(connection) } catch {
      throw ApplicationsRefusal(error)
    }
    switch outcome {
    case .taken: throw ApplicationsRefusal(.wrongUserForRegistration)
    case .known: throw ApplicationsRefusal(.alreadyRegistered, id)
    case .registered(let made):
      audit.note(
        .connectionRegistered, user: made.user, device: made.id, address: request.peer,
        reason: made.application)
      return completed(try created(made, application, root, request, format, token), caller)
    }
  }

  /// Throws a picture where the request has no right text of one.
  private func askCaptcha(
    _ request: HTTPRequest, _ caller: RegistrationCaller, _ application: Application
  ) throws(ApplicationsRefusal) {
    func header(_ name: String) -> String? {
      request.headers["X-SUP-\(name)"] ?? request.headers["X-SMP-\(name)"]
    }
    // Nobody who asks without a login shares the pictures of another address.
    let who = caller.user?.name ?? "\u{0}\(request.peer ?? "")"
    var code = RegistrationCode.captchaNeeded
    if let id = header("CAPTCHA-ID"), let written = header("CAPTCHA-TEXT") {
      let text = PercentEncoding.decode(written.utf8) ?? written
      if captchas.judge(text, of: id, by: who, application.id) == .right { return }
      code = .wrongCaptcha
    }
    guard let challenge = captchas.challenge(who, of: application.id) else {
      throw ApplicationsRefusal(.tooManyAttempts, retryAfterSeconds: 300)
    }
    var refusal = ApplicationsRefusal(code)
    refusal.captcha = challenge
    throw refusal
  }

  /// Who guesses has to wait, as with passwords.
  private func activate(
    _ code: String, _ id: String, _ caller: RegistrationCaller, _ request: HTTPRequest,
    _ host: ServiceHost
  ) async throws(ApplicationsRefusal) {
    let address = request.peer ?? ""
    let verdict: ActivationVerdict
    do throws(ServerError) {
      try await logins.mayTry(user: caller.name, from: address)
      verdict = try await host.useActivation(code, of: caller.name, for: id)
    } catch { throw ApplicationsRefusal(error) }
    await logins.tried(user: caller.name, from: address, isRight: verdict == .good)
    if let no = Applications.code(of: verdict) { throw ApplicationsRefusal(no) }
  }

  private static func code(of verdict: ActivationVerdict) -> RegistrationCode? {
    switch verdict {
    case .good: nil
    case .unknown: .invalidActivationCode
    case .otherDevice: .wrongDeviceForCode
    case .otherUser: .wrongUserForCode
    }
  }

  private func created(
    _ connection: StoredConnection, _ application: Application, _ root: String,
    _ request: HTTPRequest, _ format: AnswerFormat, _ token: String?
  ) throws(ApplicationsRefusal) -> HTTPResponse {
    let values = ConnectionValues(connection, application, door: base(request))
    var response = try document(values.entry(root), format)
    response.status = 201
    response.headers["Location"] = "\(root)Connections('\(connection.id)')"
    for name in ["X-SUP-APPCID", "X-SMP-APPCID"] {
      response.headers[name] = connection.id
      response.headers.add("Set-Cookie", cookie(name, connection.id))
    }
    if let token {
      response.headers["X-SUP-SECTOKEN"] = token
      response.headers.add("Set-Cookie", cookie("X-SUP-SECTOKEN", token))
    }
    return response
  }

  /// The id that the client has chosen, or a new one, which ends with the name of the application.
  private func chosenID(
    _ request: HTTPRequest, _ application: Application
  ) throws(ApplicationsRefusal) -> String {
    // A cookie may be that of a connection of before; who chooses an id sends a header.
    let chosen = request.headers["X-SUP-APPCID"] ?? request.headers["X-SMP-APPCID"]
    if let chosen {
      guard ConnectionID.isGood(chosen) else { throw ApplicationsRefusal(.invalidConnectionID) }
      return chosen
    }
    let digits = hexadecimal(world.chance.bytes(16))
    var parts: [Substring] = []
    var rest = Substring(digits)
    for count in [8, 4, 4, 4, 12] {
      parts.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return "\(parts.joined(separator: "-"))__\(application.id)"
  }

  private func template(
    _ application: Application, _ host: ServiceHost
  ) async throws(ApplicationsRefusal) -> ConnectionTemplate? {
    let templates = await host.connectionTemplates
    if let name = application.template {
      guard let template = templates.first(where: { $0.name == name }) else {
        throw ApplicationsRefusal(.templateNotFound, name)
      }
      return template
    }
    let matching = templates.filter { $0.matches(package: application.id, login: .password) }
    guard matching.count < 2 else {
      throw ApplicationsRefusal(
        .ambiguousTemplate, matching.map(\.name).joined(separator: " and "))
    }
    return matching.first
  }

  // Changing.

  private func update(
    _ request: HTTPRequest, _ id: String, _ application: Application, isWhole: Bool
  ) async throws(ApplicationsRefusal) -> HTTPResponse {
    let change = try Applications.change(request)
    guard isWhole || !change.isEmpty else { throw ApplicationsRefusal(.emptyParameters) }
    // Somebody else may change it at the same time: then it is read again.
    for _ in 0..<8 {
      let (connection, caller) = try await self.connection(request, id, of: application)
      var values = ConnectionValues(connection, application, door: base(request))
      if let match = request.headers["If-Match"], match != "*", match != values.etag {
        throw ApplicationsRefusal(.changedMeanwhile)
      }
      var changed = connection
      changed.properties = values.apply(change, isWhole: isWhole)
      let isDone: Bool
      let host = try host()
      do throws(ServerError) {
        isDone = try await host.update(changed, from: connection.changes)
      } catch { throw ApplicationsRefusal(error) }
      guard isDone else { continue }
      changed.changes += 1
      waiters.tell(id)
      let etag = ConnectionValues(changed, application, door: "").etag
      return completed(
        HTTPResponse(
          status: 204, headers: ["ETag": etag, "DataServiceVersion": "2.0"]), caller)
    }
    throw ApplicationsRefusal(.serverBusy)
  }

  private func unregister(
    _ request: HTTPRequest, _ id: String, _ application: Application
  ) async throws(ApplicationsRefusal) -> HTTPResponse {
    let (connection, caller) = try await connection(request, id, of: application)
    let isDone: Bool
    let host = try host()
    do throws(ServerError) { isDone = try await host.unregister(connection) } catch {
      throw ApplicationsRefusal(error)
    }
    guard isDone else { throw ApplicationsRefusal(.notRegistered) }
    waiters.tell(id)
    audit.note(
      .deviceUnregistered, user: connection.user, device: id, address: request.peer,
      reason: connection.application)
    var response = HTTPResponse(status: 200, headers: ["DataServiceVersion": "2.0"])
    for name in ["X-SUP-APPCID", "X-SMP-APPCID"] {
      response.headers.add("Set-Cookie", cookie(name, "") + "; Max-Age=0")
    }
    return completed(response, caller)
  }

  /// The properties of a body; none where it is empty.
  private static func change(
    _ request: HTTPRequest
  ) throws(ApplicationsRefusal) -> ConnectionValues.Change {
    guard !request.body.isEmpty else { return [] }
    let options = ODataReadOptions(
      metadata: ApplicationsMetadata.metadata, type: ApplicationsMetadata.connection,
      version: .v2)
    let entry: ODataEntry
    do throws(ODataError) { entry = try ODataEntry.read(request.body, options) } catch {
      throw ApplicationsRefusal(.unreadableRequest, error.message)
    }
    return try ConnectionValues.change(entry.properties)
  }
}
