import FerryHTTP
import FerryJSON
import FerryServer
import FerryWorld

/// The admin API, version 1: all that the pages and `ferry admin` do goes through it.
///
/// Who asks is known by then (`AdminGate`). Each answer is one JSON object; `AdminSchemas` describes
/// them.
package struct AdminAPI: Sendable {
  package static let prefix: String = "/admin/1"

  private let find: @Sendable () -> AdminDesk?
  let version: String
  let gate: AdminGate
  let world: World
  let latest = LatestOverview()
  let serverLines: ServerLines?

  package init(
    _ server: ServerHost, gate: AdminGate, version: String, world: World,
    serverLines: ServerLines? = nil
  ) {
    self.init(
      desk: { server.adminDesk }, gate: gate, version: version, world: world,
      serverLines: serverLines)
  }

  /// `desk`: nil while the server serves no package. `serverLines`: what the server wrote into its log.
  package init(
    desk: @escaping @Sendable () -> AdminDesk?, gate: AdminGate, version: String, world: World,
    serverLines: ServerLines? = nil
  ) {
    self.serverLines = serverLines
    find = desk
    self.gate = gate
    self.version = version
    self.world = world
  }

  package static func isMeant(by request: HTTPRequest) -> Bool {
    request.path == prefix || request.path.hasPrefix("\(prefix)/")
  }

  func desk() throws(AdminError) -> AdminDesk {
    guard let desk = find() else { throw .notReady }
    return desk
  }

  /// What the server answers; never throws.
  package func answer(_ call: AdminCall) async -> AdminAnswer {
    do throws(AdminError) { return try await perform(call) } catch { return error.answer }
  }

  /// Errors of the server as those of the API.
  func asking<Result: Sendable>(
    _ body: () async throws(ServerError) -> Result
  ) async throws(AdminError) -> Result {
    do throws(ServerError) { return try await body() } catch { throw AdminError(error) }
  }

  private func perform(_ call: AdminCall) async throws(AdminError) -> AdminAnswer {
    let path = call.path
    switch (call.method, path.first ?? "", path.count) {
    case (.get, "", 0): return index
    case (.get, "session", 1): return session(call)
    case (.get, "overview", 1): return try await overview()
    case (.get, "operations", 1): return try await operations(call)
    case (.get, "operations", 2): return try await operation(call, path[1])
    case (.post, "operations", 3) where path[2] == "correction":
      return try await correct(call, path[1])
    case (.post, "operations", 5) where path[2] == "correction" && path[4] == "withdraw":
      return try await withdraw(call, path[1], path[3])
    case (.get, "causes", 1): return try await causes()
    case (.post, "corrections", 1): return try await correctMany(call)
    case (.get, "outcomes", 1): return try await outcomes(call)
    case (.post, "outcomes", 2): return try await decide(call, path[1])
    case (.get, "devices", 1): return try await devices(call)
    case (.post, "devices", 3): return try await decideDevice(call, path[1], path[2])
    case (.post, "keys", 1): return try await changeKeys(call)
    case (.get, "packages", 1): return try packages()
    case (.post, "packages", 3) where path[2] == "reload": return try reload(call, path[1])
    case (.get, "rejected", 1): return try await rejected()
    case (.get, "why", 1): return try await why(call)
    case (.get, "audit", 1): return try audit(call)
    case (.get, "logs", 1): return try await logs(call)
    case (.get, "timeline", 2): return try await timeline(call, path[1])
    case (.get, "schemas", 1): return AdminSchemas.index
    case (.get, "schemas", 2):
      guard let schema = AdminSchemas.named(path[1]) else { throw .notFound("schema \(path[1])") }
      return AdminAnswer(200, Array(schema.utf8))
    default:
      throw .notFound("\(call.method) /admin/1/\(path.joined(separator: "/"))")
    }
  }

  private var index: AdminAnswer {
    AdminAnswer { writer in
      writer.field("api", "ferry admin")
      writer.field("version", 1)
      writer.field("server", version)
      writer.key("paths")
      writer.array(AdminAPI.paths) { writer, path in
        writer.beginObject()
        writer.field("method", path.method)
        writer.field("path", path.path)
        writer.field("role", path.role.rawValue)
        writer.field("audit", path.audit)
        writer.field("undo", path.undo)
        writer.endObject()
      }
      writer.key("actions")
      writer.array(AdminAction.all) { writer, action in
        writer.beginObject()
        writer.field("action", action.name)
        writer.field("method", action.method)
        writer.field("path", action.path)
        writer.field("verb", action.verb)
        writer.field("role", action.role?.rawValue)
        writer.field("command", action.command)
        writer.key("audit")
        writer.array(action.audit) { $0.string($1.rawValue) }
        writer.field("undo", action.undo)
        writer.endObject()
      }
    }
  }

  /// Each path with the role that it needs, the line that it leaves in the audit log, and its undo.
  package static let paths:
    [(method: String, path: String, role: AdminRole, audit: String?, undo: String?)] = [
      ("GET", "/admin/1/", .viewer, nil, nil),
      ("POST", "/admin/1/session", .viewer, "operatorLogin", "DELETE /admin/1/session"),
      ("DELETE", "/admin/1/session", .viewer, "operatorLogout", nil),
      ("GET", "/admin/1/session", .viewer, nil, nil),
      ("GET", "/admin/1/overview", .viewer, nil, nil),
      ("GET", "/admin/1/events", .viewer, nil, nil),
      ("GET", "/admin/1/operations", .viewer, nil, nil),
      ("GET", "/admin/1/operations/ID", .viewer, nil, nil),
      ("GET", "/admin/1/operations/ID?values=1", .operator, "valuesShown", nil),
      (
        "POST", "/admin/1/operations/ID/correction", .operator, "correctionMade",
        "withdraw, until the device has done it"
      ),
      (
        "POST", "/admin/1/operations/ID/correction/CORRECTION/withdraw", .operator,
        "correctionWithdrawn", "decide again"
      ),
      ("GET", "/admin/1/causes", .viewer, nil, nil),
      (
        "POST", "/admin/1/corrections", .operator, "correctionMade",
        "withdraw each, until its device has done it"
      ),
      ("GET", "/admin/1/outcomes", .operator, "valuesShown", nil),
      ("POST", "/admin/1/outcomes/ID", .operator, "outcomeDecided", nil),
      ("GET", "/admin/1/devices", .viewer, nil, nil),
      (
        "POST", "/admin/1/devices/USER/DEVICE", .administrator,
        "deviceLocked, deviceUnlocked, wipeOrdered, deviceRemoved, sessionEnded, logLevelSet",
        "unlock; another level; none of a wipe that the device has done"
      ),
      ("POST", "/admin/1/keys", .administrator, "keyRotated", nil),
      ("GET", "/admin/1/packages", .viewer, nil, nil),
      ("POST", "/admin/1/packages/ID/reload", .administrator, "reloadAsked", nil),
      ("GET", "/admin/1/rejected", .viewer, nil, nil),
      ("GET", "/admin/1/why?package&entity&key", .operator, "valuesShown", nil),
      ("GET", "/admin/1/audit", .viewer, nil, nil),
      ("GET", "/admin/1/logs?source&level&component&user&device&id", .operator, "valuesShown", nil),
      ("GET", "/admin/1/timeline/ID", .operator, "valuesShown", nil),
      ("GET", "/admin/1/schemas", .viewer, nil, nil),
    ]

  private func session(_ call: AdminCall) -> AdminAnswer {
    AdminAnswer { writer in
      writer.field("name", call.person.name)
      writer.field("role", call.person.role.rawValue)
    }
  }
}
