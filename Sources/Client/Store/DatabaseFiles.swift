#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The files that belong to one local database.
enum DatabaseFiles {
  /// What SQLite and a key change may have left beside it.
  static let besides: [String] =
    ["-wal", "-shm", "-journal", "-sealing", "-sealing-wal", "-sealing-journal"]
    + ProcessLease.Work.allCases.map(ProcessLease.suffix)

  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// The database first: what a crash leaves of the rest belongs to nothing.
  static func delete(_ path: String) throws(FerryError) {
    guard !OpenFile.isOpen(path: path) else {
      throw FerryError(
        .inUse, "the database \(path) is open", hint: "Close it first: `await database.close()`.")
    }
    for file in [path] + besides.map({ path + $0 }) where exists(file) {
      do { try FileManager.default.removeItem(atPath: file) } catch {
        throw FerryError(
          .store, "the file \(file) cannot be deleted: \(error)",
          hint: "Check that its folder may be written.", cause: error)
      }
    }
  }

  /// A file name for a user, however the name is written: small letters, digits, `.`, `_` and `-`
  /// stand for themselves, since there are file systems that do not tell a letter from its capital.
  static func name(_ package: String, _ user: String) -> String {
    let safe = Set("abcdefghijklmnopqrstuvwxyz0123456789._-".utf8)
    var name = "\(package)-"
    for byte in user.utf8 {
      if safe.contains(byte) {
        name.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        name += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return name + ".ferry"
  }
}
