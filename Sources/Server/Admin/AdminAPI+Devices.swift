import FerryJSON
import FerryModel
import FerryServer

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
    writer.endObject()
  }

  /// `verb`: lock, unlock, wipe, forget, signOut. A wipe asks for the operator's password again.
  func decideDevice(
    _ call: AdminCall, _ user: String, _ device: String
  ) async throws(AdminError) -> AdminAnswer {
    try call.require(.administrator)
    let reason = try call.reason()
    let name = call.body?["verb"]?.string ?? ""
    let desk = try desk()
    let all = try await asking { () async throws(ServerError) in try await desk.devices() }
    guard let known = all.first(where: { $0.user == user && $0.device == device }) else {
      throw .notFound("device \(device) of \(user)")
    }
    if name == "wipe" {
      let password = try call.word("password")
      // A process of the server's own user has no password to show.
      if !call.person.stamp.isEmpty {
        _ = try await gate.logIn(call.person.name, password, from: call.address)
      }
    }
    let withPending = call.body?["withPending"]?.boolean ?? false
    let verb = DeviceVerb(rawValue: name)
    guard verb != nil && verb != .template || name == "signOut" else {
      throw .bad("there is no such verb", hint: "Write lock, unlock, wipe, forget or signOut.")
    }
    if call.isTrial {
      return AdminAnswer { writer in
        writer.field("dryRun", true)
        writer.field("willDo", AdminAPI.sentence(name, known, withPending: withPending))
      }
    }
    try await asking { () async throws(ServerError) in
      if let verb {
        _ = try await desk.decide(verb, known.owner, reason: reason, withPending: withPending)
      } else {
        try await desk.signOut(user: user, device: device)
      }
    }
    desk.audit.note(
      AdminAPI.event(verb), by: call.person.name, user: user, device: device,
      address: call.address, reason: reason)
    return AdminAnswer { writer in
      writer.field("dryRun", false)
      writer.field("verb", name)
    }
  }

  private static func sentence(
    _ verb: String, _ device: RegisteredDevice, withPending: Bool
  ) -> String {
    let pending = device.pending.map { "\($0)" } ?? "an unknown number of"
    return switch verb {
    case "lock": "The next request of the device is refused; its \(pending) pending changes stay."
    case "unlock": "The device may log in again."
    case "wipe" where withPending:
      "The device destroys its data and \(pending) pending changes. Nobody can undo this."
    case "wipe": "The device destroys its data once nothing is pending there (now: \(pending))."
    case "forget": "The device leaves the register and must log in again."
    default: "The sessions of the device end; its user must log in again."
    }
  }

  private static func event(_ verb: DeviceVerb?) -> AuditLog.Event {
    switch verb {
    case .lock?: .deviceLocked
    case .unlock?: .deviceUnlocked
    case .wipe?: .wipeOrdered
    case .forget?: .deviceRemoved
    case .template?: .templateAssigned
    case nil: .sessionEnded
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
    }
  }

  /// `verb`: again, refused, accepted with `key`.
  func decide(_ call: AdminCall, _ text: String) async throws(AdminError) -> AdminAnswer {
    try call.require(.operator)
    let id = try AdminCall.operation(text)
    let reason = try call.reason()
    let verb = call.body?["verb"]?.string ?? ""
    let key = try call.word("key")
    let message = try call.word("message", atMost: 1_000)
    let desk = try desk()
    guard ["again", "refused", "accepted"].contains(verb) else {
      throw .bad("there is no such decision", hint: "Write again, refused or accepted.")
    }
    guard !call.isTrial else {
      return AdminAnswer { writer in
        writer.field("dryRun", true)
        writer.field("willDo", "The operation is answered as \(verb).")
      }
    }
    try await asking { () async throws(ServerError) in
      try await desk.decide(id, verb, key: key, message: message)
    }
    desk.audit.note(
      .outcomeDecided, by: call.person.name, operation: id.text, address: call.address,
      reason: "\(verb): \(reason)")
    return AdminAnswer { writer in
      writer.field("dryRun", false)
      writer.field("verb", verb)
    }
  }
}
