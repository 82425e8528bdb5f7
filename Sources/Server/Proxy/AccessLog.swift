import FerryJSON
import FerryWorld
import Glibc
import Synchronization

/// One line of JSON for each request at the door. No query, no header and no password is in it.
public final class AccessLog: Sendable {
  /// What is known of a request at its end.
  struct Entry {
    var id = ""
    var peer: String?
    var user: String?
    var service: String?
    var method = ""
    var path = ""
    var status = 0
    var sentBytes = 0
    var receivedBytes = 0
    var begun: Duration = .zero
    /// Until the head of the service's answer.
    var head: Duration?
    var fault: String?
  }

  private let file: Mutex<CInt>
  private let world: World
  /// Reported once: a full disk must not fill the log as well.
  private let hasFailed = Mutex(false)

  /// Appends to the file, which only its owner can read. Throws where it cannot be opened.
  public init(path: String, world: World) throws(GatewayError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw GatewayError(
        "the access log \(path) cannot be written: \(String(cString: strerror(errno)))",
        hint: "Check the folder and its rights.")
    }
    file = Mutex(descriptor)
    self.world = world
  }

  deinit { file.withLock { _ = close($0) } }

  func write(_ entry: Entry) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("time")
    writer.integer(world.clock.now.milliseconds)
    writer.key("id")
    writer.string(entry.id)
    for (name, text) in [
      ("peer", entry.peer), ("user", entry.user), ("service", entry.service),
      ("fault", entry.fault),
    ] {
      guard let text else { continue }
      writer.key(name)
      writer.string(text)
    }
    writer.key("method")
    writer.string(entry.method)
    writer.key("path")
    writer.string(entry.path)
    writer.key("status")
    writer.integer(entry.status)
    writer.key("receivedBytes")
    writer.integer(entry.receivedBytes)
    writer.key("sentBytes")
    writer.integer(entry.sentBytes)
    if let head = entry.head {
      writer.key("headMilliseconds")
      writer.integer(AccessLog.milliseconds(head))
    }
    writer.key("milliseconds")
    writer.integer(AccessLog.milliseconds(world.clock.uptime - entry.begun))
    writer.endObject()
    let line = writer.bytes + [10]
    // One write: lines do not mix.
    let isWritten = file.withLock { Glibc.write($0, line, line.count) } == line.count
    guard !isWritten,
      !hasFailed.withLock({ failed in
        defer { failed = true }; return failed
      })
    else { return }
    world.log.error("the access log cannot be written")
  }

  private static func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}
