import Glibc

/// What the service manager learns of this process, by the socket that `NOTIFY_SOCKET` names
/// (sd_notify(3)). Without that variable nothing is sent. A message that cannot be sent is dropped: the
/// manager then waits for its own limit.
enum Supervisor {
  static func ready() { send("READY=1\nSTATUS=Serving devices") }
  static func stopping() { send("STOPPING=1") }

  private static func send(_ text: String) {
    guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }) else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    guard let first = bytes.first, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      return
    }
    // A name without a file begins with a zero byte.
    if first == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let size = MemoryLayout<sa_family_t>.size + bytes.count
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let message = Array(text.utf8)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, message, message.count, CInt(MSG_NOSIGNAL), $0, socklen_t(size))
      }
    }
  }
}
