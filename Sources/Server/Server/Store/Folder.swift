#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// The server's data folder, held by one server at a time.
package final class Folder: Sendable {
  package let path: String
  private let lock: Int32

  /// Makes the folder if needed and locks it until the value goes away. Errors: `folderOpen`,
  /// `folderNotWritable`, `folderInUse`.
  package init(_ path: String) throws(ServerError) {
    self.path = path
    try Folder.make(path)
    let lock = open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw Folder.notWritable(path) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      close(lock)
      throw ServerError(
        .folderInUse, "another server uses the folder \(path)",
        hint: "Stop that one, or start this one with a folder of its own (--data).")
    }
    self.lock = lock
  }

  /// Makes the folder if needed. Throws `folderOpen` where anybody but this user may enter it, or owns
  /// it: an owner can exchange every file. `followsLink`: whether the path may be a link to a folder.
  package static func make(_ path: String, followsLink: Bool = true) throws(ServerError) {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw notWritable(path) }
    var facts = stat()
    guard (followsLink ? stat(path, &facts) : lstat(path, &facts)) == 0 else {
      throw notWritable(path)
    }
    guard facts.st_mode & S_IFMT == S_IFDIR else {
      throw ServerError(
        .folderOpen, "\(path) is not a folder", hint: "Remove it, or name a folder (--data).")
    }
    guard facts.st_uid == geteuid() else {
      throw ServerError(
        .folderOpen,
        "the folder \(path) belongs to another user of this machine (uid \(facts.st_uid)), who could "
          + "read and exchange what is in it",
        hint: "Name another folder (--data), or run this as the user who owns it.")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw ServerError(
        .folderOpen,
        "others on this machine may enter the folder \(path) (mode "
          + "\(String(facts.st_mode & 0o777, radix: 8))), and it will hold every user's rows",
        hint: "Type: chmod 700 \(path)")
    }
  }

  deinit {
    // A child that was forked and is not yet another program has the same open file: closing alone
    // would leave the lock to it.
    flock(lock, LOCK_UN)
    close(lock)
  }

  /// The Unix socket in it through which `ferry` reaches a running server.
  package static let socketName: String = "operator.socket"

  /// How many bytes a secret has.
  package static let secretBytes: Int = 32

  /// A file of secret bytes, readable by its owner only; made by `make` the first time.
  ///
  /// One that is there and is not whole is never replaced or used: what was sealed with it would be
  /// worth nothing, and a few bytes or nothing but zeros keep nobody out.
  package func secret(_ name: String, make: () -> [UInt8]) throws(ServerError) -> [UInt8] {
    if let known = try knownSecret(name) { return known }
    let bytes = make()
    try keep(bytes, as: name)
    return bytes
  }

  /// Writes a small file, readable by its owner only: whole or not at all, whenever the machine dies.
  package func keep(_ bytes: [UInt8], as name: String) throws(ServerError) {
    let file = "\(path)/\(name)"
    let part = "\(file).part"
    let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Folder.notWritable(path) }
    defer { close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0, write(descriptor, bytes, bytes.count) == bytes.count,
      fsync(descriptor) == 0, rename(part, file) == 0, syncFolder()
    else { throw Folder.notWritable(path) }
  }

  /// Deletes a file; nothing happens where there is none.
  package func remove(_ name: String) throws(ServerError) {
    guard unlink("\(path)/\(name)") == 0 || errno == ENOENT, syncFolder() else {
      throw Folder.notWritable(path)
    }
  }

  package static func isFile(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The same where it is there; nil where it was never made.
  package func knownSecret(_ name: String) throws(ServerError) -> [UInt8]? {
    let file = "\(path)/\(name)"
    errno = 0
    if let (known, owner) = Folder.readWithOwner(file) {
      guard owner == geteuid() || owner == 0 else {
        throw ServerError(
          .damagedSecret,
          "the key file \(file) belongs to another user of this machine (uid \(owner)), who knows it",
          hint: "Restore it from a backup, or remove it: the next start makes a new one, and "
            + "every device logs in again.")
      }
      guard known.count == Folder.secretBytes, known.contains(where: { $0 != 0 }) else {
        let what = known.count == Folder.secretBytes ? "only zeros" : "\(known.count) bytes"
        throw ServerError(
          .damagedSecret,
          "the key file \(file) holds \(what) and not \(Folder.secretBytes) "
            + "bytes of a key: it was not written whole, or was changed",
          hint: "Restore it from a backup, or remove it: the next start makes a new one, and "
            + "every device logs in again.")
      }
      return known
    }
    guard errno == ENOENT else {
      throw ServerError(
        .damagedSecret, "the key file \(file) cannot be read: \(String(cString: strerror(errno)))",
        hint: "Give the user of the server the right to read it.")
    }
    return nil
  }

  /// The names in the folder outlive the machine.
  private func syncFolder() -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return fsync(descriptor) == 0
  }

  /// The bytes of a small file; nil where it cannot be read.
  package static func read(_ path: String) -> [UInt8]? { readWithOwner(path)?.bytes }

  private static func readWithOwner(_ path: String) -> (bytes: [UInt8], owner: uid_t)? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { return nil }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      #if canImport(Darwin)
        let count = Darwin.read(descriptor, &piece, piece.count)
      #else
        let count = Glibc.read(descriptor, &piece, piece.count)
      #endif
      if count < 0 { return nil }
      if count == 0 { return (bytes, facts.st_uid) }
      bytes += piece.prefix(count)
    }
  }

  private static func notWritable(_ path: String) -> ServerError {
    ServerError(
      .folderNotWritable,
      "the folder \(path) cannot be written: \(String(cString: strerror(errno)))",
      hint: "Name a folder that this user may make and write (--data).")
  }
}
