/// Password, policy and limits.
extension DataVault {
  /// Sets another password and salt on an unlocked vault and seals all values again under a new
  /// key; nil is the default password or salt. The vault stays unlocked in this object and is
  /// locked in all others.
  ///
  /// Errors: `.locked`; `.invalidArgument` for an empty password; `.incompatiblePassword` when the
  /// policy does not allow the password. After an error nothing was changed.
  public func changePassword(_ password: String?, salt: String?) throws(DataVaultError) {
    try checkNotEmpty(password)
    var next: VaultContents?
    try change { (contents) throws(DataVaultError) in
      try check(password, contents.file)
      contents = try contents.resealed(password: password, salt: salt, now: world.clock.now)
      next = contents
    }
    if let next { opened(next) }
  }

  /// Sets another password and salt on a vault that may be locked, also when its password has
  /// expired, and unlocks it.
  ///
  /// The new password is checked first: `.invalidArgument` when it is empty,
  /// `.incompatiblePassword` when the policy does not allow it. Then the current password is tried.
  /// Wrong passwords are counted as by `unlock`; the policy is not applied to the current password.
  public func changePassword(
    _ current: String?, currentSalt: String?, newPassword: String?, newSalt: String?
  ) throws(DataVaultError) {
    try checkNotEmpty(newPassword)
    try storage.exclusively(key) { () throws(DataVaultError) in
      let file = try file()
      try check(newPassword, file)
      let contents = try judged(file, current, currentSalt)
      var next = try contents.resealed(
        password: newPassword, salt: newSalt, now: world.clock.now)
      try storage.replace(key, with: try next.encoded())
      opened(next)
    }
  }

  private func checkNotEmpty(_ password: String?) throws(DataVaultError) {
    guard password != "" else {
      throw DataVaultError(
        .invalidArgument,
        "the new password for vault \(name) is empty; pass nil for the default password")
    }
  }

  /// A default password to come is drawn later; all of them have as many different characters.
  private func check(_ password: String?, _ file: VaultFile) throws(DataVaultError) {
    let violation = file.policy?.violation(of: password, defaultText: file.defaultPasswordText)
    if let violation { throw incompatible(violation) }
  }

  /// Whether both the password and the salt are the default ones; `.locked` on a locked vault.
  public func isDefaultPasswordUsed() throws(DataVaultError) -> Bool {
    let directory = try contents().directory
    return directory.usesDefaultPassword && directory.usesDefaultSalt
  }

  /// Stores the policy, or removes it with nil, and locks the vault in all objects: the next
  /// `unlock` checks the password against the policy.
  ///
  /// `.invalidArgument` names a number that is negative or above 2^31 - 1; then the vault stays
  /// unlocked and keeps its policy.
  public func setPasswordPolicy(_ policy: PasswordPolicy?) throws(DataVaultError) {
    if let name = policy?.wrongNumber {
      throw DataVaultError(
        .invalidArgument, "\(name) of the policy for vault \(self.name) is negative or too large")
    }
    try change { (contents) throws(DataVaultError) in
      contents.file.policy = policy
      contents.file.epoch &+= 1
    }
    lock()
  }

  /// The policy; a policy without any rule if none was set. `.locked` on a locked vault.
  public func getPasswordPolicy() throws(DataVaultError) -> PasswordPolicy {
    try contents().file.policy ?? PasswordPolicy()
  }

  /// Sets the time after which the vault locks itself if it has no policy; zero, the default, is
  /// never. The time begins now. `.invalidArgument` when negative.
  public func setLockTimeout(_ timeout: Duration) throws(DataVaultError) {
    guard Limits.isTimeout(timeout) else {
      throw DataVaultError(
        .invalidArgument, "the lock timeout for vault \(name) is negative or too large")
    }
    var next: VaultContents?
    try change { (contents) throws(DataVaultError) in
      contents.directory.ownLockTimeout = timeout
      next = contents
    }
    if let next { opened(next) }
  }

  /// The timeout in force: the policy's timeout if the vault has a policy.
  public func getLockTimeout() throws(DataVaultError) -> Duration {
    try contents().lockTimeout
  }

  /// Sets how many wrong passwords are allowed if the vault has no policy; 0, the default, is no
  /// limit. `.invalidArgument` when negative.
  public func setRetryLimit(_ limit: Int) throws(DataVaultError) {
    guard (0...Limits.numberLimit).contains(limit) else {
      throw DataVaultError(
        .invalidArgument, "the retry limit for vault \(name) is negative or too large")
    }
    try change { (contents) throws(DataVaultError) in
      contents.file.ownRetryLimit = UInt32(limit)
    }
  }

  /// The limit in force: the policy's limit if the vault has a policy.
  public func getRetryLimit() throws(DataVaultError) -> Int { try contents().file.retryLimit }
}
