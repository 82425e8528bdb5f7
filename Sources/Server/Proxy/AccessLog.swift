import FerryJSON
import FerryWorld
import Glibc
import Synchronization

/// One line of JSON for each request at the door. No query, no header and no password is in it.
package final class AccessLog: Sendable {
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

  private let path: String
  private let file: Mutex<CInt>
  private let world: World
  /// Reported once: a full disk must not fill the log as well.
  private let hasFailed = Mutex(false)

  /// Appends to the file, which only its owner can read. Throws where it cannot be opened.
  package init(path: String, world: World) throws(GatewayError) {
    self.path = path
    file = Mutex(try AccessLog.open(path))
    self.world = world
  }

  private static func open(_ path: String) throws(GatewayError) -> CInt {
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw GatewayError(
        "the access log \(path) cannot be written: \(String(cString: strerror(errno)))",
        hint: "Check the folder and its rights.")
    }
    return descriptor
  }

  /// Goes on in a new file of the same name, as the one of before was moved away. Any thread. Throws
  /// where there can be none: then the lines go on into the file of before.
  package func reopen() throws(GatewayError) {
    let descriptor = try AccessLog.open(path)
    let before = file.withLock { file in
      defer { file = descriptor }
      return file
    }
    close(before)
    hasFailed.withLock { $0 = false }
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
