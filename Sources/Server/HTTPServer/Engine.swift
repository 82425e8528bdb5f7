import CLinux
import CMicroHTTPD
import FerryHTTP
import FerryWorld
import Glibc
import Synchronization

/// libmicrohttpd without threads, stepped by one loop, with the deadlines that it does not have.
///
/// `@unchecked Sendable`: belongs to the thread that runs it, but for `tasksUnderWay` and `rounds`
/// (atomic), `askedGrace` (a mutex) and `stopEvent`, to which any thread may write.
final class Engine: @unchecked Sendable {
  let loop: Loop
  let limits: HTTPServerLimits
  let log: any Log
  let doorman: HTTPServer.Doorman
  let handler: HTTPServer.Handler
  /// Descriptor that says "stop"; writing to it is all that a signal handler may do.
  let stopEvent: CInt
  let tasksUnderWay = Atomic<Int>(0)
  /// How often the loop has gone round: a loop that spins does so however busy the machine is.
  let rounds = Atomic<Int>(0)
  /// The monotonic clock, read once per step.
  private(set) var now = ContinuousClock.now
  /// Something was resumed or queued that no socket will announce.
  var needsRun = false
  /// Whether libmicrohttpd has called us in its last step.
  var wasBusy = false
  var isSecure: Bool { tls != nil }
  var asksForCertificates: Bool { tls?.clientAuthorities != nil }
  private(set) var isDraining = false

  private let signalGrace: Duration
  private let askedGrace = Mutex<Duration?>(nil)
  private var daemon: OpaquePointer?
  private var daemonEvents: CInt = -1
  private var peers: [CInt: Peer] = [:]
  private var local: LocalSocket?
  /// The Unix socket has a connection, and no descriptor is left for it: it is looked at again then.
  private(set) var localPause: ContinuousClock.Instant?
  /// Refused uploads, read and thrown away until then.
  private var lingering: [CInt: (until: ContinuousClock.Instant, network: String)] = [:]
  private var bodies: Shares
  /// Those whose head was judged, until they are answered.
  private var requests: Shares
  /// Those that are open, by the address of the other end.
  private var connections: Shares
  private let proxies: Set<String>
  let tls: ShownTLS?
  private var refusals: RefusalLog
  /// Where proxies say first who their client is; nil: nobody does.
  private var greetings: Greetings?
  private let expectsGreetings: Bool
  private var nextSweep = ContinuousClock.now
  private var drainDeadline = ContinuousClock.now

  /// How often deadlines are looked at: a client gets at most this much more.
  private static let tick = Duration.milliseconds(250)
  /// How long tasks that were cancelled at the end may take to notice it.
  private static let lastWords = Duration.seconds(1)

  init(
    configuration: HTTPServerConfiguration, log: any Log, loop: Loop,
    doorman: @escaping HTTPServer.Doorman, handler: @escaping HTTPServer.Handler
  ) throws(HTTPServerError) {
    self.loop = loop
    self.log = log
    self.doorman = doorman
    self.handler = handler
    limits = configuration.limits
    proxies = configuration.proxies
    tls = try configuration.tls.map { identity throws(HTTPServerError) in try ShownTLS(identity) }
    refusals = RefusalLog(log)
    expectsGreetings = configuration.proxiesSendGreetings
    bodies = Shares(limits.bodyBounds)
    requests = Shares(limits.requestBounds)
    var bounds = limits.requestBounds
    bounds.besideLogins = .max
    connections = Shares(bounds)
    signalGrace = configuration.signalGrace
    stopEvent = eventfd(0, CInt(O_CLOEXEC | O_NONBLOCK))
    guard stopEvent >= 0 else {
      throw HTTPServerError(
        code: .tooFewFiles, message: "no further file can be opened", hint: "Raise `ulimit -n`.")
    }
    loop.watchInput(stopEvent)
  }

  deinit { close(stopEvent) }

  /// Gives the listening socket to libmicrohttpd, which closes it.
  func listen(on listener: CInt) throws(HTTPServerError) {
    daemon = Callbacks.startDaemon(
      expectsGreetings ? -1 : listener, limits, tls,
      context: Unmanaged.passUnretained(self).toOpaque())
    guard let daemon else {
      close(listener)
      throw HTTPServerError(
        code: .system, message: "libmicrohttpd did not start",
        hint:
          "Check that `ulimit -n` allows \(limits.connections) connections, and each certificate."
      )
    }
    if expectsGreetings {
      greetings = Greetings(listener, proxies, loop, limits) { socket, address, length in
        MHD_add_connection(daemon, socket, address, length)
      }
    }
    daemonEvents = ferry_mhd_epoll(daemon)
    loop.watchInput(daemonEvents)
  }

