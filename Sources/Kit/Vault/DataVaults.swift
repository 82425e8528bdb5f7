import FerryCrypto
import FerryWorld

/// The vaults of one storage: creates, finds and deletes them by name.
///
/// Vaults of a private storage belong to this app alone. A shared storage belongs to an access
/// group: all apps of the group see the same vaults, and an app that deletes a vault deletes it for
/// all.
public struct DataVaults: Sendable {
  private let storage: any VaultStorage
  private let world: World
  private let derivation: Derivation

  /// `derivation` says how a password becomes the key of vaults that are created from now on;
  /// existing vaults keep their own derivation.
  public init(
    storage: any VaultStorage, world: World = .system(), derivation: Derivation = .standard
  ) {
    self.storage = storage
    self.world = world
    self.derivation = derivation
  }

  /// Private vaults as files of a folder, which is created with the first vault.
  public init(folder: String, world: World = .system()) {
    self.init(storage: FolderVaultStorage(folder: folder), world: world)
  }

  /// Vaults that the apps of an access group share, in a folder that all of them can reach. Groups
  /// do not see each other's vaults. An empty group is `.invalidArgument`.
  public static func shared(
    accessGroup: String, in folder: String, world: World = .system(),
    derivation: Derivation = .standard
  ) throws(DataVaultError) -> DataVaults {
    guard !accessGroup.isEmpty else {
      throw DataVaultError(.invalidArgument, "the access group is empty")
    }
    let name = hexadecimal(SHA256Digest.hash(Array(accessGroup.utf8)).prefix(16))
    return DataVaults(
      storage: FolderVaultStorage(folder: "\(folder)/group-\(name)"), world: world,
      derivation: derivation)
  }

  /// Creates a vault without a policy and unlocks it.
  ///
  /// nil is the default password or salt: a random one that is stored beside the vault. It does not
  /// protect the vault from anybody who has the device's files. `.invalidArgument` for an empty
  /// name or password, or a name that is in use. Blocks its thread for a good part of a second.
  public func createVault(
    _ name: String, password: String?, salt: String?
  ) throws(DataVaultError) -> DataVault {
    let key = try DataVaults.key(name)
    guard password != "" else {
      throw DataVaultError(
        .invalidArgument,
        "the password for vault \(name) is empty; pass nil for the default password")
    }
    try storage.prepare()
    return try storage.exclusively(key) { () throws(DataVaultError) in
      guard try storage.read(key) == nil else {
        throw DataVaultError(.invalidArgument, "vault \(name) already exists")
      }
      let file = VaultFile(
        name: name, id: randomBytes(VaultFile.idBytes), derivation: derivation,
        salt: randomBytes(VaultFile.saltBytes),
        defaultPassword: randomBytes(VaultFile.defaultBytes),
        defaultSalt: randomBytes(VaultFile.defaultBytes))
      var contents = try VaultContents(
        new: file, password: password, salt: salt, now: world.clock.now)
      try storage.replace(key, with: try contents.encoded())
      let vault = DataVault(name: name, key: key, storage: storage, world: world)
      vault.opened(contents)
      return vault
    }
  }

  /// Whether there is a vault with this name, locked or not.
  public func vaultExists(_ name: String) throws(DataVaultError) -> Bool {
    try storage.read(try DataVaults.key(name)) != nil
  }

  /// The vault with this name, locked. `.doesNotExist` when there is none, `.damaged` when its
  /// bytes are damaged or were changed.
  public func getVault(_ name: String) throws(DataVaultError) -> DataVault {
    let key = try DataVaults.key(name)
    guard let bytes = try storage.read(key) else { throw DataVaults.missing(name) }
    _ = try VaultFile(bytes, vault: name)
    return DataVault(name: name, key: key, storage: storage, world: world)
  }

  /// Deletes a vault with all its values, for all apps that share it. It needs no password and also
  /// works on a locked or damaged vault. `.doesNotExist` when there is none.
  public func deleteVault(_ name: String) throws(DataVaultError) {
    let key = try DataVaults.key(name)
    let isRemoved = try storage.exclusively(key) { () throws(DataVaultError) in
      try storage.remove(key)
    }
    guard isRemoved else { throw DataVaults.missing(name) }
  }

  static func missing(_ name: String) -> DataVaultError {
    DataVaultError(.doesNotExist, "there is no vault \(name)")
  }

  /// Digits that stand for a name: any name can be stored, and no two differ only by case.
  static func key(_ name: String) throws(DataVaultError) -> String {
    try checkName(name, of: "a vault")
    return hexadecimal(SHA256Digest.hash(name.canonicalBytes).prefix(16))
  }

  static func checkName(_ name: String, of what: String) throws(DataVaultError) {
    guard !name.isEmpty else {
      throw DataVaultError(.invalidArgument, "the name of \(what) is empty")
    }
    guard name.utf8.count <= Limits.nameBytes else {
      throw DataVaultError(
        .nameTooLong,
        "the name of \(what) has \(name.utf8.count) bytes; at most \(Limits.nameBytes) are allowed")
    }
  }
}
