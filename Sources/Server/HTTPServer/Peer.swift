import CMicroHTTPD
import FerryHTTP
import Glibc

/// One connection: its socket, the phase it is in and until when it may stay there.
///
/// Belongs to the loop's thread.
final class Peer {
  enum Phase { case idle, body, working, writing }

  /// What the client has shown over TLS; looked at once.
  private var shown: [UInt8]??

  func certificate(on connection: OpaquePointer) -> [UInt8]? {
    if let shown { return shown }
    var size = 0
    let bytes = ferry_mhd_client_certificate(connection, &size)
    let certificate = bytes.map { Array(UnsafeBufferPointer(start: $0, count: size)) }
    shown = .some(certificate)
    return certificate
  }

  let socket: CInt
  let address: String?
  /// Whose process it is, where it came through the Unix socket.
  let user: UInt32?
  /// For whom the connection itself counts; empty for a trusted proxy's.
  let account: HTTPCaller
  private let isSecure: Bool
  private(set) var phase = Phase.idle
  /// Nil while it is our turn.
  private(set) var deadline: ContinuousClock.Instant?
  /// The other end has closed, or we have given it up.
  var isGone = false
  /// The request under way.
  var exchange: Exchange?

  init(
    socket: CInt, address: String?, user: UInt32? = nil, account: HTTPCaller, isSecure: Bool,
    deadline: ContinuousClock.Instant
  ) {
    self.socket = socket
    self.address = user.map { "uid \($0)" } ?? address
    self.user = user
    self.account = account
    self.isSecure = isSecure
    self.deadline = deadline
    Peer.prepare(socket)
  }

  func enter(_ phase: Phase, until deadline: ContinuousClock.Instant?) {
    self.phase = phase
    self.deadline = deadline
  }

  /// Both directions; libmicrohttpd notices and closes.
  func cut() {
    isGone = true
    shutdown(socket, CInt(SHUT_RDWR))
  }

  /// Closes so that the other end sees an error, never an orderly end: over HTTP/1.0 an orderly
  /// end is how a body says that it is complete.
  func reset() {
    isGone = true
    var nowhere = sockaddr()
    nowhere.sa_family = sa_family_t(AF_UNSPEC)
    connect(socket, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
  }

  /// Writes a whole small answer past libmicrohttpd, which takes none while a body arrives.
  ///
  /// Only before anything of an answer was written. Over TLS nothing is: it would be no TLS.
  func refuse(
    _ status: Int, _ reason: String, _ words: String? = nil, _ fields: HTTPHeaders = [:]
  ) {
    guard !isSecure else { return }
    let text = "\(words ?? reason)\n"
    let isForNow = status == 429 || status == 503
    let own: Set = ["content-type", "content-length", "transfer-encoding", "connection"]
    let others = fields.fields.filter {
      !own.contains($0.name.lowercased()) && HeadCheck.isPlain($0.name + $0.value)
    }
    let head =
      "HTTP/1.1 \(status) \(reason)\r\nContent-Type: text/plain; charset=utf-8\r\n"
      + others.map { "\($0.name): \($0.value)\r\n" }.joined()
      + (isForNow && fields["Retry-After"] == nil
        ? "Retry-After: \(Peer.retryAfterSeconds)\r\n" : "")
      + "Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n"
    let bytes = Array((head + text).utf8)
    // Some hundred bytes into an empty socket buffer: what does not fit is not worth waiting for.
    _ = send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
  }

  /// When somebody whose share is taken, or who finds no room, may come again.
  static let retryAfterSeconds = 2

  /// A client that vanished without closing is noticed by the system, also while nothing is sent.
  private static func prepare(_ socket: CInt) {
    let size = socklen_t(MemoryLayout<CInt>.size)
    func set(_ level: CInt, _ name: CInt, _ number: CInt) {
      var number = number
      setsockopt(socket, level, name, &number, size)
    }
    set(SOL_SOCKET, SO_KEEPALIVE, 1)
    set(CInt(IPPROTO_TCP), TCP_KEEPIDLE, 60)
    set(CInt(IPPROTO_TCP), TCP_KEEPINTVL, 20)
    set(CInt(IPPROTO_TCP), TCP_KEEPCNT, 3)
    set(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, 60_000)
    set(CInt(IPPROTO_TCP), TCP_NODELAY, 1)
  }

  /// Whom the address belongs to, as far as it tells: of IPv6 the first 64 bits, which one household
  /// has. Nil where it is not known.
  static func network(_ address: UnsafePointer<sockaddr>?) -> String? {
    guard let address else { return nil }
    let raw = UnsafeRawPointer(address)
    guard Int32(address.pointee.sa_family) == AF_INET6 else { return text(address) }
    let bytes = (8..<24).map { raw.load(fromByteOffset: $0, as: UInt8.self) }
    // IPv4 inside IPv6: each address is a household of its own.
    let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
    return (isMapped ? bytes[12...] : bytes[..<8]).map(String.init).joined(separator: ".")
  }

  /// The address as text, from what accept gave.
  static func text(_ address: UnsafePointer<sockaddr>?) -> String? {
    guard let address, Int32(address.pointee.sa_family) != AF_UNIX else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let raw = UnsafeRawPointer(address)
    let isV4 = Int32(address.pointee.sa_family) == AF_INET
    // The address stands 4 bytes into sockaddr_in and 8 into sockaddr_in6.
    let found = inet_ntop(
      isV4 ? AF_INET : AF_INET6, raw + (isV4 ? 4 : 8), &text, socklen_t(text.count))
    return found.map { String(cString: $0) }
  }
}