  /// Also takes connections of this machine's own users, beside the port.
  func listen(on local: LocalSocket) {
    self.local?.end()
    self.local = local
    localPause = nil
    loop.watchInput(local.listener)
  }

  private func admitLocal(_ daemon: OpaquePointer) {
    var address = sockaddr()
    address.sa_family = sa_family_t(AF_UNIX)
    while let local {
      switch local.accept() {
      case .connection(let socket):
        // It closes what it does not take.
        let length = socklen_t(MemoryLayout<sa_family_t>.size)
        _ = MHD_add_connection(daemon, socket, &address, length)
        needsRun = true
      case .none: return
      case .noDescriptors:
        // The connection waits, and so does the loop: the socket would wake it at once.
        loop.forget(local.listener)
        localPause = now + Self.tick
        return
      }
    }
  }

  /// Descriptors may be free again.
  private func endLocalPause() {
    guard let pause = localPause, pause <= now else { return }
    localPause = nil
    if let local { loop.watchInput(local.listener) }
  }

  /// Any thread. A second call may only shorten the grace.
  func stop(grace: Duration) {
    askedGrace.withLock { $0 = min($0 ?? grace, grace) }
    eventfd_write(stopEvent, 1)
  }

  /// The calling thread serves until it is stopped.
  func run() {
    guard let daemon else { return }
    loop.adopt()
    Callbacks.serve(self)
    while !isDraining || !isDrained { step(daemon) }
    finish(daemon)
    loop.retire()
  }

  private func step(_ daemon: OpaquePointer) {
    rounds.add(1, ordering: .relaxed)
    loop.runJobs()
    let found = loop.wait(milliseconds: waitMilliseconds(daemon))
    now = .now
    var isReady = found.isEmpty
    for descriptor in found {
      if descriptor == daemonEvents {
        isReady = true
      } else if descriptor == stopEvent {
        takeStop(daemon)
      } else if descriptor == local?.listener {
        admitLocal(daemon)
      } else if greetings?.take(descriptor, now, count: peers.count) == true {
        needsRun = true
      } else if let peer = peers[descriptor] {
        hangUp(peer)
      } else if lingering[descriptor] != nil {
        swallow(descriptor)
      }
    }
    loop.runJobs()
    if isReady || needsRun {
      needsRun = false
      wasBusy = false
      MHD_run(daemon)
    }
    if now >= nextSweep { sweep() }
  }

  private func waitMilliseconds(_ daemon: OpaquePointer) -> CInt {
    var timeout: UInt64 = 0
    if needsRun { return 0 }
    if MHD_get_timeout(daemon, &timeout) == .YES, timeout == 0 {
      // A client that has sent a part of its handshake is taken for ready as long as it stays.
      return isSecure && !wasBusy ? 1 : 0
    }
    if isDraining { return 10 }
    return peers.isEmpty && greetings?.isIdle ?? true && lingering.isEmpty && localPause == nil
      ? -1 : 250
  }

  // What the callbacks ask for.

  func peer(on socket: CInt) -> Peer? { peers[socket] }

  func open(_ socket: CInt, address: String?, network: String?) {
    let isProxy = address.map { proxies.contains($0) } ?? false
    // Through the Unix socket comes only the machine's own operator.
    let user = local == nil ? nil : LocalSocket.user(of: socket)
    let account = HTTPCaller(address: isProxy || user != nil ? nil : network)
    let isOverShare = connections.take(1, for: account) != nil
    let peer = Peer(
      socket: socket, address: address, user: user,
      account: isOverShare ? HTTPCaller() : account, isSecure: isSecure,
      deadline: now + limits.headTime)
    if isOverShare { _ = connections.take(1, for: peer.account) }
    if isFull(beside: 1) { closeIdle() }
    peers[socket] = peer
    loop.watchHangup(socket)
    guard isOverShare else { return }
    noteRefusal(429, peer)
    peer.refuse(
      429, "Too Many Requests",
      "This address has \(connections.bounds.perAddress) connections; close some of them first.")
    cut(peer)
  }

  /// Whether only the places for logins are left, if so many more come.
  private func isFull(beside count: Int) -> Bool {
    let limit = requests.bounds.besideLogins
    guard peers.count + count > limit else { return false }
    return peers.values.count { !$0.isGone } + count > limit
  }

  /// Where few places are left, who has been silent for longest makes room.
  private func closeIdle() {
    let idle = peers.values.filter { $0.phase == .idle && $0.exchange == nil && !$0.isGone }
    let oldest = idle.min { ($0.deadline ?? now) < ($1.deadline ?? now) }
    if let oldest { cut(oldest) }
  }

  func closed(_ socket: CInt) {
    guard let peer = peers.removeValue(forKey: socket) else { return }
    connections.release(1, for: peer.account)
    loop.forget(socket)
  }

