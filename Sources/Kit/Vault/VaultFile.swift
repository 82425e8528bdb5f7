import FerryCrypto

/// The bytes of a vault as they are stored, understood but not opened.
///
/// In clear stand only what is needed before the password is known: how the key is derived, the
/// default password, the policy and the number of wrong tries. The policy is sealed once more in
/// the directory, so a vault whose policy somebody rewrote does not open.
struct VaultFile: Equatable {
  static let magic: [UInt8] = Array("Ferry vault\0".utf8)
  static let version: UInt32 = 1
  static let idBytes = 16
  static let saltBytes = 32
  static let defaultBytes = 32

  var name: String
  var id: [UInt8]
  var derivation: Derivation
  var salt: [UInt8]
  /// Both are random, and stored in clear: who has the file has them.
  var defaultPassword: [UInt8]
  var defaultSalt: [UInt8]
  /// Raised by what locks the vault for all who have it open.
  var epoch: UInt32 = 0
  /// How many tries have begun since the last that succeeded.
  var tries: UInt32 = 0
  var ownRetryLimit: UInt32 = 0
  var policy: PasswordPolicy?
  /// The data key, sealed under the key that password and salt give.
  var sealedKey: [UInt8] = []
  /// The directory, sealed under the data key.
  var sealedDirectory: [UInt8] = []
  /// Each value with its name and type, sealed under the data key.
  var sealedValues: [[UInt8]] = []

  var retryLimit: Int { policy?.retryLimit ?? Int(ownRetryLimit) }

  /// What cannot change without the password: the data key is sealed together with it.
  var identity: [UInt8] {
    var writer = VaultWriter()
    writer.bytes = VaultFile.magic
    writer.number(VaultFile.version)
    writer.piece(Array(name.utf8))
    writer.bytes += id
    for number in derivation.numbers { writer.number(number) }
    writer.bytes += salt + defaultPassword + defaultSalt
    return writer.bytes
  }

  /// What the directory and each value are sealed with: a piece of another vault does not open here.
  func associated(_ kind: UInt8) -> [UInt8] { Array("Ferry vault".utf8) + id + [kind] }

  var valuesDigest: [UInt8] {
    var writer = VaultWriter()
    for value in sealedValues { writer.piece(value) }
    return SHA256Digest.hash(writer.bytes)
  }

  func encoded() -> [UInt8] {
    var writer = VaultWriter()
    writer.bytes = identity
    writer.number(epoch)
    writer.number(tries)
    writer.number(ownRetryLimit)
    writer.piece(policy?.encoded ?? [])
    writer.piece(sealedKey)
    writer.piece(sealedDirectory)
    writer.number(UInt32(sealedValues.count))
    for value in sealedValues { writer.piece(value) }
    return writer.bytes + SHA256Digest.hash(writer.bytes)
  }

  init(
    name: String, id: [UInt8], derivation: Derivation, salt: [UInt8], defaultPassword: [UInt8],
    defaultSalt: [UInt8]
  ) {
    self.name = name
    self.id = id
    self.derivation = derivation
    self.salt = salt
    self.defaultPassword = defaultPassword
    self.defaultSalt = defaultSalt
  }

  /// `.foreign` where the bytes never were a vault of this version, `.damaged` where they were.
  init(_ bytes: [UInt8], vault: String) throws(DataVaultError) {
    let damaged = DataVaultError(.damaged, "the stored bytes of vault \(vault) are damaged")
    var reader = VaultReader(bytes)
    let magic = reader.take(VaultFile.magic.count)
    guard let version = reader.number(UInt32.self), bytes.count > 32 else { throw damaged }
    let isWhole = equalInConstantTime(
      SHA256Digest.hash(Array(bytes.dropLast(32))), Array(bytes.suffix(32)))
    guard isWhole else { throw damaged }
    guard magic == VaultFile.magic, version == VaultFile.version else {
      throw DataVaultError(
        .foreign, "the stored bytes of vault \(vault) have a form that this version cannot read")
    }
    guard let file = VaultFile(&reader, end: bytes.count - 32), file.name == vault else {
      throw damaged
    }
    self = file
  }

