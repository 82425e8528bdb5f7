import Foundation
import Glibc
import Synchronization

/// Clients that never end a request: half of them send a head, half a body, one byte a second each.
/// Whoever is cut connects again.
final class DripFeeders: Sendable {
  private let isStopped = Mutex(false)
  private let counts = Mutex((connected: 0, cut: 0))

  var connected: Int { counts.withLock { $0.connected } }
  /// Connections that the server has ended.
  var cut: Int { counts.withLock { $0.cut } }

  init(_ count: Int, port: Int) {
    Thread.detachNewThread { [self] in
      var sockets = [Int32](repeating: -1, count: count)
      while !isStopped.withLock({ $0 }) {
        let next = ContinuousClock.now + .seconds(1)
        for index in sockets.indices { feed(&sockets[index], index, port) }
        counts.withLock { $0.connected = sockets.filter { $0 >= 0 }.count }
        while ContinuousClock.now < next, !isStopped.withLock({ $0 }) { usleep(10_000) }
      }
      for descriptor in sockets where descriptor >= 0 { close(descriptor) }
    }
  }

  deinit { stop() }

  func stop() { isStopped.withLock { $0 = true } }

  private func feed(_ descriptor: inout Int32, _ index: Int, _ port: Int) {
    if descriptor < 0 {
      descriptor = RoughNetwork.connect(port)
      guard descriptor >= 0 else { return }
      let start =
        index % 2 == 0
        ? "GET /health HTTP/1.1\r\nX-Slow: "
        : "POST /ferry/1/login HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n{"
      _ = send(descriptor, start, start.utf8.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      return
    }
    var byte: UInt8 = 0
    let heard = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
    let sent = send(descriptor, "a", 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    if heard == 0 || heard == 1 || (sent < 0 && errno != EAGAIN) {
      close(descriptor)
      descriptor = -1
      counts.withLock { $0.cut += 1 }
    }
  }
}

/// Durations, sorted.
struct Quantiles {
  private let sorted: [Duration]

  init(_ durations: [Duration]) { sorted = durations.sorted() }

  func at(_ share: Double) -> Duration {
    sorted.isEmpty ? .zero : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }

  var text: String {
    let milliseconds = [0.5, 0.99].map { String(format: "%.1f", at($0) / .milliseconds(1)) }
    return "p50 \(milliseconds[0]) ms, p99 \(milliseconds[1]) ms of \(sorted.count)"
  }
}
