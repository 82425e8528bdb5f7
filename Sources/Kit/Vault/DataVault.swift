import FerryCrypto
import FerryWorld
import Synchronization

/// A named, sealed store for small secrets, under a password and a salt.
///
/// A vault is locked or unlocked. A locked vault neither returns nor accepts values. Each change is
/// made in one step and is on the disk when its call returns: after a crash the vault has the state
/// before or after it.
///
/// All calls block their thread while a file or two are read or written; `unlock` and
/// `changePassword` block it for a good part of a second. They may be made from any thread. Two
/// objects for the same vault, also in two processes, see each other's changes.
public final class DataVault: Sendable {
  public let name: String
  let key: String
  let storage: any VaultStorage
  let world: World
  private let state = Mutex<Opening?>(nil)

  /// What is known while the vault is unlocked.
  struct Opening: Sendable {
    var key: SealingKey
    var epoch: UInt32
    /// The end of the lock timeout, on the clock's uptime; nil is never.
    var end: Duration?
    var timeout: Duration
  }

  init(name: String, key: String, storage: any VaultStorage, world: World) {
    self.name = name
    self.key = key
    self.storage = storage
    self.world = world
  }

  /// Whether values can be neither read nor written; true also after the lock timeout.
  public var isLocked: Bool { opening == nil }

  /// Forgets the key. Has no effect on a locked vault.
  public func lock() { state.withLock { $0 = nil } }

  /// Begins the lock timeout again from now; `.locked` on a locked vault.
  public func resetLockTimeout() throws(DataVaultError) {
    guard opening != nil else { throw lockedError }
    state.withLock { state in
      guard let timeout = state?.timeout else { return }
      state?.end = self.end(timeout)
    }
  }

  /// Opens the vault; nil is the default password or salt. A vault that is unlocked is locked
  /// first.
  ///
  /// `.invalidPassword` when password or salt is wrong. The try is counted on the disk before it is
  /// checked; one wrong try more than the retry limit deletes the vault. `.incompatiblePassword`
  /// when they are right, but the policy does not allow the password or it has expired. The vault
  /// then stays locked; set another password with the `changePassword` that takes four arguments.
  public func unlock(_ password: String?, salt: String?) throws(DataVaultError) {
    try storage.exclusively(key) { () throws(DataVaultError) in
      lock()
      var contents = try judged(try file(), password, salt)
      contents.file.tries = 0
      let now = world.clock.now
      contents.directory.latestTime = max(now, contents.directory.latestTime)
      let violation = violation(of: password, contents)
      try storage.replace(key, with: try contents.encoded())
      if let violation { throw incompatible(violation) }
      opened(contents)
    }
  }

  private func violation(
    of password: String?, _ contents: VaultContents
  ) -> PasswordViolation? {
    guard let policy = contents.file.policy else { return nil }
    let text = contents.file.defaultPasswordText
    if let violation = policy.violation(of: password, defaultText: text) { return violation }
    let isExpired = policy.isExpired(
      set: contents.directory.passwordSet, now: contents.directory.latestTime)
    return isExpired ? .expired : nil
  }

  func incompatible(_ violation: PasswordViolation) -> DataVaultError {
    DataVaultError(
      .incompatiblePassword, "vault \(name): \(violation.sentence)", violation: violation)
  }

  /// The open vault, after the try was counted. Only inside `exclusively`.
  func judged(
    _ file: VaultFile, _ password: String?, _ salt: String?
  ) throws(DataVaultError) -> VaultContents {
    var file = file
    let limit = file.retryLimit
    // A try beyond the limit was begun and never judged: the process was ended meanwhile.
    if limit > 0 && Int(file.tries) > limit { throw try deleted() }
    if file.tries < .max { file.tries += 1 }
    try storage.replace(key, with: file.encoded())
    let dataKey: SealingKey?
    do throws(DataVaultError) {
      dataKey = try file.dataKey(password: password, salt: salt)
    } catch {
      // Nothing was judged, so nothing is counted.
      file.tries -= 1
      try storage.replace(key, with: file.encoded())
      throw error
    }
    guard let dataKey else {
      if limit > 0 && Int(file.tries) > limit { throw try deleted() }
      let rest = limit > 0 ? ", \(limit - Int(file.tries)) of \(limit) wrong tries are left" : ""
      throw DataVaultError(
        .invalidPassword, "password and salt do not open vault \(name)\(rest)")
    }
    guard let contents = try VaultContents(file, key: dataKey) else {
      throw DataVaultError(.damaged, "the directory of vault \(name) is damaged")
    }
    return contents
  }

  private func deleted() throws(DataVaultError) -> DataVaultError {
    _ = try storage.remove(key)
    return DataVaultError(
      .invalidPassword, "vault \(name) was deleted after too many wrong passwords",
      isVaultDeleted: true)
  }
}

extension DataVault {
  var lockedError: DataVaultError { DataVaultError(.locked, "vault \(name) is locked") }

  /// What is known while the vault is unlocked; nil also after the lock timeout.
  private var opening: Opening? {
    let now = world.clock.uptime
    return state.withLock { state in
      if let end = state?.end, now >= end { state = nil }
      return state
    }
  }

  private func end(_ timeout: Duration) -> Duration? {
    timeout > .zero ? world.clock.uptime + timeout : nil
  }

  /// From now on the vault is unlocked.
  func opened(_ contents: VaultContents) {
    let opening = Opening(
      key: contents.key, epoch: contents.file.epoch, end: end(contents.lockTimeout),
      timeout: contents.lockTimeout)
    state.withLock { $0 = opening }
  }

  func file() throws(DataVaultError) -> VaultFile {
    guard let bytes = try storage.read(key) else {
      lock()
      throw DataVaults.missing(name)
    }
    return try VaultFile(bytes, vault: name)
  }

  /// The contents as they are on the disk now; `.locked` when the vault is, or when another one has
  /// changed its password or its policy since it was unlocked here.
  func contents() throws(DataVaultError) -> VaultContents {
    guard let opening else { throw lockedError }
    let file = try file()
    guard
      file.epoch == opening.epoch, let contents = try VaultContents(file, key: opening.key)
    else {
      lock()
      throw lockedError
    }
    return contents
  }

  /// Reads, changes and stores the contents while nobody else does.
  func change<Result>(
    _ body: (inout VaultContents) throws(DataVaultError) -> Result
  ) throws(DataVaultError) -> Result {
    guard opening != nil else { throw lockedError }
    return try storage.exclusively(key) { () throws(DataVaultError) in
      var contents = try contents()
      let result = try body(&contents)
      try storage.replace(key, with: try contents.encoded())
      return result
    }
  }
}