  private init?(_ reader: inout VaultReader, end: Int) {
    guard
      let name = reader.piece(), let id = reader.take(VaultFile.idBytes),
      let derivation = Derivation(&reader), derivation.isReasonable,
      let salt = reader.take(VaultFile.saltBytes),
      let defaultPassword = reader.take(VaultFile.defaultBytes),
      let defaultSalt = reader.take(VaultFile.defaultBytes)
    else { return nil }
    self.init(
      name: String(decoding: name, as: UTF8.self), id: id, derivation: derivation, salt: salt,
      defaultPassword: defaultPassword, defaultSalt: defaultSalt)
    guard
      let epoch = reader.number(UInt32.self), let tries = reader.number(UInt32.self),
      let ownRetryLimit = reader.number(UInt32.self), let policy = reader.piece(),
      let sealedKey = reader.piece(), let sealedDirectory = reader.piece(),
      let count = reader.number(UInt32.self)
    else { return nil }
    if !policy.isEmpty {
      guard let policy = PasswordPolicy(encoded: policy) else { return nil }
      self.policy = policy
    }
    self.epoch = epoch
    self.tries = tries
    self.ownRetryLimit = ownRetryLimit
    self.sealedKey = sealedKey
    self.sealedDirectory = sealedDirectory
    for _ in 0..<count {
      guard let value = reader.piece() else { return nil }
      sealedValues.append(value)
    }
    guard reader.place == end else { return nil }
  }
}

extension Derivation {
  fileprivate var numbers: [UInt32] {
    switch self {
    case .scrypt(let logarithm, let blocks, let lanes):
      [1, UInt32(logarithm), UInt32(blocks), UInt32(lanes)]
    case .pbkdf2(let rounds): [2, UInt32(rounds), 0, 0]
    }
  }

  fileprivate init?(_ reader: inout VaultReader) {
    var numbers: [Int] = []
    for _ in 0..<4 {
      guard let number = reader.number(UInt32.self) else { return nil }
      numbers.append(Int(number))
    }
    switch numbers[0] {
    case 1: self = .scrypt(logarithm: numbers[1], blocks: numbers[2], lanes: numbers[3])
    case 2 where numbers[2] == 0 && numbers[3] == 0: self = .pbkdf2(rounds: numbers[1])
    default: return nil
    }
  }
}

extension PasswordPolicy {
  var encoded: [UInt8] {
    var writer = VaultWriter()
    let flags = [defaultPasswordAllowed, hasDigits, hasUpper, hasLower, hasSpecial]
    for flag in flags { writer.number(UInt8(flag ? 1 : 0)) }
    for number in [minLength, expirationDays, minUniqueChars, retryLimit] {
      writer.number(Int64(number))
    }
    writer.number(lockTimeout.vaultMilliseconds)
    return writer.bytes
  }

  init?(encoded: [UInt8]) {
    var reader = VaultReader(encoded)
    var flags: [Bool] = []
    var numbers: [Int] = []
    for _ in 0..<5 {
      guard let flag = reader.number(UInt8.self) else { return nil }
      flags.append(flag == 1)
    }
    for _ in 0..<5 {
      guard let number = reader.number(Int64.self) else { return nil }
      numbers.append(Int(number))
    }
    self.init()
    defaultPasswordAllowed = flags[0]
    hasDigits = flags[1]
    hasUpper = flags[2]
    hasLower = flags[3]
    hasSpecial = flags[4]
    minLength = numbers[0]
    expirationDays = numbers[1]
    minUniqueChars = numbers[2]
    retryLimit = numbers[3]
    lockTimeout = .milliseconds(numbers[4])
    guard reader.isAtEnd, wrongNumber == nil else { return nil }
  }
}

extension Duration {
  var vaultMilliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
