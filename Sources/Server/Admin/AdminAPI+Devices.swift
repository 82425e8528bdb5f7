import FerryJSON
import FerryModel
import FerryServer
import FerryWorld

/// Devices, their users, and operations whose outcome nobody knows.
extension AdminAPI {
  func devices(_ call: AdminCall) async throws(AdminError) -> AdminAnswer {
    let count = try call.integer("count", in: 1...AdminAPI.longestPage) ?? AdminAPI.pageSize
    let after = try call.integer("after", in: 0...Int64.max) ?? 0
    let desk = try desk()
    var all = try await asking { () async throws(ServerError) in try await desk.devices() }
    if let user = call.text("user") { all = all.filter { $0.user == user } }
    if let device = call.text("device") { all = all.filter { $0.device.hasPrefix(device) } }
    if let state = call.text("state") { all = all.filter { $0.state.rawValue == state } }
    switch call.text("order") ?? "lastSeen" {
    case "lastSeen": all.sort { ($0.lastSeen, $1.device) > ($1.lastSeen, $0.device) }
    case "user": all.sort { ($0.user, $0.device) < ($1.user, $1.device) }
    case "pending": all.sort { ($0.pending ?? 0, $1.device) > ($1.pending ?? 0, $0.device) }
    case let name: throw .bad("there is no order \(name)", hint: "Write lastSeen, user or pending.")
    }
    let page = all.dropFirst(Int(clamping: after)).prefix(Int(count))
    let now = world.clock.now.milliseconds
    let total = all.count
    return AdminAnswer { writer in
      writer.field("total", total)
      writer.key("devices")
      writer.array(page) { AdminAPI.write($1, now: now, to: &$0) }
      if page.endIndex < total { writer.field("next", page.endIndex) }
    }
  }

  private static func write(_ device: RegisteredDevice, now: Int64, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("user", device.user)
    writer.field("device", device.device)
    writer.field("state", device.state.rawValue)
    writer.field("reason", device.reason)
    writer.field("package", device.model)
    writer.field("hardware", device.hardware)
    writer.field("system", device.system)
    writer.field("library", device.library)
    writer.field("firstSeen", device.firstSeen)
    writer.field("lastSeen", device.lastSeen)
    writer.field("silentSeconds", max(0, (now - device.lastSeen) / 1_000))
    writer.field("pending", device.pending)
    writer.field("template", device.template)
    writer.field("subscription", device.subscription)
    writer.field("logLevel", device.logLevel)
    writer.endObject()
  }

  /// `verb`: lock, unlock, signOut, wipe, logLevel with `level`, unregister. A wipe asks for the operator's
  /// password again.
  func decideDevice(
    _ call: AdminCall, _ user: String, _ device: String
  ) async throws(AdminError) -> AdminAnswer {
    try call.require(.administrator)
    let reason = try call.reason()
    // Devices that unregister by themselves call it so; `ferry device` says forget.
    var name = call.body?["verb"]?.string ?? ""
    if name == "unregister" { name = "forget" }
    let level = try call.word("level")
    let desk = try desk()
    let all = try await asking { () async throws(ServerError) in try await desk.devices() }
    guard let known = all.first(where: { $0.user == user && $0.device == device }) else {
      throw .notFound("device \(device) of \(user)")
    }
    let withPending = call.body?["withPending"]?.boolean ?? false
    let verb = DeviceVerb(rawValue: name)
    guard verb != nil && verb != .template || name == "signOut" || name == "logLevel" else {
      throw .bad(
        "there is no such verb",
        hint: "Write lock, unlock, signOut, wipe, logLevel or unregister.")
    }
    let levels = LogLevel.allCases.map(\.name)
    guard name != "logLevel" || level.isEmpty || levels.contains(level) else {
      throw .bad(
        "there is no log level of this name",
        hint: "Write \(levels.joined(separator: ", ")), or nothing for what the template says.")
    }
    let will = AdminAPI.sentence(name, known, level: level, withPending: withPending)
    if !call.isTrial {
      if verb == .wipe { try await passwordAgain(call) }
      try await asking { () async throws(ServerError) in
        if let verb {
          _ = try await desk.decide(verb, known.owner, reason: reason, withPending: withPending)
        } else if name == "logLevel" {
          try await desk.setLogLevel(level.isEmpty ? nil : level, of: known.owner)
        } else {
          try await desk.signOut(user: user, device: device)
        }
      }
      desk.audit.note(
        AdminAPI.event(verb, name), by: call.person.name, user: user, device: device,
        address: call.address,
        reason: name == "logLevel"
          ? "\(level.isEmpty ? "as its template" : level): \(reason)" : reason)
    }
    return AdminAnswer { writer in
      writer.field("dryRun", call.isTrial)
      writer.field("verb", name)
      writer.field("willDo", will)
    }
  }

  /// Throws unless the body has the password of who asks: an open page may be somebody else's by now.
  private func passwordAgain(_ call: AdminCall) async throws(AdminError) {
    // A process of the server's own user has no password to show.
    guard !call.person.stamp.isEmpty else { return }
    let password = try call.word("password")
    let desk = try desk()
    do throws(AdminError) {
      _ = try await gate.logIn(call.person.name, password, from: call.address)
    } catch {
      desk.audit.noteStranger(
        .operatorLoginRefused, user: call.person.name, address: call.address,
        what: "the password that an operator was asked for again was refused",
        reason: ServerError(.wrongLogin, error.message, hint: error.hint))
      throw error
    }
  }

