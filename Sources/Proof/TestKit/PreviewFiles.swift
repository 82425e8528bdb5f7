import Ferry
import FerrySQLite
import Foundation
import Synchronization

/// The files of previews: those of a process that has ended are deleted by the next preview.
struct PreviewFiles {
  let folder: URL
  private static let prefix = "ferry-preview-"

  /// Locks that tell other processes that the files are used; the system takes them back when this
  /// process ends, however it ends.
  private static let locks = Mutex<[SharedConnection]>([])

  /// A path for one more database.
  func newPath() throws(FerryError) -> String {
    deleteUnused()
    let path = folder.appending(path: "\(PreviewFiles.prefix)\(UUID().uuidString).db").path
    do throws(SQLiteError) {
      let lock = try PreviewFiles.lock(path)
      PreviewFiles.locks.withLock { $0.append(lock) }
    } catch {
      throw FerryError(
        .store, "the file of a preview cannot be made: \(error.message)",
        hint: "Check that \(folder.path) exists and may be written.", cause: error)
    }
    return path
  }

  private func deleteUnused() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let previews = names.filter { $0.hasPrefix(PreviewFiles.prefix) }
    for name in previews where name.hasSuffix(".db") {
      // Somebody holds it who lives.
      guard let lock = try? PreviewFiles.lock(folder.appending(path: name).path) else { continue }
      for other in previews where other.hasPrefix(name) {
        try? FileManager.default.removeItem(at: folder.appending(path: other))
      }
      _ = consume lock
      try? FileManager.default.removeItem(at: folder.appending(path: name + "-used"))
    }
  }

  private static func lock(_ path: String) throws(SQLiteError) -> SharedConnection {
    let connection = try Connection(path: path + "-used", busyTimeoutMilliseconds: 0)
    try connection.execute("BEGIN EXCLUSIVE")
    return SharedConnection(connection)
  }
}
