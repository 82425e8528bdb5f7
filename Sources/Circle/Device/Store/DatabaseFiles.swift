import FerryCrypto
import FerrySQLite
import FerryText

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

  /// What a database is called while it is deleted.
  static let deleted: String = "-deleted"

  /// The database loses its name first, in one step: the other files that a
  /// crash leaves are then known to belong to nothing.
  static func delete(_ path: String) throws(FerryError) {
    guard !OpenFile.isOpen(path: path) else {
      throw FerryError(
        .inUse, "the database \(path) is open", hint: "Close it first: `await database.close()`.")
    }
    try FileOwner.checkDeletion(path)
    if exists(path) {
      do { try PlainFile.move(path, to: path + deleted) } catch { throw notDeleted(path, error) }
    }
    for file in besides.map({ path + $0 }) + [path + deleted] where exists(file) {
      do { try FileManager.default.removeItem(atPath: file) } catch {
        throw notDeleted(file, error)
      }
    }
  }

  /// Ends a deletion that a crash has cut short.
  static func finishDeletion(_ path: String) throws(FerryError) {
    guard exists(path + deleted) else { return }
    // A database that is there again was made since, by an older Ferry.
    let files = exists(path) ? [] : besides
    for file in files.map({ path + $0 }) + [path + deleted] where exists(file) {
      do { try FileManager.default.removeItem(atPath: file) } catch {
        throw notDeleted(file, error)
      }
    }
  }

  private static func notDeleted(_ file: String, _ error: any Error) -> FerryError {
    FerryError(
      .store, "the file \(file) cannot be deleted: \(error)",
      hint: "Check that this app may write to its folder.", cause: error)
  }

  /// A file name for a user, however the name is written: small letters, digits, `.`, `_` and `-`
  /// stand for themselves, since there are file systems that do not tell a letter from its capital.
  static func wholeName(_ package: String, _ user: String) -> String {
    let safe = Set("abcdefghijklmnopqrstuvwxyz0123456789._-".utf8)
    var name = "\(package)-"
    for byte in user.utf8 {
      if safe.contains(byte) {
        name.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        name += "%" + Hexadecimal.encode(CollectionOfOne(byte), isUppercase: true)
      }
    }
    return name + ending
  }

  /// The same, where it is no longer than a file's name may be; else its beginning, and a digest of
  /// all of it behind a tilde, which no whole name has.
  static func name(_ package: String, _ user: String) -> String {
    let whole = wholeName(package, user)
    guard whole.utf8.count > longestNameBytes else { return whole }
    let digest = "~" + hexadecimal(SHA256Digest.hash(Array(whole.utf8)))
    let room = longestNameBytes - digest.utf8.count - ending.utf8.count
    return String(decoding: whole.utf8.prefix(room), as: UTF8.self) + digest + ending
  }

  private static let ending = ".ferry"
  /// File systems take 255 bytes; `-sealing-journal` and its like are added to it.
  private static let longestNameBytes = 230
}
