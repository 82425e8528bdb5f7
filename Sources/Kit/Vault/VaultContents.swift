import FerryCrypto
import FerryWorld

/// What is sealed beside the values.
struct VaultDirectory: Equatable {
  var usesDefaultPassword: Bool
  var usesDefaultSalt: Bool
  var passwordSet: Timestamp
  /// The latest time that this vault has seen, so that a clock that is set back makes no password
  /// young again.
  var latestTime: Timestamp
  var ownLockTimeout: Duration = .zero
}

/// A vault that is open: its file, its key and its directory.
struct VaultContents {
  var file: VaultFile
  let key: SealingKey
  var directory: VaultDirectory

  private enum Kind {
    static let key: UInt8 = 0
    static let directory: UInt8 = 1
    static let value: UInt8 = 2
  }

  var lockTimeout: Duration { file.policy?.lockTimeout ?? directory.ownLockTimeout }

  /// nil when the key does not open the directory.
  init?(_ file: VaultFile, key: SealingKey) throws(DataVaultError) {
    guard
      let bytes = key.open(
        file.sealedDirectory, associated: file.associated(Kind.directory))
    else { return nil }
    var reader = VaultReader(bytes)
    guard
      let flags = reader.number(UInt8.self), let set = reader.number(Int64.self),
      let latest = reader.number(Int64.self), let timeout = reader.number(Int64.self),
      let guarded = reader.piece(), guarded == VaultContents.guarded(file)
    else {
      throw DataVaultError(
        .damaged, "the policy or the values of vault \(file.name) were changed without its password"
      )
    }
    self.file = file
    self.key = key
    directory = VaultDirectory(
      usesDefaultPassword: flags & 1 != 0, usesDefaultSalt: flags & 2 != 0,
      passwordSet: Timestamp(milliseconds: set), latestTime: Timestamp(milliseconds: latest),
      ownLockTimeout: .milliseconds(timeout))
  }

  init(new file: VaultFile, key: SealingKey, directory: VaultDirectory) {
    self.file = file
    self.key = key
    self.directory = directory
  }

  /// What stands in clear, or in pieces, and must not be changed without the password.
  private static func guarded(_ file: VaultFile) -> [UInt8] {
    var writer = VaultWriter()
    writer.number(file.epoch)
    writer.number(file.ownRetryLimit)
    writer.piece(file.policy?.encoded ?? [])
    writer.bytes += file.valuesDigest
    return writer.bytes
  }

  /// The bytes to store, with the directory sealed anew.
  mutating func encoded() throws(DataVaultError) -> [UInt8] {
    var writer = VaultWriter()
    let flags: UInt8 =
      (directory.usesDefaultPassword ? 1 : 0) | (directory.usesDefaultSalt ? 2 : 0)
    writer.number(flags)
    writer.number(directory.passwordSet.milliseconds)
    writer.number(directory.latestTime.milliseconds)
    writer.number(directory.ownLockTimeout.vaultMilliseconds)
    writer.piece(VaultContents.guarded(file))
    file.sealedDirectory = try sealed(writer.bytes, Kind.directory)
    return file.encoded()
  }

  private func sealed(_ bytes: [UInt8], _ kind: UInt8) throws(DataVaultError) -> [UInt8] {
    do throws(CryptoError) {
      return try key.seal(bytes, associated: file.associated(kind))
    } catch {
      throw DataVaultError(.outOfMemory, "vault \(file.name) could not be sealed: \(error.message)")
    }
  }

  /// All values in the order in which they were first set.
  func values() throws(DataVaultError) -> [VaultValue] {
    var values: [VaultValue] = []
    for sealed in file.sealedValues { values.append(try opened(sealed)) }
    return values
  }

  private func opened(_ sealed: [UInt8]) throws(DataVaultError) -> VaultValue {
    guard
      let bytes = key.open(sealed, associated: file.associated(Kind.value)),
      let value = VaultValue(bytes)
    else { throw DataVaultError(.damaged, "a value of vault \(file.name) is damaged") }
    return value
  }

  /// Sets or replaces the value with this name.
  mutating func set(_ value: VaultValue) throws(DataVaultError) {
    let unit = try sealed(value.encoded, Kind.value)
    if let index = try index(of: value.name) {
      file.sealedValues[index] = unit
    } else {
      file.sealedValues.append(unit)
    }
    let size = file.sealedValues.reduce(0) { $0 + $1.count }
    guard size <= Limits.valuesBytes, file.sealedValues.count <= Limits.valueCount else {
      throw DataVaultError(
        .valueTooLarge,
        "vault \(file.name) would have more than \(Limits.valueCount) values or "
          + "\(Limits.valuesBytes) bytes")
    }
  }

