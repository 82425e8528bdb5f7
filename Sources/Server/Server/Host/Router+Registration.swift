import FerryHTTP
import FerryJSON
import FerryModel

/// Activation codes, and devices that log out by themselves.
extension Router {
  /// `POST /ferry/1/operator/activation`: `user`, and `template` or the id of a `device` whose template
  /// it is to be. The answer has the code, which nobody can read a second time.
  func activation(_ request: HTTPRequest) async throws(ServerError) -> HTTPResponse {
    guard let node = try? JSONNode.parse(request.body), let user = node["user"]?.string else {
      return unreadable("activation takes user, and perhaps template")
    }
    let made = try await service.makeActivation(of: user, template: node["template"]?.string)
    audit.note(
      .activationMade, user: user, address: address(of: request), reason: node["template"]?.string)
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("code", made.code)
    writer.field("expires", made.expires.milliseconds)
    writer.endObject()
    return json(200, writer.bytes)
  }

  /// A login with an activation code; who guesses has to wait, as with passwords.
  func activate(
    _ login: LoginRequest, _ code: String, from address: String
  ) async throws(ServerError) -> (UserRecord, TokenPair) {
    try await doorkeeper.mayTry(login, from: address)
    do throws(ServerError) {
      let activated = try await service.activate(
        code, of: login.user, device: login.device, package: login.package, key: login.key)
      await doorkeeper.tried(login, from: address, isRight: true)
      return activated
    } catch {
      if error.code == .wrongLogin {
        await doorkeeper.tried(login, from: address, isRight: false)
      }
      throw error
    }
  }

  /// `POST /ferry/1/logout`: `refreshToken`, `device`, and `unregister` where the device is to leave
  /// the register. Repeated, or for a session that has ended, it is done already.
  func logout(_ request: HTTPRequest) async -> HTTPResponse {
    guard request.body.count <= Router.passwordBytes, let logout = LogoutRequest(request.body)
    else { return unreadable("logout takes refreshToken and device") }
    do throws(ServerError) {
      if let user = try await service.logout(logout) {
        audit.note(
          logout.isUnregistering ? .deviceUnregistered : .loggedOut, user: user,
          device: logout.device, address: address(of: request))
      }
      return json(200, Array("{}".utf8))
    } catch {
      return refusal(503, error)
    }
  }
}
