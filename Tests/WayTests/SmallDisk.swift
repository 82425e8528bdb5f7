import Foundation
import Glibc

/// A disk of its own for a test: a few megabytes of memory, or a file with a file system in it that
/// can be made to stand still. Gone with the value.
final class SmallDisk: Sendable {
  let path: String
  private let place: Place

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

  private init(_ place: Place, _ path: String) {
    self.place = place
    self.path = path
  }

  deinit {
    // Whoever is still at work there keeps it until they have ended.
    umount2(path, 2)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Takes all the room that is left.
  func fill() throws {
    let descriptor = open(file("filler"), O_WRONLY | O_CREAT, 0o600)
    guard descriptor >= 0 else { throw WayFailure("the disk \(path) cannot be written") }
    defer { close(descriptor) }
    let block = [UInt8](repeating: 1, count: 4_096)
    while write(descriptor, block, block.count) > 0 {}
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

  private static func touch(_ path: String) -> String {
    close(open(path, O_WRONLY | O_CREAT, 0o600))
    return path
  }

  private static func run(_ program: String, _ arguments: [String]) async -> Bool {
    guard let process = try? ChildProcess(program, arguments) else { return false }
    return (try? await process.ended(within: 20)) == .exit(0)
  }
}
