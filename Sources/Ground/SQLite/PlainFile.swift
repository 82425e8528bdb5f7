#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// A file that is read or written from its beginning to its end, a piece at a time.
///
/// Not for two threads at one time. Closed when it is let go of.
public final class PlainFile {
  private let path: String
  private var handle: UnsafeMutablePointer<FILE>?

  /// What the system said, with the path.
  public struct Failure: Error, CustomStringConvertible {
    public let path: String
    /// The system's number.
    public let code: Int32
    public var isFull: Bool { code == ENOSPC || code == EDQUOT }
    public var isMissing: Bool { code == ENOENT }
    public var description: String { "\(path): \(String(cString: strerror(code)))" }
  }

  private init(_ path: String, mode: String) throws(Failure) {
    self.path = path
    handle = fopen(path, mode)
    guard handle != nil else { throw Failure(path: path, code: errno) }
  }

  /// Takes the rights of everyone but the owner from a database file and what stands beside it.
  ///
  /// Another user's file stays as it is: its owner alone may change its mode.
  static func keepToOwner(_ path: String) {
    for end in ["", "-wal", "-shm"] {
      var status = stat()
      guard stat(path + end, &status) == 0 else { continue }
      // What the owner has taken from himself stays taken.
      let mode = status.st_mode & 0o700
      if mode != status.st_mode & 0o777 { chmod(path + end, mode) }
    }
  }

  deinit { if let handle { fclose(handle) } }

  /// Opens a file that is there.
  public static func reading(_ path: String) throws(Failure) -> PlainFile {
    try PlainFile(path, mode: "rb")
  }

  /// A new file, for its owner alone, or an existing one emptied.
  public static func writing(_ path: String) throws(Failure) -> PlainFile {
    makeForOwner(path)
    return try PlainFile(path, mode: "wb")
  }

  /// The next bytes, at most `count`; empty at the end.
  public func read(upTo count: Int) throws(Failure) -> [UInt8] {
    guard let handle else { throw Failure(path: path, code: EBADF) }
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = fread(buffer.baseAddress, 1, count, handle)
    }
    guard !bytes.isEmpty || ferror(handle) == 0 else { throw Failure(path: path, code: errno) }
    return bytes
  }

  public func write(_ bytes: [UInt8]) throws(Failure) {
    guard let handle else { throw Failure(path: path, code: EBADF) }
    guard fwrite(bytes, 1, bytes.count, handle) == bytes.count else {
      throw Failure(path: path, code: errno)
    }
  }

  /// Gives everything to the system; an error here means that the file is not whole.
  public func close() throws(Failure) {
    guard let open = handle else { return }
    handle = nil
    guard fclose(open) == 0 else { throw Failure(path: path, code: errno) }
  }

  /// Puts a file in the place of another in one step.
  public static func move(_ path: String, to target: String) throws(Failure) {
    guard rename(path, target) == 0 else { throw Failure(path: target, code: errno) }
  }

  /// Takes a file away; nothing happens where there is none.
  public static func remove(_ path: String) { unlink(path) }
}

/// What hinders it is reported when the file is opened for writing.
private func makeForOwner(_ path: String) {
  let made = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
  if made >= 0 { close(made) }
}
