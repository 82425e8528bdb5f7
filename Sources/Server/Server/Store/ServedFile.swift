import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Tells programs of this machine which business database of SQLite a server is serving.
///
/// It is a lock of `flock`, which SQLite does not look at: no program that knows nothing of Ferry has
/// to wait. Its descriptors stay open until the process ends, for closing one would release what
/// SQLite itself has locked in the file. A file in the place of the served one is not locked.
package enum ServedFile {
  private static let shared = Mutex<Set<[UInt64]>>([])

  /// From now on the process serves the file. False while another one owns it.
  package static func share(_ path: String) -> Bool {
    shared.withLock { shared in
      var facts = stat()
      guard stat(path, &facts) == 0 else { return true }
      let file = [UInt64(facts.st_dev), UInt64(facts.st_ino)]
      guard !shared.contains(file) else { return true }
      guard let isLocked = lock(path, LOCK_SH) else { return true }
      if isLocked { shared.insert(file) }
      return isLocked
    }
  }

  /// Keeps servers away until the process ends. False where one serves the file.
  package static func own(_ path: String) -> Bool { lock(path, LOCK_EX) ?? true }

  /// Nil where the file cannot be locked in this way.
  private static func lock(_ path: String, _ kind: Int32) -> Bool? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0, !isRemote(descriptor) else { return nil }
    if flock(descriptor, kind | LOCK_NB) == 0 { return true }
    return errno == EWOULDBLOCK ? false : nil
  }

  /// Over a network `flock` may be the same lock as SQLite's own, and would keep it from writing.
  private static func isRemote(_ descriptor: Int32) -> Bool {
    #if os(Linux)
      var facts = stat()
      guard fstat(descriptor, &facts) == 0, let mounts = Folder.read("/proc/self/mountinfo") else {
        return true
      }
      let number = UInt64(facts.st_dev)
      let major = (number >> 8) & 0xFFF | (number >> 32) & ~0xFFF
      let minor = number & 0xFF | (number >> 12) & ~0xFF
      let device = "\(major):\(minor)"
      return String(decoding: mounts, as: UTF8.self).split(separator: "\n").contains { line in
        let words = line.split(separator: " ")
        guard words.count > 3, words[2] == device, let dash = words.firstIndex(of: "-"),
          dash + 1 < words.count
        else { return false }
        return remoteKinds.contains { words[dash + 1].hasPrefix($0) }
      }
    #else
      return false
    #endif
  }

  private static let remoteKinds: [String] = ["nfs", "cifs", "smb", "9p", "fuse", "ceph", "gfs"]
}
