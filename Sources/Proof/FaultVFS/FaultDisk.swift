import CFaultVFS
import Synchronization

/// A disk in memory under SQLite that fails when told to, and forgets at a crash, in part and out of
/// order, what was not synced. For proofs only.
///
/// Open databases with `vfs: disk.vfs`; the disk must outlive its connections. May be used from all
/// threads.
///
/// `@unchecked Sendable`: the C disk guards everything it has with a mutex of its own, and `disk`
/// never changes.
package final class FaultDisk: @unchecked Sendable {
  /// What dies, and what it takes with it.
  package enum Crash: Sendable, CaseIterable {
    /// The process: what was written stays, but for the operation under way.
    case kill
    /// The machine: all that was not synced is gone.
    case forgetAll
    /// The machine: of what was not synced each piece is there, gone or torn, as the seed says.
    case forgetSome

    var code: ferry_crash {
      switch self {
      case .kill: FERRY_CRASH_KILL
      case .forgetAll: FERRY_CRASH_FORGET_ALL
      case .forgetSome: FERRY_CRASH_FORGET_SOME
      }
    }
  }

  /// What changes a disk.
  package enum Operation: UInt32, Sendable, CaseIterable {
    case write = 1
    case truncate, sync, create, delete, rename, syncFolder
  }

  /// SQLite counts memory no more, and runs in one process do not wait for each other to count.
  ///
  /// For the whole process, before its first connection; later it does nothing.
  package static func doNotCountMemory() { ferry_disk_do_not_count_memory() }

  /// The name to open databases with.
  package let vfs: String
  private let disk: OpaquePointer
  /// Names are used again, so that a thousand disks do not leave a thousand names.
  private static let names = Mutex((made: 0, free: [String]()))

  /// An empty disk.
  package convenience init() {
    let name = FaultDisk.nextName()
    guard let disk = ferry_disk_make(name) else { preconditionFailure("out of memory") }
    self.init(name, disk)
  }

  private init(_ name: String, _ disk: OpaquePointer) {
    vfs = name
    self.disk = disk
  }

  deinit {
    ferry_disk_free(disk)
    FaultDisk.names.withLock { $0.free.append(vfs) }
  }

  private static func nextName() -> String {
    names.withLock { names in
      if let name = names.free.popLast() { return name }
      names.made += 1
      return "ferry-fault-\(names.made)"
    }
  }

  /// How many operations have changed the disk; each has a number, counted from 0.
  package var operations: Int { Int(ferry_disk_operations(disk)) }

  /// What an operation was; nil when it is not remembered, or was made to fail.
  package func operation(_ number: Int) -> Operation? {
    Operation(rawValue: ferry_disk_operation(disk, Int64(number)).rawValue)
  }

  /// Without history a long run keeps little; then only `crash` can be asked for, not `survivors`.
  package func keepHistory(_ keeps: Bool) { ferry_disk_keep_history(disk, keeps ? 1 : 0) }

  /// Makes every sync from now on a lie.
  package func lieAboutSyncs() { ferry_disk_lie_about_syncs(disk, 1) }

  /// Lets operation `number` fail with SQLite's `code`, and so many after it; nil lets all fail.
  package func fail(at number: Int, code: Int32, times: Int? = 1) {
    ferry_disk_fail(disk, Int64(number), code, Int64(times ?? -1))
  }

  /// The disk after a crash while operation `number` was under way.
  package func survivors(at number: Int, _ crash: Crash, seed: UInt64) -> FaultDisk {
    let name = FaultDisk.nextName()
    guard let left = ferry_disk_survivors(disk, name, Int64(number), crash.code, seed) else {
      preconditionFailure("operation \(number) is not remembered, or there is no memory")
    }
    return FaultDisk(name, left)
  }

  /// Lets the crash come now. Open connections fail from then on; new ones find what is left.
  package func crash(_ crash: Crash, seed: UInt64) {
    let code = ferry_disk_crash(disk, crash.code, seed)
    precondition(code == 0, "out of memory")
  }

  /// The paths of all files.
  package var paths: [String] {
    var paths: [String] = []
    while let name = ferry_disk_file_name(disk, Int32(paths.count)) {
      paths.append(String(cString: name))
    }
    return paths
  }

  /// What a file holds; nil when there is none.
  package func bytes(_ path: String) -> [UInt8]? {
    let length = ferry_disk_file_bytes(disk, path)
    guard length >= 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(length))
    return ferry_disk_file_read(disk, path, 0, &bytes, bytes.count) == 0 ? bytes : nil
  }

  /// Turns one bit around, as damage does.
  package func flip(bit: Int, of path: String) {
    var byte: UInt8 = 0
    guard ferry_disk_file_read(disk, path, Int64(bit / 8), &byte, 1) == 0 else {
      preconditionFailure("\(path) has no bit \(bit)")
    }
    byte ^= 1 << UInt8(bit % 8)
    precondition(ferry_disk_file_damage(disk, path, Int64(bit / 8), &byte, 1) == 0)
  }
  /// Takes away what lies behind the first `length` bytes, as damage does.
  package func cut(_ path: String, to length: Int) {
    precondition(ferry_disk_file_cut(disk, path, Int64(length)) == 0, "there is no \(path)")
  }
}
