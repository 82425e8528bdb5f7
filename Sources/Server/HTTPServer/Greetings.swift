import Glibc

/// Accepts connections of which those of named proxies begin with who their client is.
///
/// Belongs to the loop's thread.
final class Greetings {
  /// Gives a connection with the address of its client to libmicrohttpd, which closes what it does not
  /// take.
  typealias Add = (CInt, UnsafePointer<sockaddr>, socklen_t) -> Void

  private struct Waiting {
    var greeting = ProxyGreeting()
    let own: sockaddr_storage
    let until: ContinuousClock.Instant
  }

  private let listener: CInt
  private let proxies: Set<String>
  private let loop: Loop
  private let limits: HTTPServerLimits
  private let add: Add
  private var waiting: [CInt: Waiting] = [:]
  /// Places or descriptors are used up: connections wait in the system's queue.
  private var isPaused = false

  init(
    _ listener: CInt, _ proxies: Set<String>, _ loop: Loop, _ limits: HTTPServerLimits,
    add: @escaping Add
  ) {
    self.listener = listener
    self.proxies = proxies
    self.loop = loop
    self.limits = limits
    self.add = add
    loop.watchInput(listener)
  }

  var isIdle: Bool { waiting.isEmpty && !isPaused }

  /// Whether the descriptor is one of these. `count`: connections that are open.
  func take(_ descriptor: CInt, _ now: ContinuousClock.Instant, count: Int) -> Bool {
    if descriptor == listener {
      accept(now, count)
      return true
    }
    guard waiting[descriptor] != nil else { return false }
    read(descriptor)
    return true
  }

  /// Who does not say it in time is cut.
  func sweep(_ now: ContinuousClock.Instant) {
    for (socket, found) in waiting where found.until <= now { drop(socket) }
    guard isPaused else { return }
    isPaused = false
    loop.watchInput(listener)
  }

  func end() {
    for socket in Array(waiting.keys) { drop(socket) }
    if !isPaused { loop.forget(listener) }
    close(listener)
  }

  private func accept(_ now: ContinuousClock.Instant, _ count: Int) {
    var taken = count + waiting.count
    while true {
      guard taken < limits.connections else { return pause() }
      var address = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let socket = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.accept(listener, $0, &length)
        }
      }
      guard socket >= 0 else {
        switch errno {
        case EINTR, ECONNABORTED: continue
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pause()
        default: return
        }
      }
      taken += 1
      _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      _ = fcntl(socket, F_SETFL, O_NONBLOCK)
      guard proxies.contains(Greetings.text(address) ?? "") else {
        give(socket, address)
        continue
      }
      waiting[socket] = Waiting(own: address, until: now + limits.headTime)
      loop.watchInput(socket)
    }
  }

  private func pause() {
    guard !isPaused else { return }
    isPaused = true
    loop.forget(listener)
  }

  private func read(_ socket: CInt) {
    guard var found = waiting[socket] else { return }
    while found.greeting.state == .reading {
      var piece = [UInt8](repeating: 0, count: found.greeting.wanted)
      let count = recv(socket, &piece, piece.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR {
        waiting[socket] = found
        return
      }
      guard count > 0 else { return drop(socket) }
      found.greeting.take(piece.prefix(count))
    }
    guard case .whole(let client) = found.greeting.state else { return drop(socket) }
    waiting[socket] = nil
    loop.forget(socket)
    give(socket, client.flatMap(Greetings.address) ?? found.own)
  }

  private func give(_ socket: CInt, _ address: sockaddr_storage) {
    var address = address
    let length =
      Greetings.isV6(address) ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        add(socket, $0, socklen_t(length))
      }
    }
  }

  private func drop(_ socket: CInt) {
    waiting[socket] = nil
    loop.forget(socket)
    close(socket)
  }

  private static func isV6(_ address: sockaddr_storage) -> Bool {
    Int32(address.ss_family) == AF_INET6
  }

  private static func text(_ address: sockaddr_storage) -> String? {
    var address = address
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Peer.text($0) }
    }
  }

  private static func address(_ text: String) -> sockaddr_storage? {
    var storage = sockaddr_storage()
    let family = text.contains(":") ? AF_INET6 : AF_INET
    let isRead = withUnsafeMutableBytes(of: &storage) { bytes -> Bool in
      guard let start = bytes.baseAddress else { return false }
      // The address is 4 bytes into sockaddr_in and 8 into sockaddr_in6.
      return inet_pton(family, text, start + (family == AF_INET ? 4 : 8)) == 1
    }
    storage.ss_family = sa_family_t(family)
    return isRead ? storage : nil
  }
}
