/// Where the sealed bytes of vaults are kept, one item per vault.
///
/// The kit has a storage in a folder, and one in the keychain on Apple's systems. An app may write
/// its own. The bytes that it gets are already sealed; `key` consists of hexadecimal digits.
public protocol VaultStorage: Sendable {
  /// nil when there is none.
  func read(_ key: String) throws(DataVaultError) -> [UInt8]?
  /// Stores the bytes in one step: after a crash the old ones are there or the new ones.
  func replace(_ key: String, with bytes: [UInt8]) throws(DataVaultError)
  /// False when there was none.
  func remove(_ key: String) throws(DataVaultError) -> Bool
  /// Makes the place where the first vault can be stored.
  func prepare() throws(DataVaultError)
  /// Keeps all others who ask for this vault waiting until `body` has returned, in this process and
  /// where others share the storage in theirs too. `.busy` after a bounded time.
  func exclusively<Result>(
    _ key: String, _ body: () throws(DataVaultError) -> Result
  ) throws(DataVaultError) -> Result
}