  /// False when there was none.
  mutating func delete(_ name: String) throws(DataVaultError) -> Bool {
    guard let index = try index(of: name) else { return false }
    file.sealedValues.remove(at: index)
    return true
  }

  private func index(of name: String) throws(DataVaultError) -> Int? {
    for (index, sealed) in file.sealedValues.enumerated()
    where try opened(sealed).name == name {
      return index
    }
    return nil
  }

  /// The same values under a new data key, which the new password opens.
  func resealed(
    password: String?, salt: String?, now: Timestamp
  ) throws(DataVaultError) -> VaultContents {
    var file = file
    file.salt = randomBytes(VaultFile.saltBytes)
    file.defaultPassword = randomBytes(VaultFile.defaultBytes)
    file.defaultSalt = randomBytes(VaultFile.defaultBytes)
    file.tries = 0
    var next = try VaultContents(
      new: file, password: password, salt: salt, now: now, ownLockTimeout: directory.ownLockTimeout)
    next.file.sealedValues = []
    for value in try values() {
      next.file.sealedValues.append(try next.sealed(value.encoded, Kind.value))
    }
    return next
  }

  /// A vault with a fresh data key.
  init(
    new file: VaultFile, password: String?, salt: String?, now: Timestamp,
    ownLockTimeout: Duration = .zero
  ) throws(DataVaultError) {
    var file = file
    let dataKey = randomBytes(SealingKey.keyBytes)
    let outer = try file.outerKey(password: password, salt: salt)
    do throws(CryptoError) {
      file.sealedKey = try outer.seal(dataKey, associated: file.identity)
      self.init(
        new: file, key: try SealingKey(dataKey),
        directory: VaultDirectory(
          usesDefaultPassword: password == nil, usesDefaultSalt: salt == nil, passwordSet: now,
          latestTime: now, ownLockTimeout: ownLockTimeout))
    } catch {
      throw DataVaultError(.outOfMemory, "vault \(file.name) could not be sealed: \(error.message)")
    }
  }
}

extension VaultFile {
  /// The text that stands for a password of nil: 32 characters out of 64, no two of them equal, so
  /// that a policy judges every default password alike.
  var defaultPasswordText: String { text(defaultPassword) }

  private func text(_ secret: [UInt8]) -> String {
    var left = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-+".utf8)
    return String(decoding: secret.map { left.remove(at: Int($0) % left.count) }, as: UTF8.self)
  }

  /// The key that password and salt give. Blocks its thread for a good part of a second.
  func outerKey(password: String?, salt: String?) throws(DataVaultError) -> SealingKey {
    var writer = VaultWriter()
    writer.piece((password ?? defaultPasswordText).canonicalBytes)
    writer.piece((salt ?? text(defaultSalt)).canonicalBytes)
    do throws(CryptoError) {
      return try SealingKey(try derivation.key(passphrase: writer.bytes, salt: self.salt))
    } catch {
      throw DataVaultError(.outOfMemory, "the key of vault \(name) was not derived: \(error)")
    }
  }

  /// nil when password and salt are not those of the vault.
  func dataKey(password: String?, salt: String?) throws(DataVaultError) -> SealingKey? {
    let outer = try outerKey(password: password, salt: salt)
    guard let bytes = outer.open(sealedKey, associated: identity) else { return nil }
    return try? SealingKey(bytes)
  }
}

/// One value with its name.
struct VaultValue: Equatable {
  var name: String
  var type: DataVaultName.DataType
  var bytes: [UInt8]

  var encoded: [UInt8] {
    var writer = VaultWriter()
    writer.number(type.rawValue)
    writer.piece(Array(name.utf8))
    writer.piece(bytes)
    return writer.bytes
  }

  init(name: String, type: DataVaultName.DataType, bytes: [UInt8]) {
    self.name = name
    self.type = type
    self.bytes = bytes
  }

  init?(_ encoded: [UInt8]) {
    var reader = VaultReader(encoded)
    guard
      let type = reader.number(UInt8.self), let name = reader.piece(), let bytes = reader.piece(),
      reader.isAtEnd
    else { return nil }
    self.name = String(decoding: name, as: UTF8.self)
    self.type = DataVaultName.DataType(rawValue: type) ?? .unknown
    self.bytes = bytes
  }
}
