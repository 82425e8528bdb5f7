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
      CommandOption("user", "<user>", "whose devices; with list: only theirs"),
      CommandOption("device", "<id>", "the device; its first letters are enough"),
      CommandOption("reason", "<text>", "what the user of the device is told"),
      CommandOption("template", "<name>", "with activate and template: the connection template"),
      CommandOption(
        "with-pending", nil, "with wipe: also destroy changes that were not sent"),
      .json,
    ]
  static let discussion = """
    list and show tell user, model, versions, when the device was here last, and whether changes
    were pending there then: at least so many.
    activate makes an activation code for a user: with it one device logs in without a password,
    within 72 hours. clone does so with the template of another device. template registers a device
    by another connection template; its settings travel at once.
    lock ends the sessions of a device: its requests are refused with the reason, what is pending
    stays on it, and unlock lets it go on. wipe orders the device to destroy its data when it comes
    next; it keeps its data where changes are pending, unless --with-pending is given. unlock takes
    the order back until the receipt is here. forget takes the device out of the register and ends
    its sessions.
    A device that was not here for long leaves the register by itself: leavesInDays tells when.
    A device that never connects again is not reached by any of them.

    Example: ferry device wipe --data data --user nancy --device 3fa9 --reason "lost in Oslo"
    Exit codes: 0 done; 1 it could not be done; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let names = verbs.joined(separator: ", ")
    let verb = try arguments.operands(names)[0]
    guard verbs.contains(verb) else {
      throw UsageError("\"\(verb)\" is unknown", hint: "Write one of \(names).")
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
      throw UsageError("--device is missing", hint: "`ferry device list` shows all.")
    }
    guard all.count == 1, let device = all.first else {
      throw OperatorError(
        all.isEmpty ? "there is no such device" : "\(all.count) devices fit",
        hint: all.isEmpty ? "`ferry device list` shows all." : "Write more of it, or --user.")
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
      print(done(verb, device))
    }
    return .success
  }

  private static func activate(
    _ door: OperatorDoor, user: String, template: String?, _ arguments: Arguments
  ) async throws {
    let made = try await door.activation(user: user, template: template)
    guard !arguments.flag("json") else { return print(text(made)) }
    let code = Terminal.harmless(made["code"]?.string ?? "")
    print("\(code)  for \(user), on one device, until \(value(made["expires"], isTime: true))")
  }

  private static func done(_ verb: String, _ device: JSONNode) -> String {
    let name = "\(device["user"]?.string ?? "") \(device["device"]?.string ?? "")"
    switch verb {
    case "lock": return "\(name) is locked. What is pending stays on it."
    case "template": return "\(name) has another template. Its settings come with its next request."
    case "unlock": return "\(name) may go on."
    case "wipe": return "\(name) destroys its data when it comes next. `ferry device show` tells."
    default: return "\(name) is forgotten. It has to log in again."
    }
  }

  private static func show(_ devices: [JSONNode], asJSON: Bool, isLong: Bool) {
    if asJSON {
      print("[\(devices.map(text).joined(separator: ","))]")
      return
    }
    let names = isLong ? long : short
    for device in devices {
      let fields = names.map { name in
        "\(name) \(value(device[name], isTime: name.hasSuffix("Seen")))"
      }
      print(fields.joined(separator: isLong ? "\n" : "  "))
    }
    if devices.isEmpty { print("No device was here yet.") }
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