  /// A request whose head is there takes a place until `release`.
  func take(_ caller: HTTPCaller) -> Shares.Refusal? {
    if !caller.usesReserve, isFull(beside: 0) { return .all }
    return requests.take(1, for: caller)
  }

  func release(_ caller: HTTPCaller) { requests.release(1, for: caller) }

  /// The answer is written; the next head may come.
  func rest(_ peer: Peer) {
    peer.enter(.idle, until: now + limits.headTime)
    if isDraining { peer.cut() }
  }

  func reserve(bodyBytes count: Int, for caller: HTTPCaller) -> Shares.Refusal? {
    bodies.take(count, for: caller)
  }

  func release(bodyBytes count: Int, for caller: HTTPCaller) {
    bodies.release(count, for: caller)
  }

  /// Keeps a refused upload's socket open beyond libmicrohttpd's close, to read what still comes.
  func linger(_ peer: Peer) {
    let network = peer.account.address ?? ""
    let same = network.isEmpty ? 0 : lingering.values.count { $0.network == network }
    let hasRoom = lingering.count < limits.lingering && same < limits.lingeringPerAddress
    guard hasRoom, limits.lingerTime > .zero else { return }
    let copy = fcntl(peer.socket, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return }
    lingering[copy] = (now + limits.lingerTime, network)
    loop.watchInput(copy)
  }

  private func swallow(_ socket: CInt) {
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
      let count = recv(socket, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
      if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { endLinger(socket) }
    }
  }

  private func endLinger(_ socket: CInt) {
    lingering[socket] = nil
    loop.forget(socket)
    close(socket)
  }

  func noteRefusal(_ status: Int, _ peer: Peer) { refusals.note(status, peer, now: now) }

  // Deadlines and the end.

  /// A client that closes its side has gone, also one that still reads: over HTTP there is no
  /// telling the two apart, and proxies never do it.
  private func hangUp(_ peer: Peer) {
    peer.isGone = true
    peer.exchange?.abandon()
  }

  private func sweep() {
    nextSweep = now + (isDraining ? .milliseconds(10) : Self.tick)
    refusals.tell(now: now)
    endLocalPause()
    greetings?.sweep(now)
    for peer in peers.values {
      guard let deadline = peer.deadline, deadline <= now else { continue }
      if peer.phase == .body { peer.refuse(408, "Request Timeout") }
      peer.enter(.working, until: nil)
      cut(peer)
    }
    for (socket, wait) in lingering where wait.until <= now { endLinger(socket) }
  }

  private func cut(_ peer: Peer) {
    peer.cut()
    peer.exchange?.abandon()
    needsRun = true
  }

  private func takeStop(_ daemon: OpaquePointer) {
    var count: eventfd_t = 0
    eventfd_read(stopEvent, &count)
    let asked = askedGrace.withLock { $0 }
    // Without a call it was a signal; a second signal means at once.
    let grace = asked ?? (isDraining ? .zero : signalGrace)
    let deadline = now + grace
    drainDeadline = isDraining ? min(drainDeadline, deadline) : deadline
    guard !isDraining else { return }
    isDraining = true
    nextSweep = now
    log.info("stopping", ("connections", "\(peers.count)"))
    let listener = MHD_quiesce_daemon(daemon)
    if listener >= 0 { close(listener) }
    greetings?.end()
    greetings = nil
    if let local {
      loop.forget(local.listener)
      local.end()
      self.local = nil
      localPause = nil
    }
    for peer in peers.values {
      if peer.exchange == nil { cut(peer) }
      peer.exchange?.drain()
    }
    needsRun = true
  }

  private var isDrained: Bool { peers.isEmpty || now >= drainDeadline }

  private func finish(_ daemon: OpaquePointer) {
    if !peers.isEmpty {
      log.warn("connections cut at the end of the grace", ("count", "\(peers.count)"))
    }
    // No connection may be suspended when the daemon stops: it would abort the process.
    let deadline = now + Self.lastWords
    for peer in peers.values { cut(peer) }
    repeat {
      now = .now
      loop.runJobs()
      for peer in peers.values where !peer.isGone { cut(peer) }
      MHD_run(daemon)
      if tasksUnderWay.load(ordering: .relaxed) > 0 || !peers.isEmpty {
        _ = loop.wait(milliseconds: 5)
      }
    } while now < deadline && (!peers.isEmpty || tasksUnderWay.load(ordering: .relaxed) > 0)
    for peer in peers.values { peer.exchange?.abandon() }
    loop.forget(daemonEvents)
    MHD_stop_daemon(daemon)
    self.daemon = nil
    for socket in Array(lingering.keys) { endLinger(socket) }
    refusals.tell(now: nil)
    let left = tasksUnderWay.load(ordering: .relaxed)
    if left > 0 { log.warn("handlers did not notice their cancellation", ("count", "\(left)")) }
    log.info("stopped")
  }
}
