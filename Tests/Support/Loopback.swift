import Glibc

/// Sockets of this machine, as tests use them.
package enum Loopback {
  /// The address of a port; 0 lets the system choose one.
  package static func address(_ port: Int, host: String = "127.0.0.1") -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    return address
  }

  /// Calls `connect` or `bind` with an address; false if it fails.
  package static func call(
    _ function: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ socket: CInt,
    _ address: sockaddr_in
  ) -> Bool {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// The port that a socket is bound to.
  package static func port(of socket: CInt) -> Int {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(socket, $0, &length)
      }
    }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// A port that was free a moment ago; nil where none is.
  package static func freePort() -> Int? {
    let handle = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(handle) }
    guard call(bind, handle, address(0)) else { return nil }
    return port(of: handle)
  }

  /// Reads and writes of a socket give up when the patience ends.
  package static func limitWaits(of socket: CInt) {
    var limit = timeval(tv_sec: Int(Patience.limit.components.seconds), tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
  }

  /// Sends all bytes; false if the other end has closed.
  package static func send(_ bytes: [UInt8], to socket: CInt) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }
}
