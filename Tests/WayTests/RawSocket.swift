import Glibc

/// A connection that says what no honest client says.
final class RawSocket {
  private let descriptor: Int32

  /// `receiveBytes`: how much the system takes in before the connection reads; nil for its own size.
  init(port: Int, receiveBytes: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var receiveBytes {
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBytes, socklen_t(MemoryLayout<Int32>.size))
    }
    var limit = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let descriptor = self.descriptor
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { throw WayFailure("port \(port) cannot be reached") }
  }

  deinit { close(descriptor) }

  /// False once the other side takes no more.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// Whether something waits to be read.
  var hasAnswer: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
  }

  /// All until the other side closes; at most 64 KB.
  func answer(untilEnd: Bool = true) -> String {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while all.count < 65_536 {
      let count = recv(descriptor, &piece, piece.count, 0)
      guard count > 0 else { break }
      all += piece.prefix(count)
      if !untilEnd { break }
    }
    return String(decoding: all, as: UTF8.self)
  }
}
