import FerryJSON
public import FerryWorld

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Who logged in and what was refused, one JSON object in a line, at the end of a file.
///
/// Nothing is ever changed or removed. The file belongs to its owner alone (0600) and is opened for
/// each line, so that the operator may move it away at any time; the next line makes a new one. A
/// line that cannot be written is told in the server's log, and the request goes on. Any thread.
public struct AuditLog: Sendable {
  /// What happened; the name stands in the line under `event`.
  public enum Event: String, Sendable {
    case login, loginRefused, sessionRefused, operationRefused
    /// A user logged in on a device that had no session of theirs; a key file was made.
    case deviceAdded, keyMade, keyRotated
    /// Sessions ended before their time; a device lost its sessions to newer ones of its user.
    case sessionEnded, deviceRemoved
    /// What an operator decided about a device, and what the device answered.
    case deviceLocked, deviceUnlocked, wipeOrdered, wipeReceipt, wipeRefused, templateAssigned
    case activationMade
    /// What a device did by itself.
    case loggedOut, deviceUnregistered
    /// An operator deployed a package, or withdrew one.
    case packageDeployed, packageWithdrawn
    case userAdded, userChanged, passwordChanged, userLoggedOut, userRemoved
  }

  private let path: String
  private let world: World

  /// `path`: the file; it is made with the first line.
  public init(path: String, world: World) {
    self.path = path
    self.world = world
  }

  /// Where the file is, and what else the server writes down for its operator.
  var folder: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

  /// Appends a line. Texts are cut at 64 characters.
  public func note(
    _ event: Event, user: String? = nil, device: String? = nil, address: String? = nil,
    reason: String? = nil
  ) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("time", world.clock.now.milliseconds)
    writer.field("event", event.rawValue)
    for (name, value) in [
      ("user", user), ("device", device), ("address", address), ("reason", reason),
    ] {
      guard let value, !value.isEmpty else { continue }
      writer.field(name, AuditLog.short(value))
    }
    writer.endObject()
    let line = writer.bytes + [10]
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return complain() }
    defer { close(descriptor) }
    // One write: lines of several threads do not mix.
    if write(descriptor, line, line.count) != line.count { complain() }
  }

  private func complain() {
    world.log.error(
      "the audit log cannot be written", ("file", path),
      ("reason", String(cString: strerror(errno))))
  }

  /// What strangers send is cut: one request must not fill a disk.
  static func short(_ text: String) -> String {
    text.utf8.count <= 64 ? text : String(text.unicodeScalars.prefix(64).map(Character.init)) + "…"
  }
}
