import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// The machine's own files.
public struct SystemFiles: FileAccess {
  public init() {}

  public func read(_ path: String, atMost limitBytes: Int) throws(FileError) -> [UInt8]? {
    guard let reader = try open(path) else { return nil }
    guard reader.sizeBytes <= limitBytes else { throw FileError(.tooLarge, path: path) }
    return try reader.read(reader.sizeBytes)
  }

  public func create(_ path: String) throws(FileError) -> any FileWriter {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
    return SystemWriter(try opened(path, flags), path)
  }

  public func open(_ path: String) throws(FileError) -> (any FileReader)? {
    let descriptor: Int32
    do throws(FileError) {
      descriptor = try opened(path, O_RDONLY | O_CLOEXEC)
    } catch {
      if error.cause == .missing { return nil }
      throw error
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let error = failure(path)
      close(descriptor)
      throw error
    }
    return SystemReader(descriptor, path, Int(status.st_size))
  }

  public func move(_ path: String, to target: String) throws(FileError) {
    guard rename(path, target) == 0 else { throw failure(path) }
    try syncFolder(of: target)
    if folder(of: path) != folder(of: target) { try syncFolder(of: path) }
  }

  @discardableResult
  public func remove(_ path: String) throws(FileError) -> Bool {
    guard unlink(path) == 0 else {
      if errno == ENOENT { return false }
      throw failure(path)
    }
    try syncFolder(of: path)
    return true
  }

  public func names(in folder: String) throws(FileError) -> [String]? {
    guard let list = opendir(folder) else {
      if errno == ENOENT { return nil }
      throw failure(folder)
    }
    defer { closedir(list) }
    var names: [String] = []
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  public func createFolder(_ path: String) throws(FileError) {
    if mkdir(path, 0o700) == 0 { return try syncFolder(of: path) }
    if errno == EEXIST {
      var status = stat()
      guard stat(path, &status) == 0 else { throw failure(path) }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw FileError(.system(ENOTDIR), path: path)
      }
      return
    }
    guard errno == ENOENT, folder(of: path) != path else { throw failure(path) }
    try createFolder(folder(of: path))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
    try syncFolder(of: path)
  }

  @discardableResult
  public func removeFolder(_ path: String) throws(FileError) -> Bool {
    guard rmdir(path) == 0 else {
      if errno == ENOENT { return false }
      throw failure(path)
    }
    return true
  }

  public func lock(_ path: String, within: Duration) throws(FileError) -> any FileLock {
    let end = ContinuousClock.now.advanced(by: within)
    let descriptor = try opened(path, O_RDWR | O_CREAT | O_CLOEXEC)
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      guard code == EWOULDBLOCK, ContinuousClock.now < end else {
        close(descriptor)
        throw FileError(code == EWOULDBLOCK ? .busy : cause(code), path: path)
      }
      usleep(2_000)
    }
    return SystemLock(descriptor)
  }
}

private func opened(_ path: String, _ flags: Int32) throws(FileError) -> Int32 {
  while true {
    let descriptor = open(path, flags, 0o600)
    if descriptor >= 0 { return descriptor }
    if errno != EINTR { throw failure(path) }
  }
}

private func failure(_ path: String) -> FileError { FileError(cause(errno), path: path) }

private func cause(_ code: Int32) -> FileError.Cause {
  switch code {
  case ENOENT: .missing
  case ENOSPC, EDQUOT, EFBIG: .full
  case EROFS: .readOnly
  case EACCES, EPERM: .denied
  default: .system(code)
  }
}

private func folder(of path: String) -> String {
  let bytes = Array(path.utf8)
  guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
  return slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
}

private func syncFolder(of path: String) throws(FileError) {
  let descriptor = try opened(folder(of: path), O_RDONLY | O_CLOEXEC)
  defer { close(descriptor) }
  // Some file systems know no sync of a folder; they need none.
  guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure(path) }
}

private final class SystemWriter: FileWriter {
  private var descriptor: Int32
  private let path: String

  init(_ descriptor: Int32, _ path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      #if canImport(Darwin)
        let count = Darwin.write(descriptor, part.baseAddress, part.count)
      #else
        let count = Glibc.write(descriptor, part.baseAddress, part.count)
      #endif
      if count < 0 {
        if errno == EINTR { continue }
        throw failure(path)
      }
      rest = rest.dropFirst(count)
    }
  }

  func finish() throws(FileError) {
    #if canImport(Darwin)
      // Plain fsync leaves the bytes in the drive's own memory there.
      let isDone = fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
    #else
      let isDone = fsync(descriptor) == 0
    #endif
    guard isDone else { throw failure(path) }
    let result = close(descriptor)
    descriptor = -1
    guard result == 0 else { throw failure(path) }
  }
}

private final class SystemReader: FileReader {
  private let descriptor: Int32
  private let path: String
  let sizeBytes: Int

  init(_ descriptor: Int32, _ path: String, _ sizeBytes: Int) {
    self.descriptor = descriptor
    self.path = path
    self.sizeBytes = sizeBytes
  }

  deinit { close(descriptor) }

  func read(into memory: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
    while true {
      #if canImport(Darwin)
        let count = Darwin.read(descriptor, memory.baseAddress, memory.count)
      #else
        let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
      #endif
      if count >= 0 { return count }
      if errno != EINTR { throw failure(path) }
    }
  }
}

private final class SystemLock: FileLock {
  private let descriptor: Mutex<Int32?>

  init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }

  deinit { release() }

  func release() {
    descriptor.withLock { descriptor in
      guard let held = descriptor else { return }
      flock(held, LOCK_UN)
      close(held)
      descriptor = nil
    }
  }
}
