import FerryJSON
import FerryModel
import FerryWorld
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Who logged in and what was refused, one JSON object in a line, at the end of a file.
///
/// The file belongs to its owner alone (0600) and is opened for each line, so that the operator may
/// move it away at any time; the next line makes a new one. It is cut by size and age, and the lines
/// of operators stay (`AuditFiles`). A line that cannot be written is told in the server's log, and
/// the request goes on. Any thread.
package struct AuditLog: Sendable {
  /// What happened; the name stands in the line under `event`.
  package enum Event: String, Sendable {
    case login, loginRefused, sessionRefused, operationRefused
    /// A user logged in on a device that had no session of theirs; a key file was made.
    case deviceAdded, keyMade, keyRotated
    /// Sessions ended before their time; a device lost its sessions to newer ones of its user.
    case sessionEnded, deviceRemoved
    /// A refresh token was presented once more.
    case tokenRepeated
    /// What an operator decided about a device, and what the device answered.
    case deviceLocked, deviceUnlocked, wipeOrdered, wipeReceipt, wipeRefused, templateAssigned
    case logLevelSet
    case activationMade
    /// An operator decided about an operation whose outcome nobody knew.
    case outcomeDecided
    case cacheOperated
    /// What an operator did in the control center.
    case operatorLogin, operatorLoginRefused, operatorLogout, valuesShown
    case correctionMade, correctionWithdrawn, reloadAsked
    /// What a device did with a correction.
    case correctionEnded
    /// What a device did by itself.
    case loggedOut, connectionRegistered, deviceUnregistered
    /// An operator deployed a package, or withdrew one.
    case packageDeployed, packageWithdrawn
    case userAdded, userChanged, passwordChanged, userLoggedOut, userRemoved

    /// Whether an operator caused it: such lines are kept for ever.
    var isOfOperator: Bool {
      switch self {
      case .login, .loginRefused, .sessionRefused, .operationRefused, .deviceAdded, .sessionEnded,
        .deviceRemoved, .tokenRepeated, .loggedOut, .connectionRegistered, .deviceUnregistered,
        .operatorLoginRefused:
        false
      case .keyMade, .keyRotated, .deviceLocked, .deviceUnlocked, .wipeOrdered, .wipeReceipt,
        .wipeRefused, .templateAssigned, .logLevelSet, .activationMade, .outcomeDecided,
        .cacheOperated,
        .packageDeployed, .packageWithdrawn, .operatorLogin, .operatorLogout, .valuesShown,
        .correctionMade, .correctionWithdrawn, .correctionEnded, .reloadAsked,
        .userAdded, .userChanged, .passwordChanged, .userLoggedOut, .userRemoved:
        true
      }
    }
  }

  /// What its copies share.
  private final class Shared: Sendable {
    let files: Mutex<AuditFiles>
    let strangers: StrangerTally

    init(_ files: AuditFiles, _ clock: any WorldClock) {
      self.files = Mutex(files)
      strangers = StrangerTally(clock: clock)
    }
  }

  private let path: String
  private let world: World
  private let shared: Shared

  /// `path`: the file; it is made with the first line.
  package init(path: String, world: World) { self.init(AuditFiles(path: path), world: world) }

  init(_ files: AuditFiles, world: World) {
    path = files.path
    self.world = world
    shared = Shared(files, world.clock)
  }

  /// Where the file is, and what else the server writes down for its operator.
  var folder: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

  /// The lines of the file that is written, the newest first.
  package func newestLines() -> [[UInt8]] {
    (Folder.read(path) ?? []).split(separator: 10).reversed().map { Array($0) }
  }

  /// Appends a line. Texts are cut at 64 characters.
  package func note(
    _ event: Event, user: String? = nil, device: String? = nil, address: String? = nil,
    reason: String? = nil
  ) {
    write(event, user: user, device: device, address: address, reason: reason)
  }

  /// The same of what an operator did in the control center. The reason may have 500 characters.
  package func note(
    _ event: Event, by name: String, user: String? = nil, device: String? = nil,
    operation: String? = nil, address: String? = nil, reason: String? = nil
  ) {
    write(
      event, user: user, device: device, address: address,
      more: [("by", name), ("operation", operation)], words: reason)
  }

  /// The same of what anybody can cause: the first of an address in a minute has a line here and one
  /// in the server's log, those that follow have one together.
  package func noteStranger(
    _ event: Event?, user: String? = nil, device: String? = nil, address: String, what: String,
    reason: ServerError
  ) {
    let (isTold, past) = shared.strangers.note(event, what, from: address)
    tell(past)
    guard isTold else { return }
    if let event {
      write(event, user: user, device: device, address: address, reason: reason.code.rawValue)
    }
    world.log.warn(
      what, ("user", AuditLog.short(user ?? "")), ("device", AuditLog.short(device ?? "")),
      ("address", AuditLog.short(address)), ("reason", reason.message))
  }

  /// Writes how many refusals of strangers had no line of their own, once their minute is over. Call
  /// it each second, and at the end.
  func tellStrangers(isEnd: Bool = false) { tell(shared.strangers.past(isEnd: isEnd)) }

  private func tell(_ lines: [StrangerTally.Line]) {
    for line in lines {
      if let event = line.event {
        write(event, address: line.network ?? "many", reason: line.what, count: line.count)
      }
      world.log.warn(
        "\(line.what), more in the same minute", ("address", line.network ?? "many"),
        ("count", String(line.count)))
    }
  }

  private func write(
    _ event: Event, user: String? = nil, device: String? = nil, address: String? = nil,
    reason: String? = nil, more: [(String, String?)] = [], words: String? = nil,
    count: Int? = nil
  ) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("time", world.clock.now.milliseconds)
    writer.field("event", event.rawValue)
    for (name, value) in [
      ("user", user), ("device", device), ("address", address), ("reason", reason),
    ] + more {
      guard let value, !value.isEmpty else { continue }
      writer.field(name, AuditLog.short(value))
    }
    if let words, !words.isEmpty { writer.field("reason", String(words.prefix(500))) }
    if let count { writer.field("count", count) }
    writer.endObject()
    let line = writer.bytes + [10]
    let now = world.clock.now.milliseconds
    if !shared.files.withLock({ $0.append(line, now: now) }) { complain() }
  }

  private func complain() {
    world.log.error(
      "the audit log cannot be written", ("file", path),
      ("reason", String(cString: strerror(errno))))
  }

  /// What strangers send is cut: one request must not fill a disk.
  package static func short(_ text: String) -> String {
    text.utf8.count <= 64 ? text : String(text.unicodeScalars.prefix(64).map(Character.init)) + "…"
  }
}
