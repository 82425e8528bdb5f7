import FerryServer

/// What an operator can do, with who may, what the audit log says of it, and how it is undone. The table
/// of Documentation/Console.md is this list.
package struct AdminAction: Sendable {
  package let name: String
  /// Nil: whoever has a name and a password.
  package let role: AdminRole?
  package let method: String
  package let path: String
  /// The member `verb` of the body; nil: it has none.
  package var verb: String?
  /// The words behind `ferry admin`; nil: a terminal has no such action.
  package let command: String?
  package let audit: [AuditLog.Event]
  /// What the audit log says once the device has done it.
  package var later: AuditLog.Event?
  package let undo: String?

  /// Its line in the documentation.
  package var row: String {
    var lines = audit.map { "`\($0.rawValue)`" }.joined(separator: ", ")
    if let later { lines += ", later `\(later.rawValue)`" }
    let terminal = command.map { "`\($0)`" } ?? "-"
    return "| \(name) | \(role?.rawValue ?? "-") | \(terminal) | \(lines) | \(undo ?? "none") |"
  }

  package static let all: [AdminAction] = sessions + operations + outcomes + devices + server

  private static let sessions = [
    AdminAction(
      name: "log in", role: nil, method: "POST", path: "/admin/1/session", command: nil,
      audit: [.operatorLogin, .operatorLoginRefused], undo: "log out"),
    AdminAction(
      name: "log out", role: nil, method: "DELETE", path: "/admin/1/session", command: nil,
      audit: [.operatorLogout], undo: "log in"),
  ]

  private static func correction(
    _ name: String, _ verb: String, _ command: String, undo: String
  ) -> AdminAction {
    AdminAction(
      name: name, role: .operator, method: "POST", path: "/admin/1/operations/ID/correction",
      verb: verb, command: command, audit: [.correctionMade], later: .correctionEnded, undo: undo)
  }

  private static let takeBack = "take back, until the device has done it"

  private static let operations = [
    AdminAction(
      name: "show the values of an operation", role: .operator, method: "GET",
      path: "/admin/1/operations/ID?values=1", command: "operation --values",
      audit: [.valuesShown], undo: nil),
    AdminAction(
      name: "show the timeline of an operation", role: .operator, method: "GET",
      path: "/admin/1/timeline/ID", command: "timeline", audit: [.valuesShown], undo: nil),
    AdminAction(
      name: "explain why a row is on a device", role: .operator, method: "GET",
      path: "/admin/1/why?package&entity&key", command: "why", audit: [.valuesShown], undo: nil),
    correction("retry an operation", "retry", "retry", undo: takeBack),
    correction("release an operation with other values", "release", "release", undo: takeBack),
    correction(
      "discard an operation", "discard", "discard",
      undo: "take back, until the device has done it; then restore, for 30 days"),
    correction("restore a discarded operation", "restore", "restore", undo: "discard it again"),
    AdminAction(
      name: "retry all of one cause", role: .operator, method: "POST", path: "/admin/1/corrections",
      verb: "retry", command: "retry --cause", audit: [.correctionMade], later: .correctionEnded,
      undo: "take back each, until its device has done it"),
    AdminAction(
      name: "discard all of one cause", role: .operator, method: "POST",
      path: "/admin/1/corrections", verb: "discard", command: "discard --cause",
      audit: [.correctionMade], later: .correctionEnded,
      undo: "take back each, until its device has done it; then restore each"),
    AdminAction(
      name: "take a decision back", role: .operator, method: "POST",
      path: "/admin/1/operations/ID/correction/CORRECTION/withdraw", command: "withdraw",
      audit: [.correctionWithdrawn], undo: "decide again"),
  ]

  private static let outcomes =
    [
      AdminAction(
        name: "show unknown outcomes", role: .operator, method: "GET", path: "/admin/1/outcomes",
        command: "outcomes", audit: [.valuesShown], undo: nil)
    ]
    + ["accepted", "refused", "again"].map { (verb: String) -> AdminAction in
      AdminAction(
        name: "decide an unknown outcome: \(verb)", role: .operator, method: "POST",
        path: "/admin/1/outcomes/ID", verb: verb, command: "decide --verb \(verb)",
        audit: [.outcomeDecided], undo: nil)
    }

  private static func device(
    _ name: String, _ verb: String, _ event: AuditLog.Event, later: AuditLog.Event? = nil,
    undo: String?
  ) -> AdminAction {
    AdminAction(
      name: name, role: .administrator, method: "POST", path: "/admin/1/devices/USER/DEVICE",
      verb: verb, command: "device --verb \(verb)", audit: [event], later: later, undo: undo)
  }

  private static let devices = [
    device("lock a device", "lock", .deviceLocked, undo: "unlock"),
    device("unlock a device", "unlock", .deviceUnlocked, undo: "lock"),
    device("sign a device out", "signOut", .sessionEnded, undo: "its user logs in again"),
    device(
      "wipe a device (password again)", "wipe", .wipeOrdered, later: .wipeReceipt,
      undo: "unlock, until the device has done it"),
    device("set the log level of a device", "logLevel", .logLevelSet, undo: "another level"),
    device("unregister a device", "unregister", .deviceRemoved, undo: "its user logs in again"),
  ]

  private static let server = [
    AdminAction(
      name: "read the logs of devices and of the server", role: .operator, method: "GET",
      path: "/admin/1/logs?source&level&component&user&device&id", command: "logs",
      audit: [.valuesShown], undo: nil),
    AdminAction(
      name: "change the keys of tokens (password again)", role: .administrator, method: "POST",
      path: "/admin/1/keys", command: "keys", audit: [.keyRotated], undo: nil),
    AdminAction(
      name: "read every row again", role: .administrator, method: "POST",
      path: "/admin/1/packages/ID/reload", command: "reload", audit: [.reloadAsked], undo: nil),
  ]
}
