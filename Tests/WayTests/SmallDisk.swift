import Foundation
import Glibc
import Synchronization

/// A disk of its own for a test: a few megabytes of memory, or a file with a file system in it that
/// can be made to stand still. Gone with the value.
final class SmallDisk: Sendable {
  let path: String
  private let place: Place

  /// What the reader of the output must know where a test could not be what it is called.
  static func tellMissing(_ standIn: StandIn, _ need: Need = .memoryDisk) {
    tellNotShown(need, "no disk can be mounted; \(standIn.rawValue)")
  }

  enum StandIn: String {
    case device =
      "DiskTests.fullInMemory, with a disk in memory under SQLite, stands in for the full one"
    case server =
      "the full disks of a server in SimulationTests, in memory under SQLite, stand in for the full one"
    case none = "nothing stands in for it"
  }

  /// Nil where this user may not mount; the test says so.
  static func memory(_ place: Place, _ name: String, megabytes: Int) async throws -> SmallDisk? {
    let path = place.file(name)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let isMounted = await SmallDisk.run(
      "/bin/mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "ferry-test", path])
    return isMounted ? SmallDisk(place, path) : nil
  }

  /// A file system that `freeze` can stop.
  static func freezable(_ place: Place, _ name: String) async throws -> SmallDisk? {
    let path = place.file(name)
    let image = place.file("\(name).image")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard truncate(SmallDisk.touch(image), 64 << 20) == 0,
      await SmallDisk.run("/sbin/mkfs.ext4", ["-q", "-F", image]),
      await SmallDisk.run("/bin/mount", ["-o", "loop", image, path])
    else { return nil }
    return SmallDisk(place, path)
  }

  /// A file system whose medium breaks when `fill` took the room under it: the first write that
  /// cannot be made turns it read-only while programs are at work on it, as a worn card does.
  static func breakable(_ place: Place, _ name: String) async throws -> Breakable? {
    guard let medium = try await memory(place, "\(name)-medium", megabytes: 24),
      let spare = try await memory(place, "\(name)-spare", megabytes: 48)
    else { return nil }
    let path = place.file(name)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let image = medium.file("image")
    guard truncate(SmallDisk.touch(image), 64 << 20) == 0,
      await SmallDisk.run("/sbin/mkfs.ext4", ["-q", "-F", image]),
      await SmallDisk.run("/bin/mount", ["-o", "loop,errors=remount-ro", image, path])
    else { return nil }
    return Breakable(medium: medium, spare: spare, image: image, disk: SmallDisk(place, path))
  }

  struct Breakable: Sendable {
    let medium: SmallDisk
    let spare: SmallDisk
    let image: String
    let disk: SmallDisk

    /// What was written so far is on the medium; from here on every write fails, and the file
    /// system has noticed.
    func snap() async throws {
      guard await SmallDisk.run("/bin/sync", ["-f", disk.path]) else {
        throw WayFailure("\(disk.path) cannot be synced")
      }
      try medium.fill()
      mkdir(disk.file("noticed"), 0o700)
      _ = await SmallDisk.run("/bin/sync", ["-f", disk.path])
    }

    /// A new medium with what was on the old one: nobody may be at work on it.
    func mend() async throws {
      // A copy: a program that another test started in a mount namespace of its own may keep the old
      // file system mounted there, and the same image mounted again would be that broken one.
      let copy = spare.file("image")
      guard await SmallDisk.run("/bin/umount", [disk.path]),
        await SmallDisk.run("/bin/cp", ["--sparse=always", image, copy]),
        // It tells that it repaired something by ending with 1.
        await SmallDisk.run("/sbin/e2fsck", ["-p", copy], mayEnd: [0, 1]),
        await SmallDisk.run("/bin/mount", ["-o", "loop", copy, disk.path])
      else { throw WayFailure("the disk \(disk.path) cannot be mended") }
    }
  }

  private init(_ place: Place, _ path: String) {
    self.place = place
    self.path = path
  }

  deinit {
    // Whoever is still at work there keeps it until they have ended.
    umount2(path, 2)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Takes all the room that is left, but for so many bytes.
  func fill(butFor room: Int = 0) throws {
    let descriptor = open(file("filler"), O_WRONLY | O_CREAT, 0o600)
    guard descriptor >= 0 else { throw WayFailure("the disk \(path) cannot be written") }
    defer { close(descriptor) }
    let block = [UInt8](repeating: 1, count: 4_096)
    while write(descriptor, block, block.count) > 0 {}
    guard room > 0 else { return }
    guard ftruncate(descriptor, lseek(descriptor, 0, SEEK_END) - room) == 0 else {
      throw WayFailure("the disk \(path) has no room for \(room) bytes")
    }
  }

  /// Mounted anew so that it may only be read, or written again.
  func setReadOnly(_ isReadOnly: Bool) async throws {
    let way = isReadOnly ? "ro" : "rw"
    guard await SmallDisk.run("/bin/mount", ["-o", "remount,\(way)", path]) else {
      throw WayFailure("\(path) cannot be mounted \(way)")
    }
  }

  func free() throws { try FileManager.default.removeItem(atPath: file("filler")) }

  /// Every write stands still from now on until `thaw`.
  func freeze() async throws {
    guard await SmallDisk.run("/usr/sbin/fsfreeze", ["-f", path]) else {
      throw WayFailure("\(path) cannot be frozen")
    }
  }

  func thaw() async throws {
    guard await SmallDisk.run("/usr/sbin/fsfreeze", ["-u", path]) else {
      throw WayFailure("\(path) cannot be thawed")
    }
  }

  /// Makes every write wait until `Slowness` is let go of: the disk stands still for `still` and
  /// moves for `moving`, again and again, as one that many share or a card that tidies itself.
  func slow(still: Duration, moving: Duration) throws -> Slowness {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw WayFailure("\(path) cannot be slowed") }
    return Slowness(descriptor, still: still, moving: moving)
  }

  final class Slowness: Sendable {
    private let state = Mutex((isOver: false, pauses: 0, error: nil as WayFailure?))
    private let ended = DispatchSemaphore(value: 0)

    fileprivate init(_ descriptor: Int32, still: Duration, moving: Duration) {
      let slowness = self
      Thread.detachNewThread {
        while !slowness.isOver {
          // FIFREEZE and FITHAW of linux/fs.h.
          guard ioctl(descriptor, 0xC004_5877, Int32(0)) == 0 else {
            slowness.failed(errno)
            break
          }
          usleep(still.microseconds)
          _ = ioctl(descriptor, 0xC004_5878, Int32(0))
          slowness.paused()
          usleep(moving.microseconds)
        }
        close(descriptor)
        slowness.ended.signal()
      }
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    private func paused() { state.withLock { $0.pauses += 1 } }

    private func failed(_ code: Int32) {
      state.withLock {
        $0.error = WayFailure("the disk cannot be stopped: \(String(cString: strerror(code)))")
      }
    }

    /// How often it stood still until now.
    var pauses: Int {
      get throws(WayFailure) {
        let state = state.withLock { $0 }
        if let error = state.error { throw error }
        return state.pauses
      }
    }

    /// Gives how often it stood still. The disk is quick again.
    func end() throws(WayFailure) -> Int {
      state.withLock { $0.isOver = true }
      ended.wait()
      return try pauses
    }
  }

  private static func touch(_ path: String) -> String {
    close(open(path, O_WRONLY | O_CREAT, 0o600))
    return path
  }

  private static func run(
    _ program: String, _ arguments: [String], mayEnd: [Int32] = [0]
  ) async -> Bool {
    guard let process = try? ChildProcess(program, arguments),
      case .exit(let code) = try? await process.ended()
    else { return false }
    return mayEnd.contains(code)
  }
}

extension Duration {
  fileprivate var microseconds: UInt32 { UInt32(self / .microseconds(1)) }
}
