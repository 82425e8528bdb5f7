public import FerryWorld

/// A vault keeps the tokens and the key of a Ferry database, under a password, while it is unlocked.
///
/// The secrets are values of the vault as all others; each call on a locked vault throws `.locked`.
extension DataVault: SecretStore {
  public func secret(_ name: String) throws(DataVaultError) -> [UInt8]? { try getValue(name) }

  public func setSecret(_ name: String, _ value: [UInt8]) throws(DataVaultError) {
    try setValue(name, value: value)
  }

  public func addSecret(_ name: String, _ value: [UInt8]) throws(DataVaultError) -> [UInt8] {
    try addValue(name, value: value)
  }

  public func removeSecret(_ name: String) throws(DataVaultError) { try deleteValue(name) }
}
