import Glibc
import Synchronization
import Testing

/// A server that does to each connection exactly what the test says, good or bad.
final class ScriptedServer: Sendable {
  let port: Int
  private let listener: CInt
  private let accepted = Mutex(0)
  private let script: @Sendable (Line) -> Void

  /// One connection, with blocking reads and writes that give up when the patience ends.
  struct Line: Sendable {
    let socket: CInt
    /// Counted from 1.
    let number: Int

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
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

    /// A head, or what came of it.
    func receiveHead() -> String {
      var text: [UInt8] = []
      var byte: UInt8 = 0
      while recv(socket, &byte, 1, 0) == 1 {
        text.append(byte)
        if text.suffix(4) == [13, 10, 13, 10] { break }
      }
      return String(decoding: text, as: UTF8.self)
    }

    func receive(_ count: Int) -> Int {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      var left = count
      while left > 0 {
        let got = recv(socket, &buffer, min(left, buffer.count), 0)
        if got <= 0 { break }
        left -= got
      }
      return count - left
    }

    /// A line up to its end.
    func receiveLine() -> String {
      var text: [UInt8] = []
      var byte: UInt8 = 0
      while recv(socket, &byte, 1, 0) == 1, byte != 10 { if byte != 13 { text.append(byte) } }
      return String(decoding: text, as: UTF8.self)
    }

    /// Reads nothing until the other end is gone (POLLRDHUP, which Swift does not see).
    func waitForSilence() -> Bool {
      var state = pollfd(fd: socket, events: 0x2000, revents: 0)
      return poll(&state, 1, CInt(Patience.limit.components.seconds) * 1000) == 1
    }

    /// Carries bytes to and from a port of this machine until either end closes.
    func join(port: Int) {
      let other = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      defer { Glibc.close(other) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
      let status = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(other, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard status == 0 else { return }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        var ends = [
          pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
          pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&ends, 2, CInt(Patience.limit.components.seconds) * 1000) > 0 else { return }
        for (from, to) in [(0, other), (1, socket)] where ends[from].revents != 0 {
          let count = recv(ends[from].fd, &buffer, buffer.count, 0)
          guard count > 0 else { return }
          _ = Glibc.send(to, buffer, count, CInt(MSG_NOSIGNAL))
        }
      }
    }

    /// Waits until the other end closes.
    func waitForEnd() -> Bool {
      var byte: UInt8 = 0
      return recv(socket, &byte, 1, 0) <= 0 && errno != EAGAIN
    }
  }

  init(_ script: @escaping @Sendable (Line) -> Void) {
    self.script = script
    listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    let own = listener
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(own, $0, length)
        _ = listen(own, 512)
        _ = getsockname(own, $0, &length)
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    Self.begin { self.accept() }
  }

  var url: String { "http://127.0.0.1:\(port)/" }
  var connections: Int { accepted.withLock { $0 } }

  /// No further connections; the accepting thread ends.
  func close() { shutdown(listener, CInt(SHUT_RDWR)) }

  private func accept() {
    while true {
      let socket = Glibc.accept(listener, nil, nil)
      if socket < 0 { break }
      var limit = timeval(tv_sec: Int(Patience.limit.components.seconds), tv_usec: 0)
      let size = socklen_t(MemoryLayout<timeval>.size)
      setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
      setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
      let number = accepted.withLock { count in
        count += 1
        return count
      }
      Self.begin {
        self.script(Line(socket: socket, number: number))
        Glibc.close(socket)
      }
    }
    Glibc.close(listener)
  }

  private final class Work {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  private static func begin(_ run: @escaping () -> Void) {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(Work(run)).toOpaque())
    pthread_detach(thread)
  }
}
