import Glibc

/// Opens the socket that a server accepts on.
enum Listener {
  /// Connections that the system keeps until they are accepted: a herd of devices comes at once.
  private static let backlog: CInt = 1024

  static func open(_ address: String, port: Int) throws(HTTPServerError) -> CInt {
    guard let port16 = UInt16(exactly: port) else {
      throw HTTPServerError(
        code: .badPort, message: "\(port) is not a port number", hint: "Choose one from 0 to 65535."
      )
    }
    let host = address == "localhost" ? "127.0.0.1" : address
    var v4 = sockaddr_in()
    var v6 = sockaddr_in6()
    if inet_pton(AF_INET, host, &v4.sin_addr) == 1 {
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = port16.bigEndian
      return try listen(v4, family: AF_INET, address, port)
    }
    if inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 {
      v6.sin6_family = sa_family_t(AF_INET6)
      v6.sin6_port = port16.bigEndian
      return try listen(v6, family: AF_INET6, address, port)
    }
    throw HTTPServerError(
      code: .badAddress, message: "\"\(address)\" is not an IP address",
      hint: "Give one of this machine's addresses, such as 127.0.0.1, or 0.0.0.0 for all.")
  }

  /// The port that the system chose, or the one asked for.
  static func port(of listener: CInt) -> Int {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let port = withUnsafeMutablePointer(to: &storage) { pointer in
      let status = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(listener, $0, &length)
      }
      guard status == 0 else { return UInt16(0) }
      return UnsafeRawPointer(pointer).loadUnaligned(fromByteOffset: 2, as: UInt16.self)
    }
    return Int(UInt16(bigEndian: port))
  }

  private static func listen<Address>(
    _ socketAddress: Address, family: CInt, _ address: String, _ port: Int
  ) throws(HTTPServerError) -> CInt {
    let kind = CInt(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC
    let listener = socket(family, kind, 0)
    guard listener >= 0 else { throw failure(errno, address, port) }
    var one: CInt = 1
    let size = socklen_t(MemoryLayout<CInt>.size)
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, size)
    let bound = withUnsafePointer(to: socketAddress) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
    guard bound == 0, Glibc.listen(listener, backlog) == 0 else {
      let reason = errno
      close(listener)
      throw failure(reason, address, port)
    }
    return listener
  }

  private static func failure(_ reason: CInt, _ address: String, _ port: Int) -> HTTPServerError {
    switch reason {
    case EADDRINUSE:
      HTTPServerError(
        code: .portInUse, message: "port \(port) is in use by another process",
        hint: "Choose another with --port or stop that one.")
    case EACCES, EPERM:
      HTTPServerError(
        code: .notPermitted, message: "this user may not listen on port \(port)",
        hint: "Choose a port from 1024 up with --port and put a proxy in front of it.")
    case EADDRNOTAVAIL, EAFNOSUPPORT:
      HTTPServerError(
        code: .badAddress, message: "no interface of this machine has the address \(address)",
        hint: "Give one that `ip address` shows, 127.0.0.1, or 0.0.0.0 for all.")
    case EMFILE, ENFILE:
      HTTPServerError(
        code: .tooFewFiles, message: "no further file can be opened", hint: "Raise `ulimit -n`.")
    default:
      HTTPServerError(
        code: .system,
        message: "cannot listen on \(address):\(port): \(String(cString: strerror(reason)))",
        hint: "See the system's reason.")
    }
  }
}
