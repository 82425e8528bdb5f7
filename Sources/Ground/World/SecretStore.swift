/// Keeps small secrets under names: tokens, and the key of a database.
///
/// `FileSecrets` keeps them in files that only this user may read. A vault or a keychain can replace
/// it. All calls may block their thread and come from any thread. Errors are the store's own.
public protocol SecretStore: AnyObject, Sendable {
  /// The secret with this name; nil: there is none. Throws where it cannot be read now, as in a
  /// locked vault.
  func secret(_ name: String) throws -> [UInt8]?
  /// Stores a secret and replaces the one with this name. It is on the disk afterwards.
  func setSecret(_ name: String, _ value: [UInt8]) throws
  /// Stores a secret unless there is one with this name. Returns the one that is there afterwards,
  /// the same to all threads and processes that ask at once.
  func addSecret(_ name: String, _ value: [UInt8]) throws -> [UInt8]
  /// Removes the secret with this name, if there is one.
  func removeSecret(_ name: String) throws
}

/// Secrets in a folder, each in a file of its own that only this user may read (mode 0600).
///
/// It hides them from other users of the machine, not from somebody who has its disk.
public final class FileSecrets: SecretStore {
  /// More is no secret but a file of somebody else.
  static let longestBytes = 1 << 20
  private let folder: String
  private let files: any FileAccess

  /// The folder is made with the first secret, for this user alone.
  public init(folder: String, files: any FileAccess = SystemFiles()) {
    self.folder = folder
    self.files = files
  }

  public func secret(_ name: String) throws(FileError) -> [UInt8]? {
    try files.read(path(name), atMost: FileSecrets.longestBytes)
  }

  public func setSecret(_ name: String, _ value: [UInt8]) throws(FileError) {
    try files.createFolder(folder)
    let lock = try locked()
    defer { lock.release() }
    try files.replace(path(name), with: value)
  }

  public func addSecret(_ name: String, _ value: [UInt8]) throws(FileError) -> [UInt8] {
    try files.createFolder(folder)
    let lock = try locked()
    defer { lock.release() }
    if let known = try secret(name) { return known }
    try files.replace(path(name), with: value)
    return value
  }

  public func removeSecret(_ name: String) throws(FileError) {
    _ = try files.remove(path(name))
  }

  private func locked() throws(FileError) -> any FileLock {
    try files.lock("\(folder)/.lock", within: .seconds(5))
  }

  /// Whatever the name is, its file is in the folder.
  private func path(_ name: String) -> String {
    var file = "\(folder)/secret-"
    let hex = Array("0123456789abcdef")
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."):
        file.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        file += "_\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
      }
    }
    return file
  }
}
