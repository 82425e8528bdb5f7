import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The database files that this process has open: none of them may be deleted or replaced.
final class OpenFile: Sendable {
  private static let counts = Mutex<[String: Int]>([:])
  private let name: String

  init(path: String) {
    let name = OpenFile.canonical(path)
    self.name = name
    OpenFile.counts.withLock { $0[name, default: 0] += 1 }
  }

  deinit {
    let name = self.name
    OpenFile.counts.withLock { counts in
      let left = (counts[name] ?? 1) - 1
      counts[name] = left > 0 ? left : nil
    }
  }

  static func isOpen(path: String) -> Bool {
    counts.withLock { $0[canonical(path)] != nil }
  }

  /// Whether the file, or the folder where its log is made, is there and may not be written. SQLite
  /// says of both only that it cannot open them.
  static func mayOnlyBeRead(_ path: String) -> Bool {
    let files = FileManager.default
    let folder = URL(filePath: path).deletingLastPathComponent().path
    guard files.fileExists(atPath: folder) else { return false }
    return !files.isWritableFile(atPath: folder)
      || files.fileExists(atPath: path) && !files.isWritableFile(atPath: path)
  }

  /// One name for one file, whatever links lead to its folder.
  private static func canonical(_ path: String) -> String {
    let url = URL(filePath: path)
    let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
    return folder.appending(path: url.lastPathComponent).path
  }
}
