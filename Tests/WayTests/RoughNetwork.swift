import FerryFlights
import Foundation
import Glibc
import Synchronization

/// A network between devices and a server that does to bytes what networks do: it cuts, delays,
/// doubles and throttles them, turns connections away, and falls silent without a word.
///
/// Two threads a connection; the weather may change at any time.
final class RoughNetwork: Sendable {
  struct Weather: Sendable {
    /// Before each piece of at most 1,460 bytes, up to this long.
    var delayMilliseconds = 0
    var bytesPerSecond: Int?
    /// Of a thousand pieces, so many end their connection in the middle.
    var cuts = 0
    /// Of a thousand pieces, so many come twice.
    var doubles = 0
    /// Of a hundred connections, so many are closed as soon as they are made.
    var turnedAway = 0
    /// Of a hundred pieces, so many come 200 ms late, as after a lost packet.
    var stalls = 0
    /// Connections are taken, and nothing is ever heard of them.
    var isHalfOpen = false

    static let calm = Weather()
  }

  private struct State {
    var weather: Weather
    var dice: Dice
    var sockets: Set<Int32> = []
    /// Connections whose other end has vanished.
    var vanished: Set<Int32> = []
    var isStopped = false
    /// What clients, and the server, may still send; nil is any.
    var upBytes: Int?
    var downBytes: Int?
    var counts = Counts()
  }

  struct Counts: Sendable {
    var connections = 0
    var turnedAway = 0
    var cuts = 0
    var doubles = 0
    var stalls = 0
  }

  let port: Int
  private let listener: Int32
  private let target: Int
  private let state: Mutex<State>

  init(before daemon: Daemon, _ weather: Weather = .calm, seed: UInt64 = 1) throws {
    target = daemon.port
    state = Mutex(State(weather: weather, dice: Dice(state: seed)))
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    port = try RoughNetwork.bind(listener)
    Thread.detachNewThread { [weak self, listener] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        guard let self else {
          close(client)
          return
        }
        self.take(client)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    state.withLock { state in
      state.isStopped = true
      for descriptor in state.sockets { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  var address: String { "http://127.0.0.1:\(port)" }
  var counts: Counts { state.withLock { $0.counts } }

  func set(_ weather: Weather) { state.withLock { $0.weather = weather } }

  /// From now on so many bytes pass up or down, and no more; nil lets all pass. So a test drives a
  /// transfer on as far as it wants, however slow it is itself.
  func allow(up bytes: Int?) { state.withLock { $0.upBytes = bytes } }
  func allow(down bytes: Int?) { state.withLock { $0.downBytes = bytes } }

  /// Every connection that is open falls silent for ever, and neither end is told.
  func vanish() { state.withLock { $0.vanished.formUnion($0.sockets) } }

  private func take(_ client: Int32) {
    let (weather, isTurnedAway) = state.withLock { state in
      state.counts.connections += 1
      let isTurnedAway = state.dice.below(100) < state.weather.turnedAway
      if isTurnedAway { state.counts.turnedAway += 1 }
      return (state.weather, isTurnedAway)
    }
    guard !isTurnedAway else {
      close(client)
      return
    }
    let server = RoughNetwork.connect(target)
    guard server >= 0 else {
      close(client)
      return
    }
    state.withLock { state in
      state.sockets.formUnion([client, server])
      if weather.isHalfOpen { state.vanished.formUnion([client, server]) }
    }
    let left = Mutex(2)
    let shared = Shared(left)
    for (from, to) in [(client, server), (server, client)] {
      Thread.detachNewThread { [weak self] in
        while let network = self, network.passOn(from, to, isUp: from == client) {}
        shutdown(from, Int32(SHUT_RDWR))
        shutdown(to, Int32(SHUT_RDWR))
        guard shared.isLast else { return }
        self?.state.withLock { $0.sockets.subtract([client, server]) }
        close(client)
        close(server)
      }
    }
  }

  /// Counts the two threads of a connection down.
  private final class Shared: Sendable {
    private let left: Mutex<Int>

    init(_ left: consuming Mutex<Int>) { self.left = left }

    var isLast: Bool {
      left.withLock { left in
        left -= 1
        return left == 0
      }
    }
  }

  /// One piece; false at the end of the connection.
  private func passOn(_ from: Int32, _ to: Int32, isUp: Bool) -> Bool {
    var ready = pollfd(fd: from, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&ready, 1, 100) >= 0 else { return errno == EINTR }
    let (isSilent, isStopped) = state.withLock { ($0.vanished.contains(from), $0.isStopped) }
    if isStopped { return false }
    if isSilent {
      // What comes is neither passed on nor answered, an end neither.
      usleep(50_000)
      return true
    }
    guard ready.revents != 0 else { return true }
    var piece = [UInt8](repeating: 0, count: 1_460)
    let allowed = state.withLock { state -> Int in
      let allowed = min(piece.count, (isUp ? state.upBytes : state.downBytes) ?? piece.count)
      if isUp { state.upBytes? -= allowed } else { state.downBytes? -= allowed }
      return allowed
    }
    guard allowed > 0 else {
      usleep(2_000)
      return true
    }
    let count = recv(from, &piece, allowed, 0)
    guard count > 0 else { return false }
    let fate = state.withLock { state in
      // What was allowed and did not come may come later.
      if isUp { state.upBytes? += allowed - count } else { state.downBytes? += allowed - count }
      return decide(&state, count)
    }
    if fate.wait > 0 { usleep(UInt32(fate.wait)) }
    guard RoughNetwork.send(Array(piece.prefix(fate.isCut ? count / 2 : count)), to) else {
      return false
    }
    if fate.isDoubled { return RoughNetwork.send(Array(piece.prefix(count)), to) }
    return !fate.isCut
  }

  private func decide(
    _ state: inout State, _ count: Int
  ) -> (wait: Int, isCut: Bool, isDoubled: Bool) {
    let weather = state.weather
    var wait =
      weather.delayMilliseconds > 0 ? state.dice.below(weather.delayMilliseconds * 1_000) : 0
    if let speed = weather.bytesPerSecond { wait += count * 1_000_000 / speed }
    if state.dice.below(100) < weather.stalls {
      wait += 200_000
      state.counts.stalls += 1
    }
    let isCut = state.dice.below(1_000) < weather.cuts
    let isDoubled = !isCut && state.dice.below(1_000) < weather.doubles
    if isCut { state.counts.cuts += 1 }
    if isDoubled { state.counts.doubles += 1 }
    return (wait, isCut, isDoubled)
  }

  private static func send(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
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

  static func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  static func connect(_ port: Int) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    var address = loopback(port)
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else {
      close(descriptor)
      return -1
    }
    return descriptor
  }

  private static func bind(_ listener: Int32) throws -> Int {
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        Glibc.bind(listener, pointer, length) == 0 && listen(listener, 128) == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard isBound else { throw WayFailure("no port is free") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
