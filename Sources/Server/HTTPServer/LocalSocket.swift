import Glibc

/// A Unix socket in a folder that only its owner may enter: processes of this user and of root reach the
/// server through it, and nobody else.
///
/// Belongs to the loop's thread.
final class LocalSocket {
  /// What comes next at the listening socket.
  enum Arrival { case connection(CInt), none, noDescriptors }

  let listener: CInt
  /// The system's accept; a test takes descriptors away here.
  var acceptNext: (CInt) -> CInt = { Glibc.accept($0, nil, nil) }
  private let folder: CInt
  private let name: String

  /// Takes the place of a socket whose server has ended. Errors: `portInUse`, `notPermitted`, `system`.
  init(in folder: String, named name: String) throws(HTTPServerError) {
    self.name = name
    self.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard self.folder >= 0 else { throw LocalSocket.failure(folder, name) }
    listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC, 0)
    guard listener >= 0 else {
      Glibc.close(self.folder)
      throw LocalSocket.failure(folder, name)
    }
    var facts = stat()
    let isClosed =
      fstat(self.folder, &facts) == 0 && facts.st_uid == geteuid() && facts.st_mode & 0o077 == 0
    guard isClosed else {
      shut()
      throw HTTPServerError(
        code: .notPermitted, message: "others on this machine may enter the folder \(folder)",
        hint: "It must belong to the server's user, with mode 700.")
    }
    // The name of a folder may be longer than the address of a socket; that of a descriptor is short.
    guard let address = LocalSocket.address("/proc/self/fd/\(self.folder)/\(name)") else {
      shut()
      throw LocalSocket.failure(folder, name)
    }
    guard LocalSocket.call(connect, listener, address) != 0 else {
      shut()
      throw HTTPServerError(
        code: .portInUse, message: "another server answers at \(folder)/\(name)",
        hint: "Stop that one.")
    }
    unlinkat(self.folder, name, 0)
    guard LocalSocket.call(bind, listener, address) == 0,
      fchmodat(self.folder, name, 0o600, 0) == 0, listen(listener, 64) == 0
    else {
      let reason = LocalSocket.failure(folder, name)
      shut()
      throw reason
    }
  }

  /// The next connection. One of another user than this one and root is closed.
  ///
  /// `noDescriptors`: it stays where it is, and the socket says so again and again.
  func accept() -> Arrival {
    while true {
      let socket = acceptNext(listener)
      guard socket >= 0 else {
        switch errno {
        case EINTR, ECONNABORTED: continue
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .noDescriptors
        default: return .none
        }
      }
      _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      _ = fcntl(socket, F_SETFL, O_NONBLOCK)
      if let user = LocalSocket.user(of: socket), user == 0 || user == geteuid() {
        return .connection(socket)
      }
      Glibc.close(socket)
    }
  }

  /// The user of the process at the other end, as the system knows it; nil for any other kind of socket.
  static func user(of socket: CInt) -> UInt32? {
    var domain: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0, domain == AF_UNIX else {
      return nil
    }
    // struct ucred: process, user, group.
    var peer: (pid: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
    length = socklen_t(MemoryLayout.size(ofValue: peer))
    guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 else { return nil }
    return peer.user
  }

  /// No new connections; the name goes away.
  func end() {
    unlinkat(folder, name, 0)
    shut()
  }

  private func shut() {
    Glibc.close(listener)
    Glibc.close(folder)
  }

  private static func address(_ path: String) -> sockaddr_un? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8) + [0]
    guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return address
  }

  private static func call(
    _ body: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ socket: CInt,
    _ address: sockaddr_un
  ) -> CInt {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func failure(_ folder: String, _ name: String) -> HTTPServerError {
    HTTPServerError(
      code: .system,
      message: "cannot listen on \(folder)/\(name): \(String(cString: strerror(errno)))",
      hint: "See the system's reason.")
  }
}
