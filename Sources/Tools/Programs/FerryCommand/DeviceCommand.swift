import FerryArguments
import FerryJSON
import Foundation

/// `ferry device`: what an operator sees of devices, and does with them.
enum DeviceCommand: Subcommand {
  static let name = "device"
  static let summary = "register, list, lock, unlock, wipe and forget devices of a running server"
  static let verbs = [
    "list", "show", "activate", "clone", "template", "lock", "unlock", "wipe", "forget",
  ]
  static let operands = "\(verbs.joined(separator: "|")) --data <folder> [options]"
  static let options =
    OperatorDoor.options + [
      CommandOption(
        "user", "<user>", "the user of the device; with list: show only this user's devices"),
      CommandOption("device", "<id>", "the device; its first letters are enough"),
      CommandOption("reason", "<text>", "the reason that is shown to the user of the device"),
      CommandOption("template", "<name>", "with activate and template: the connection template"),
      CommandOption(
        "with-pending", nil, "with wipe: also destroy changes that were not sent"),
      .json,
    ]
  static let discussion = """
    list and show print user, model, versions, when the device last connected, and how many changes
    were pending on it then (at least).
    activate makes an activation code for a user. One device can log in with it instead of a
    password, within 72 hours. clone does the same and uses the template of another device. template
    gives a device another connection template; the device receives its settings at once.
    lock ends the sessions of a device and refuses its requests, with the reason. Its pending changes
    stay on it. unlock ends the lock. wipe orders the device to destroy its data when it next
    connects. The device keeps its data while it has pending changes, unless --with-pending is given.
    unlock cancels the order until the device has confirmed it. forget removes the device from the
    register and ends its sessions.
    The server removes a device that has not connected for a long time; show prints the days until
    then as leavesInDays. No command reaches a device that never connects again.

    Example: ferry device wipe --data data --user nancy --device 3fa9 --reason "lost in Oslo"
    Exit codes: 0 done; 1 it could not be done; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let names = verbs.joined(separator: ", ")
    let verb = try arguments.operands(names)[0]
    guard verbs.contains(verb) else {
      throw UsageError("the verb \"\(verb)\" is unknown", hint: "Write one of \(names).")
    }
    let door = try OperatorDoor(arguments)
    let user = try arguments.value("user")
    if verb == "activate" {
      try await activate(
        door, user: try arguments.required("user", "nancy"),
        template: try arguments.value("template"), arguments)
      return .success
    }
    let part = try arguments.value("device")
    let all = try await door.devices().filter { device in
      (user.map { device["user"]?.string == $0 } ?? true)
        && (part.map { device["device"]?.string?.hasPrefix($0) ?? false } ?? true)
    }
    guard verb != "list" else {
      show(all, asJSON: arguments.flag("json"), isLong: false)
      return .success
    }
    guard part != nil else {
      throw UsageError(
        "--device is missing", hint: "Write --device <id>; `ferry device list` shows all ids.")
    }
    guard all.count == 1, let device = all.first else {
      throw CommandError(
        (all.isEmpty ? "no device has" : "\(all.count) devices have")
          + " an id that begins with \"\(part ?? "")\"" + (user.map { " (user \($0))" } ?? ""),
        hint: all.isEmpty
          ? "`ferry device list` shows all ids." : "Write more of the id, or add --user.")
    }
    guard verb != "show" else {
      show([device], asJSON: arguments.flag("json"), isLong: true)
      return .success
    }
    if verb == "clone" {
      try await activate(
        door, user: device["user"]?.string ?? "", template: device["template"]?.string, arguments)
      return .success
    }
    let template =
      verb == "template" ? try arguments.required("template", "field") : nil
    let decided = try await door.decide(
      verb, device, reason: try arguments.value("reason") ?? "",
      withPending: arguments.flag("with-pending"), template: template)
    if arguments.flag("json") {
      show(decided, asJSON: true, isLong: false)
    } else {
      Terminal.show(done(verb, device))
    }
    return .success
  }

  private static func activate(
    _ door: OperatorDoor, user: String, template: String?, _ arguments: Arguments
  ) async throws {
    let made = try await door.activation(user: user, template: template)
    guard !arguments.flag("json") else { return Terminal.show(text(made), asJSON: true) }
    let code = Terminal.harmless(made["code"]?.string ?? "")
    Terminal.show(
      "\(code)  for \(user), on one device, until \(value(made["expires"], isTime: true))")
  }

  private static func done(_ verb: String, _ device: JSONNode) -> String {
    let name = Terminal.harmless(
      "\(device["user"]?.string ?? "") \(device["device"]?.string ?? "")")
    switch verb {
    case "lock": return "\(name) is locked. Its pending changes stay on it."
    case "template":
      return "\(name) has the new template. It gets the settings with its next request."
    case "unlock": return "\(name) is unlocked."
    case "wipe":
      return "\(name) destroys its data when it next connects; `ferry device show` has its state."
    default: return "\(name) was removed from the register. It has to log in again."
    }
  }

  private static func show(_ devices: [JSONNode], asJSON: Bool, isLong: Bool) {
    if asJSON {
      Terminal.show("[\(devices.map(text).joined(separator: ","))]", asJSON: true)
      return
    }
    let names = isLong ? long : short
    for device in devices {
      let fields = names.map { name in
        "\(name) \(value(device[name], isTime: name.hasSuffix("Seen")))"
      }
      Terminal.show(fields.joined(separator: isLong ? "\n" : "  "))
    }
    if devices.isEmpty { Terminal.show("No device was found.") }
  }

  private static let short = [
    "user", "device", "state", "model", "lastSeen", "pending", "template",
  ]
  private static let long =
    short + [
      "reason", "hardware", "system", "library", "firstSeen", "subscription", "parameters",
      "leavesInDays", "cursors",
    ]

  private static func value(_ node: JSONNode?, isTime: Bool) -> String {
    guard let node else { return "unknown" }
    if isTime, let milliseconds = node.integer {
      return Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
    }
    // What a device says of itself must not reach a terminal as it is.
    return Terminal.harmless(node.string ?? text(node))
  }

  private static func text(_ node: JSONNode) -> String { JSONText.of(node) }
}
