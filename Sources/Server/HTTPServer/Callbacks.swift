import CMicroHTTPD
import Glibc

/// What libmicrohttpd calls, always on the loop's thread and inside MHD_run.
enum Callbacks {
  /// Which engine the thread steps: GnuTLS's callback has no context of ours.
  private static let threadsEngine: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "the process has no thread key left")
    return key
  }()

  /// From now on the thread steps this engine.
  static func serve(_ engine: Engine) {
    pthread_setspecific(threadsEngine, Unmanaged.passUnretained(engine).toOpaque())
  }

  /// What the server shows in the handshake that begins.
  private static let retrieve:
    @convention(c) (
      gnutls_session_t?, UnsafePointer<gnutls_datum_t>?, CInt,
      UnsafePointer<gnutls_pk_algorithm_t>?, CInt,
      UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, UnsafeMutablePointer<UInt32>?,
      UnsafeMutablePointer<gnutls_privkey_t?>?
    ) -> CInt = { _, _, _, _, _, chain, count, key in
      guard let shown = engine(pthread_getspecific(threadsEngine))?.tls?.now else { return -1 }
      chain?.pointee = shown.pointee.chain
      count?.pointee = shown.pointee.count
      key?.pointee = shown.pointee.key
      return 0
    }

  static func startDaemon(
    _ listener: CInt, _ limits: HTTPServerLimits, _ tls: ShownTLS?,
    context: UnsafeMutableRawPointer
  ) -> OpaquePointer? {
    ferry_mhd_start(
      listener, UInt32(limits.connections), limits.poolBytes, tls == nil ? nil : retrieve,
      tls?.clientAuthorities, context,
      { context, connection, _, method, version, data, count, state in
        Callbacks.engine(context)?.wasBusy = true
        guard let exchange = Callbacks.exchange(state), let count else { return .NO }
        return exchange.advance(method: method, version: version, data: data, count: count)
          ? .YES : .NO
      },
      { context, target, connection in
        Callbacks.begin(context, target, connection)
      },
      { context, connection, _, event in
        guard let engine = Callbacks.engine(context), let connection else { return }
        let socket = ferry_mhd_socket(connection)
        if event == .CONNECTION_NOTIFY_STARTED {
          let address = ferry_mhd_peer(connection)
          engine.open(socket, address: Peer.text(address), network: Peer.network(address))
        } else {
          engine.closed(socket)
        }
      },
      { context, _, state, _ in
        guard let engine = Callbacks.engine(context), let state, let held = state.pointee else {
          return
        }
        state.pointee = nil
        let exchange = Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue()
        exchange.end()
        engine.rest(exchange.peer)
      })
  }

  /// The first line is there: the exchange begins, held by libmicrohttpd until it is completed.
  private static func begin(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?,
    _ connection: OpaquePointer?
  ) -> UnsafeMutableRawPointer? {
    engine(context)?.wasBusy = true
    guard let engine = engine(context), let target, let connection,
      let peer = engine.peer(on: ferry_mhd_socket(connection))
    else { return nil }
    let exchange = Exchange(
      engine: engine, peer: peer, connection: connection, target: String(cString: target))
    peer.exchange = exchange
    return Unmanaged.passRetained(exchange).toOpaque()
  }

  /// The engine outlives its daemon: it runs it.
  private static func engine(_ context: UnsafeMutableRawPointer?) -> Engine? {
    context.map { Unmanaged<Engine>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func exchange(
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> Exchange? {
    guard let held = state?.pointee else { return nil }
    return Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
  }
}
