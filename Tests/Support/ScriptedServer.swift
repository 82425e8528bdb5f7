import Glibc
import Synchronization

/// A server that does to each connection exactly what the test says, good or bad.
package final class ScriptedServer: Sendable {
  package let port: Int
  private let listener: CInt
  private let accepted = Mutex(0)
  private let script: @Sendable (Line) -> Void

  /// One connection, with blocking reads and writes that give up when the patience ends.
  package struct Line: Sendable {
    package let socket: CInt
    /// Counted from 1.
    package let number: Int

    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool { Loopback.send(bytes, to: socket) }

    /// A head, or what came of it.
    package func receiveHead() -> String {
      var text: [UInt8] = []
      var byte: UInt8 = 0
      while recv(socket, &byte, 1, 0) == 1 {
        text.append(byte)
        if text.suffix(4) == [13, 10, 13, 10] { break }
      }
      return String(decoding: text, as: UTF8.self)
    }

    package func receive(_ count: Int) -> Int {
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
    package func receiveLine() -> String {
      var text: [UInt8] = []
      var byte: UInt8 = 0
      while recv(socket, &byte, 1, 0) == 1, byte != 10 { if byte != 13 { text.append(byte) } }
      return String(decoding: text, as: UTF8.self)
    }

    /// Reads nothing until the other end is gone (POLLRDHUP, which Swift does not see).
    package func waitForSilence() -> Bool {
      var state = pollfd(fd: socket, events: 0x2000, revents: 0)
      return poll(&state, 1, CInt(Patience.limit.components.seconds) * 1000) == 1
    }

    /// Carries bytes to and from a port of this machine until either end closes.
    package func join(port: Int) {
      let other = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      defer { Glibc.close(other) }
      guard Loopback.call(connect, other, Loopback.address(port)) else { return }
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
    package func waitForEnd() -> Bool {
      var byte: UInt8 = 0
      return recv(socket, &byte, 1, 0) <= 0 && errno != EAGAIN
    }
  }

  package init(_ script: @escaping @Sendable (Line) -> Void) {
    self.script = script
    listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    _ = Loopback.call(bind, listener, Loopback.address(0))
    _ = listen(listener, 512)
    port = Loopback.port(of: listener)
    Self.begin { self.accept() }
  }

  package var url: String { "http://127.0.0.1:\(port)/" }
  package var connections: Int { accepted.withLock { $0 } }

  /// No further connections; the accepting thread ends.
  package func close() { shutdown(listener, CInt(SHUT_RDWR)) }

  private func accept() {
    while true {
      let socket = Glibc.accept(listener, nil, nil)
      if socket < 0 { break }
      Loopback.limitWaits(of: socket)
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