  /// Changes the keys that seal tokens. It asks for the operator's password again.
  func changeKeys(_ call: AdminCall) async throws(AdminError) -> AdminAnswer {
    try call.require(.administrator)
    let reason = try call.reason()
    let desk = try desk()
    if !call.isTrial {
      try await passwordAgain(call)
      try await asking { () async throws(ServerError) in try await desk.rotateKeys() }
      desk.audit.note(
        .keyRotated, by: call.person.name, address: call.address, reason: reason)
    }
    return AdminAnswer { writer in
      writer.field("dryRun", call.isTrial)
      writer.field(
        "willDo",
        "New tokens are sealed with new keys. Tokens of before stay good, so nobody has to log in.")
    }
  }

  private static func sentence(
    _ verb: String, _ device: RegisteredDevice, level: String, withPending: Bool
  ) -> String {
    let pending = device.pending.map { "\($0)" } ?? "an unknown number of"
    return switch verb {
    case "logLevel" where level.isEmpty: "The app logs as much as its template says."
    case "logLevel": "The app hears the log level \(level) with its next exchange."
    case "lock": "The next request of the device is refused; its \(pending) pending changes stay."
    case "unlock": "The device may log in again."
    case "wipe" where withPending:
      "The device destroys its data and \(pending) pending changes. Nobody can undo this."
    case "wipe": "The device destroys its data once nothing is pending there (now: \(pending))."
    case "forget": "The device leaves the register and must log in again."
    default: "The sessions of the device end; its user must log in again."
    }
  }

  private static func event(_ verb: DeviceVerb?, _ name: String) -> AuditLog.Event {
    switch verb {
    case .lock?: .deviceLocked
    case .unlock?: .deviceUnlocked
    case .wipe?: .wipeOrdered
    case .forget?: .deviceRemoved
    case .template?: .templateAssigned
    case nil: name == "logLevel" ? .logLevelSet : .sessionEnded
    }
  }

  // Unknown outcomes.

  func outcomes(_ call: AdminCall) async throws(AdminError) -> AdminAnswer {
    try call.require(.operator)
    let desk = try desk()
    let all = try await asking { () async throws(ServerError) in try await desk.openOutcomes() }
    if !all.isEmpty {
      desk.audit.note(
        .valuesShown, by: call.person.name, address: call.address,
        reason: "\(all.count) operations of unknown outcome")
    }
    return AdminAnswer { writer in
      writer.key("operations")
      writer.array(all) { $1.outcome.write(to: &$0, $1.package) }
      writer.key("decisions")
      writer.array(AdminAPI.outcomeVerbs) { writer, one in
        writer.beginObject()
        writer.field("verb", one.verb)
        writer.field("when", one.when)
        writer.field("needs", one.needs)
        writer.field("willDo", one.willDo)
        writer.endObject()
      }
    }
  }

  /// What an operator may do about an unknown outcome, when it is right, and what it takes.
  private static let outcomeVerbs: [(verb: String, when: String, needs: String?, willDo: String)] =
    [
      (
        "accepted", "the business system has done it", "key",
        "The device hears that it was performed, as the object with this key."
      ),
      (
        "refused", "the business system has not done it, and is not to", nil,
        "The device hears that it was refused; its user has the change again."
      ),
      (
        "again", "the business system has not done it, and is to", nil,
        "It is performed once more. If it was done after all, it is there twice."
      ),
    ]

  /// `verb`: again, refused, accepted with `key`.
  func decide(_ call: AdminCall, _ text: String) async throws(AdminError) -> AdminAnswer {
    try call.require(.operator)
    let id = try AdminCall.operation(text)
    let reason = try call.reason()
    let verb = call.body?["verb"]?.string ?? ""
    let key = try call.word("key")
    let message = try call.word("message", atMost: 1_000)
    let desk = try desk()
    guard let chosen = AdminAPI.outcomeVerbs.first(where: { $0.verb == verb }) else {
      throw .bad("there is no such decision", hint: "Write again, refused or accepted.")
    }
    guard chosen.needs == nil || !key.isEmpty else {
      throw .bad(
        "the key is missing", hint: "Write the key that the object has in the business system.")
    }
    let open = try await asking { () async throws(ServerError) in try await desk.openOutcomes() }
    guard let asked = open.first(where: { $0.outcome.operation.id == id })?.outcome else {
      throw .notFound("operation \(id) of unknown outcome")
    }
    if !call.isTrial {
      try await asking { () async throws(ServerError) in
        try await desk.decide(id, verb, key: key, message: message)
      }
      desk.audit.note(
        .outcomeDecided, by: call.person.name, user: asked.user, device: asked.device,
        operation: id.text, address: call.address, reason: "\(verb): \(reason)")
    }
    return AdminAnswer { writer in
      writer.field("dryRun", call.isTrial)
      writer.field("verb", verb)
      writer.field("willDo", chosen.willDo)
    }
  }
}
