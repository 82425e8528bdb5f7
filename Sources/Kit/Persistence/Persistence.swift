import FerryCrypto
import FerryWorld
import Synchronization

/// Keeps objects, bytes, streams and caches of an app in a folder, by name, sealed by default.
///
/// Stored data is on the disk when the call returns. After a crash a name has its earlier data or
/// the complete new data, never a part. Calls block their thread for the disk and may be made from
/// any thread. Two processes may use one store.
public final class Persistence: Sendable {
  private let place: Mutex<Place>
  let files: any FileAccess
  private let lockWait: Duration
  /// Names the half-written files of this process.
  private let session: Session
  var sessionName: String { session.name }

  /// The folder and keys, which a change of the folder or mode exchanges.
  struct Place: Sendable {
    var folder: String
    var keys: StoreKeys
  }

  /// Opens the store of a folder, or creates one.
  ///
  /// Secure mode is the default. Its `key` must have 32 bytes; `generateSecretKey` makes one.
  /// Errors: `.keyMissing` for nil, `.wrongKey` for a key that does not belong to the store,
  /// `.otherMode` if the store has another mode. `lockWait` is how long a call waits for another
  /// process before it throws `.busy`.
  public init(
    folder: String, isSecure: Bool = true, key: [UInt8]?, files: any FileAccess = SystemFiles(),
    lockWait: Duration = .seconds(30)
  ) throws(PersistenceError) {
    let key = try Persistence.checked(key, isSecure: isSecure)
    self.files = files
    self.lockWait = lockWait
    try writing { () throws(FileError) in try files.createFolder(folder) }
    let lock = try writing { () throws(FileError) in
      try files.lock("\(folder)/store.lock", within: lockWait)
    }
    defer { lock.release() }
    let keys = try Persistence.opened(folder, key, files)
    session = try Session(folder, files)
    place = Mutex(Place(folder: folder, keys: keys))
  }

  static func checked(
    _ key: [UInt8]?, isSecure: Bool
  ) throws(PersistenceError) -> [UInt8]? {
    guard isSecure else { return nil }
    guard let key else {
      throw PersistenceError(.keyMissing, "secure mode was asked for without a key")
    }
    guard key.count == SealingKey.keyBytes else {
      throw PersistenceError(
        .invalidArgument, "the key has \(key.count) bytes; it must have \(SealingKey.keyBytes)")
    }
    return key
  }

  /// The keys of the store in a folder; makes the store, and finishes what was begun.
  private static func opened(
    _ folder: String, _ key: [UInt8]?, _ files: any FileAccess
  ) throws(PersistenceError) -> StoreKeys {
    let names = try reading { () throws(FileError) in try files.names(in: folder) } ?? []
    guard let manifest = try manifest(folder, files) else {
      guard !names.contains(where: { $0.hasSuffix(".data") }) else {
        throw PersistenceError(
          .damaged, "\(folder) has data but no \(Manifest.fileName)")
      }
      let keys = try StoreKeys(id: randomBytes(Manifest.idBytes), key: key)
      try write(try keys.manifest(), folder, files)
      return keys
    }
    switch manifest.state {
    case .normal: break
    case .wiping: try wipe(manifest, folder, files)
    case .arriving:
      throw PersistenceError(
        .changedElsewhere,
        "a move of a store to \(folder) did not finish; the store is still in its old folder")
    case .moved:
      throw PersistenceError(.changedElsewhere, "the store of \(folder) was moved elsewhere")
    }
    guard manifest.isSecure == (key != nil) else {
      throw PersistenceError(
        .otherMode, "the store of \(folder) is \(manifest.isSecure ? "sealed" : "not sealed")")
    }
    let keys = try StoreKeys(id: manifest.id, key: key)
    guard keys.opens(manifest) else {
      throw PersistenceError(.wrongKey, "the key does not open the store of \(folder)")
    }
    return keys
  }

  /// Makes a random key for secure mode. Keep it in a vault. The only algorithm is "AES"; another
  /// one is `.invalidArgument`.
  public static func generateSecretKey(
    algorithm: String = "AES"
  ) throws(PersistenceError) -> [UInt8] {
    guard algorithm == "AES" else {
      throw PersistenceError(.invalidArgument, "the algorithm \(algorithm) is unknown")
    }
    return randomBytes(SealingKey.keyBytes)
  }

  /// Where the store is.
  public var folder: String { now.folder }
  /// Whether the stored data is sealed.
  public var isSecure: Bool { now.keys.sealing != nil }
  /// The protection, in the reference's words.
  public var storagePolicy: StoragePolicy { isSecure ? .fullProtection : .noProtection }

  var now: Place { place.withLock { $0 } }

  func become(_ next: Place) { place.withLock { $0 = next } }

  /// Keeps all other processes from changing the store while `body` runs.
  func exclusively<Result>(
    _ folder: String, _ body: () throws(PersistenceError) -> Result
  ) throws(PersistenceError) -> Result {
    let lock = try writing { () throws(FileError) in
      try files.lock("\(folder)/store.lock", within: lockWait)
    }
    defer { lock.release() }
    return try body()
  }

  /// Throws when the store on the disk is not the one that was opened.
  func checkUnchanged(_ place: Place) throws(PersistenceError) {
    let manifest = try Persistence.manifest(place.folder, files)
    guard manifest?.id == place.keys.id, manifest?.state == .normal else {
      throw PersistenceError(
        .changedElsewhere, "the store of \(place.folder) was wiped, moved or created again")
    }
  }

  static func manifest(
    _ folder: String, _ files: any FileAccess
  ) throws(PersistenceError) -> Manifest? {
    let bytes = try reading { () throws(FileError) in
      try files.read("\(folder)/\(Manifest.fileName)", atMost: 4_096)
    }
    guard let bytes else { return nil }
    return try Manifest(bytes, folder: folder)
  }

  static func write(
    _ manifest: Manifest, _ folder: String, _ files: any FileAccess
  ) throws(PersistenceError) {
    try writing { () throws(FileError) in
      try files.replace("\(folder)/\(Manifest.fileName)", with: manifest.encoded())
    }
  }
}

/// The reference's two policies, with its numbers.
public enum StoragePolicy: Int, Sendable, Hashable {
  /// The stored data is sealed; the default.
  case fullProtection = 0
  case noProtection = 1
}

/// Half-written files carry the name of a session, and go when its process is no more.
final class Session: Sendable {
  let name: String
  private let path: String
  private let files: any FileAccess
  private let lock: Mutex<(any FileLock)?>

  /// Inside the store's lock only.
  init(_ folder: String, _ files: any FileAccess) throws(PersistenceError) {
    self.files = files
    name = hexadecimal(randomBytes(8))
    path = "\(folder)/\(name).session"
    lock = Mutex(nil)
    let names = try reading { () throws(FileError) in try files.names(in: folder) } ?? []
    for other in names where other.hasSuffix(".session") {
      // Whose lock can be had has ended.
      let path = "\(folder)/\(other)"
      guard let dead = try? files.lock(path, within: .zero) else { continue }
      defer { dead.release() }
      for draft in names where draft.hasSuffix("." + other.dropLast(8) + ".new") {
        try writing { () throws(FileError) in try files.remove("\(folder)/\(draft)") }
      }
      try writing { () throws(FileError) in try files.remove(path) }
    }
    let taken = try writing { () throws(FileError) in try files.lock(path, within: .zero) }
    lock.withLock { $0 = taken }
  }

  deinit { _ = try? files.remove(path) }
}
