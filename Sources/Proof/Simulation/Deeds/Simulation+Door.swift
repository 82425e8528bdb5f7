import Ferry
import FerryHTTP
import FerryJSON
import FerryServer
import FerryWire

/// What happens at the server's door, as the router has it.
extension Simulation {
  func arrive(_ transfer: Transfer) throws {
    try answer(transfer)
    if let problem = tokenFailure { throw SimulationFailure(invariant: 11, problem: problem) }
    if transfer.exchange != nil {
      noteArrived(transfer)
      noteQuestion(transfer)
    }
    guard transfer.exchange != nil, let token = transfer.request.token,
      users.rights(ofToken: token) != transfer.tokenRights
    else { return }
    throw SimulationFailure(
      invariant: 11,
      problem:
        "\(transfer.device.user) is let in for the agencies \(transfer.tokenRights.sorted()), which "
        + "its token was not given for")
  }

  private func answer(_ transfer: Transfer) throws {
    transfer.serverLife = server.life
    transfer.era = server.service.era
    if transfer.isAstray, transfer.request.path == "exchange" || transfer.request.path == "channel"
    {
      counts.add(.wrongServer)
      say(try WrongServer.answer(transfer.request.body), 200, on: transfer)
      return
    }
    do throws(ServerError) {
      switch transfer.request.path {
      case "login", "token": try answerLogin(transfer)
      case _ where transfer.request.isContent: try take(transfer)
      default: try open(transfer)
      }
    } catch {
      let isDenied = [
        .wrongLogin, .revokedToken, .expiredToken, .forgedToken, .staleRights, .deviceWiped,
        .deviceLocked,
      ].contains(error.code)
      guard isDenied || server.disk.begun != nil else { throw error }
      say(
        error.body, !isDenied ? 503 : error.code == .deviceLocked ? 403 : 401, on: transfer)
    }
  }

  private func say(_ bytes: [UInt8], _ status: Int, on transfer: Transfer) {
    transfer.status = status
    transfer.put(bytes)
    transfer.isServerDone = true
  }

  private func identity(of transfer: Transfer) throws(ServerError) -> Identity {
    guard let token = transfer.request.token else {
      throw ServerError(.forgedToken, "the request carries no token", hint: "Log in.")
    }
    let identity = try server.service.accessTokens.verify(token, now: server.clock.now)
    try server.service.check(identity)
    if let device = identity.device {
      tokenFailure = register.problem(whereLetIn: Owner(device: device, user: identity.user))
    }
    return identity
  }

  /// A piece of a content.
  private func take(_ transfer: Transfer) throws(ServerError) {
    let identity = try identity(of: transfer)
    let sent = transfer.request
    var headers: HTTPHeaders = [:]
    for (name, value) in sent.headers { headers[name] = value }
    let request = HTTPRequest(
      method: .put, path: "/ferry/1/\(sent.path)", headers: headers, body: sent.body)
    guard let piece = ContentPiece(request) else {
      preconditionFailure("a device sends \(sent.path)")
    }
    switch try server.service.take(piece, from: identity) {
    case .success(let (progress, isTaken)): say(progress.json, isTaken ? 200 : 409, on: transfer)
    case .failure(let no): say(Array("{}".utf8), no.status, on: transfer)
    }
  }

  private func open(_ transfer: Transfer) throws(ServerError) {
    let identity = try identity(of: transfer)
    transfer.user = identity.user
    transfer.chosen = chosen(by: transfer.request)
    transfer.rights = rights(of: transfer)
    transfer.tokenRights = SimulatedUsers.rights(ofClaims: identity.claims)
    transfer.deviceID = identity.device
    transfer.status = 200
    let service = server.service
    transfer.exchange =
      transfer.lane == .channel
      ? service.channel(transfer.request.body, by: identity, until: identity.expires)
      : service.exchange(transfer.request.body, by: identity)
  }

  private func answerLogin(_ transfer: Transfer) throws(ServerError) {
    let node = try? JSONNode.parse(transfer.request.body)
    let device = node?["device"]?.string ?? ""
    let pair: TokenPair
    if transfer.request.path == "login" {
      let record = try users.authenticate(
        user: node?["user"]?.string ?? "", password: node?["password"]?.string ?? "")
      users.see(record.name, now: server.clock.now)
      let login = LoginRequest(transfer.request.body)
      pair = try server.service.login(record, device: device, key: login?.key)
    } else {
      // An issuer that is away gives no newer one.
      if !hasFaults || chance.happens(700) {
        users.see(transfer.device.user, now: server.clock.now)
      }
      pair = try renew(
        node?["refreshToken"]?.string ?? "", device: device,
        RenewalRequest(transfer.request.body)?.proof)
    }
    users.note(token: pair.accessToken, of: pair.user)
    say(pair.answer(now: server.clock.now).encoded(), 200, on: transfer)
  }
}

/// Which refresh tokens a server has to take, by a rule of the simulation's own.
extension Simulation {
  /// What a token says of itself, and what the server knows of its session before it is presented.
  private func renew(
    _ token: String, device: String, _ proof: TokenProof?
  ) throws(ServerError) -> TokenPair {
    let number = token.split(separator: ".").dropFirst(2).first.flatMap { Int64($0) } ?? 0
    let before = try server.service.knownSession(token)
    let isOpen = before.map { $0.isOpen } ?? false
    do throws(ServerError) {
      let pair = try server.service.renew(
        token, device: device, proof: proof, provider: server.provider)
      if let before, number < before.used {
        tokenFailure =
          "the token \(number) of a session is taken, though \(before.used) was presented before"
      }
      return pair
    } catch {
      if error.code == .revokedToken, isOpen, let before, number >= before.used {
        tokenFailure =
          "the token \(number) of an open session is refused, though none after it was presented"
      }
      throw error
    }
  }
}

/// A server with another store, as a device meets it behind a wrong address.
enum WrongServer {
  /// Says no to every device that knows its own server, and so is all that it ever gives.
  static func answer(_ body: [UInt8]) throws -> [UInt8] {
    Message.failure(
      WireFailure(
        .otherServer, "the device belongs to another server", hint: "Check the address.")
    ).frame.encoded()
  }
}
