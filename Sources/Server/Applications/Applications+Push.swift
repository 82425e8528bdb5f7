import FerryHTTP
import FerryJSON
import FerryRegistration
import FerryServer

/// Payloads of services, and the channel on which a device gets them.
extension Applications {
  /// Somebody who may send payloads to the application.
  private func sender(
    _ request: HTTPRequest, _ application: Application?
  ) async throws(ApplicationsRefusal) {
    let caller = try await caller(request, nil)
    let roles = application?.pushRoles ?? [Application.pushRole]
    guard let user = caller.user, !roles.isDisjoint(with: user.roles) else {
      throw ApplicationsRefusal(.missingRole)
    }
  }

  func push(
    _ request: HTTPRequest, toConnection id: String, isDocument: Bool
  ) async throws(ApplicationsRefusal) -> HTTPResponse {
    guard request.method == .post else {
      throw ApplicationsRefusal(.notOffered, request.method.rawValue)
    }
    // Who may not push does not learn which connections there are.
    let known: StoredConnection?
    if ConnectionID.isGood(id) {
      let host = try host()
      do throws(ServerError) { known = try await host.connection(id) } catch {
        throw ApplicationsRefusal(error)
      }
    } else {
      known = nil
    }
    try await sender(request, known.flatMap { applications[$0.application] })
    guard let known, let application = applications[known.application] else {
      throw ApplicationsRefusal(.notRegistered)
    }
    let content = try PushFields.read(request, isDocument: isDocument)
    guard try await queue(content, known, application) else {
      throw ApplicationsRefusal(.queueFull)
    }
    return HTTPResponse(status: 201, headers: ["Cache-Control": "no-store"])
  }

  /// To all connections of an application, or those of one of its users.
  func push(
    _ request: HTTPRequest, toApplication id: String, user: String?
  ) async throws(ApplicationsRefusal) -> HTTPResponse {
    guard request.method == .post else {
      throw ApplicationsRefusal(.notOffered, request.method.rawValue)
    }
    let application = applications[id]
    try await sender(request, application)
    guard let application else {
      throw ApplicationsRefusal(.unknownApplication, String(id.prefix(90)))
    }
    let content = try PushFields.read(request, isDocument: true)
    let found: [StoredConnection]
    let host = try host()
    do throws(ServerError) {
      found = try await host.connections(of: application.id, user: user)
    } catch { throw ApplicationsRefusal(error) }
    guard !found.isEmpty else { throw ApplicationsRefusal(.notRegistered) }
    var queued = 0
    for connection in found where try await queue(content, connection, application) { queued += 1 }
    guard queued > 0 else { throw ApplicationsRefusal(.queueFull) }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("connections", found.count)
    writer.field("queued", queued)
    writer.endObject()
    return HTTPResponse(
      status: 201,
      headers: ["Content-Type": "application/json", "Cache-Control": "no-store"],
      body: .bytes(writer.bytes))
  }

  /// False where its queue is full, or it is not registered any more.
  private func queue(
    _ content: String, _ connection: StoredConnection, _ application: Application
  ) async throws(ApplicationsRefusal) -> Bool {
    let payload = StoredPayload(moment: world.clock.now.milliseconds, content: content)
    let number: Int64?
    let host = try host()
    do throws(ServerError) {
      number = try await host.add(payload, to: connection.owner, limit: application.queue)
    } catch { throw ApplicationsRefusal(error) }
    guard number != nil else { return false }
    waiters.tell(connection.id)
    await wake(connection, application, content)
    return true
  }

  /// `GET` opens the channel of a device behind the payload `after`, up to which it has all; `DELETE`
  /// takes those up to `through` out of the queue.
  func channel(
    _ request: HTTPRequest, of id: String
  ) async throws(ApplicationsRefusal) -> HTTPResponse {
    let isOpening = request.method == .get
    guard isOpening || request.method == .delete else {
      throw ApplicationsRefusal(.notOffered, request.method.rawValue)
    }
    let (connection, caller) = try await connection(request, id, of: nil)
    let text = request.queryValue(isOpening ? "after" : "through") ?? "0"
    guard let number = Int64(text), number >= 0 else {
      throw ApplicationsRefusal(.wrongValue, isOpening ? "after" : "through")
    }
    if number > 0 {
      let host = try host()
      do throws(ServerError) {
        try await host.forgetPayloads(of: connection.owner, upTo: number)
      } catch { throw ApplicationsRefusal(error) }
    }
    guard isOpening else { return completed(HTTPResponse(status: 204), caller) }
    var settings: (@Sendable (StoredConnection) -> [ConnectionSetting])?
    if request.queryValue("settings") == "true",
      let application = applications[connection.application]
    {
      let door = base(request)
      settings = { connection in
        ConnectionValues(connection, application, door: door).settings
      }
    }
    let body = PayloadBody(
      connection, after: number, waiters, world, settings: settings, register: register)
    return completed(
      HTTPResponse(
        status: 200,
        headers: [
          "Content-Type": "application/x-ndjson", "Cache-Control": "no-store",
          // Without this nginx keeps the bytes back.
          "X-Accel-Buffering": "no",
        ], body: .stream(body)), caller)
  }
}
