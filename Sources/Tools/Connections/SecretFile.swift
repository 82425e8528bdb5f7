import FerryWorld
import Glibc

/// Reads files that hold secrets: others must not be able to read them.
enum SecretFile {
  /// `what`: as messages name it.
  static func read(_ path: String, _ what: String) throws(ConnectionsError) -> [UInt8] {
    do throws(PrivateFile.Fault) {
      // 0600 or 0400, and nothing else.
      return try PrivateFile.read(path, without: 0o177)
    } catch {
      throw
        switch error
      {
      case .unreadable:
        ConnectionsError(
          "\(what) \(path) cannot be read",
          hint: "Name a file that exists and belongs to the user of the program.")
      case .noFile: ConnectionsError("\(path) is not a file", hint: "Name a file.")
      case .open:
        ConnectionsError(
          "others can read or change \(what) \(path), and it may hold secrets",
          hint: "Type: chmod 600 \(path)")
      case .tooLarge:
        ConnectionsError("\(what) \(path) is too large", hint: "Shorten it to 1 MB.")
      }
    }
  }

  /// Writes beside it and moves it there: whoever reads it reads the old or the new one.
  static func write(_ bytes: [UInt8], to path: String) throws(ConnectionsError) {
    let new = "\(path).new"
    unlink(new)
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ConnectionsError(
        "the file \(path) cannot be written", hint: "Look at the rights of its folder.")
    }
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(descriptor, buffer.baseAddress.map { $0 + written }, bytes.count - written)
      }
      guard count > 0 else { break }
      written += count
    }
    let isWhole = written == bytes.count && fsync(descriptor) == 0
    guard close(descriptor) == 0, isWhole, rename(new, path) == 0 else {
      unlink(new)
      throw ConnectionsError(
        "the file \(path) cannot be written", hint: "Make room on its disk, and try again.")
    }
  }
}
