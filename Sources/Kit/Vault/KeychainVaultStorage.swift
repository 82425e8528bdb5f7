#if canImport(Security)
  import FerryWorld
  import Foundation
  import Security

  /// Vaults as items of the keychain of this device. They are not part of a backup, and can be read
  /// after the device was unlocked once since its start.
  ///
  /// With an access group, all apps with the same entitlement share the vaults. Calls of several
  /// processes wait for each other with a lock file in `lockFolder`; give apps that share a group
  /// the folder of their app group.
  public struct KeychainVaultStorage: VaultStorage {
    private let accessGroup: String?
    private let locks: FolderVaultStorage

    public init(accessGroup: String? = nil, lockFolder: String) {
      self.accessGroup = accessGroup
      locks = FolderVaultStorage(folder: lockFolder)
    }

    public func read(_ key: String) throws(DataVaultError) -> [UInt8]? {
      var query = item(key)
      query[kSecReturnData] = true
      query[kSecMatchLimit] = kSecMatchLimitOne
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      guard status == errSecSuccess, let data = found as? Data else {
        throw problem(.cannotRead, status)
      }
      return [UInt8](data)
    }

    public func replace(_ key: String, with bytes: [UInt8]) throws(DataVaultError) {
      let update: [CFString: Any] = [kSecValueData: Data(bytes)]
      let status = SecItemUpdate(item(key) as CFDictionary, update as CFDictionary)
      if status == errSecSuccess { return }
      guard status == errSecItemNotFound else { throw problem(.cannotWrite, status) }
      var query = item(key)
      query[kSecValueData] = Data(bytes)
      query[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
      let added = SecItemAdd(query as CFDictionary, nil)
      guard added == errSecSuccess else { throw problem(.cannotWrite, added) }
    }

    public func remove(_ key: String) throws(DataVaultError) -> Bool {
      let status = SecItemDelete(item(key) as CFDictionary)
      if status == errSecItemNotFound { return false }
      guard status == errSecSuccess else { throw problem(.cannotWrite, status) }
      return true
    }

    public func prepare() throws(DataVaultError) { try locks.prepare() }

    public func exclusively<Result>(
      _ key: String, _ body: () throws(DataVaultError) -> Result
    ) throws(DataVaultError) -> Result {
      try locks.prepare()
      return try locks.exclusively(key, body)
    }

    private func item(_ key: String) -> [CFString: Any] {
      var query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "Ferry vault",
        kSecAttrAccount: key, kSecUseDataProtectionKeychain: true,
      ]
      if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
      return query
    }

    private func problem(
      _ reason: DataVaultError.Reason, _ status: OSStatus
    ) -> DataVaultError {
      DataVaultError(reason, "the keychain reports \(status)")
    }
  }
#endif
