import CSealedVFS
import FerryCrypto

/// The first 4,096 bytes of a sealed database, in clear: how its key is derived, and the data key,
/// sealed under that.
///
/// All numbers are big-endian. 0 magic (16 bytes), 16 version, 20 page bytes, 24 file id (16 bytes),
/// 40 derivation with three parameters, 56 salt (32 bytes), 88 the sealed data key (72 bytes), zeros,
/// 4,064 SHA-256 of all before.
struct SealHeader: Equatable {
  static let bytes = Int(FERRY_SEAL_HEADER_BYTES)
  static let magic = Array("Ferry sealed db\0".utf8)
  static let plainMagic = Array("SQLite format 3\0".utf8)
  static let version: UInt32 = 1
  private static let clearBytes = 88
  private static let sealedKeyBytes = 72

  var version: UInt32 = SealHeader.version
  var pageBytes: Int
  var fileID: [UInt8]
  /// nil for a key that needs none.
  var derivation: Derivation?
  var salt: [UInt8]
  var sealedKey: [UInt8] = []

  /// A header for a new database, with a data key of its own.
  static func make(
    _ key: DatabaseKey, pageBytes: Int
  ) throws(CryptoError) -> (
    header: SealHeader, dataKey: SealingKey
  ) {
    var header = SealHeader(
      pageBytes: pageBytes, fileID: randomBytes(Int(FERRY_SEAL_ID_BYTES)),
      salt: randomBytes(32))
    if case .passphrase(_, let derivation) = key.secret { header.derivation = derivation }
    let data = randomBytes(SealingKey.keyBytes)
    header.sealedKey = try header.keyKey(key).seal(data, associated: header.clear)
    return (header, try SealingKey(data))
  }

  /// The data key; nil when `key` is not the one.
  func dataKey(_ key: DatabaseKey) throws(CryptoError) -> SealingKey? {
    switch (key.secret, derivation) {
    case (.bytes, .some), (.passphrase, nil): return nil
    default:
      guard let data = try keyKey(key).open(sealedKey, associated: clear) else { return nil }
      return try SealingKey(data)
    }
  }

  /// The key that seals the data key.
  private func keyKey(_ key: DatabaseKey) throws(CryptoError) -> SealingKey {
    switch key.secret {
    case .bytes(let bytes):
      return try SealingKey(
        SHA256Digest.authenticate(Array("Ferry database key".utf8) + salt, key: bytes))
    case .passphrase(let text, let own):
      return try SealingKey((derivation ?? own).key(passphrase: text, salt: salt))
    }
  }

  private var clear: [UInt8] {
    let parameters: [Int] =
      switch derivation {
      case nil: [0, 0, 0, 0]
      case .scrypt(let logarithm, let blocks, let lanes): [1, logarithm, blocks, lanes]
      case .pbkdf2(let rounds): [2, rounds, 0, 0]
      }
    var bytes = SealHeader.magic
    bytes += SealHeader.number(Int(version)) + SealHeader.number(pageBytes) + fileID
    for parameter in parameters { bytes += SealHeader.number(parameter) }
    return bytes + salt
  }

  var encoded: [UInt8] {
    var bytes = clear + sealedKey
    bytes += [UInt8](repeating: 0, count: SealHeader.bytes - 32 - bytes.count)
    return bytes + SHA256Digest.hash(bytes)
  }

  /// nil when the bytes are not as they were written.
  init?(_ bytes: [UInt8]) {
    guard
      bytes.count == SealHeader.bytes, bytes.starts(with: SealHeader.magic),
      SHA256Digest.hash(Array(bytes.dropLast(32))) == Array(bytes.suffix(32))
    else { return nil }
    func number(_ offset: Int) -> Int {
      bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
    version = UInt32(number(16))
    pageBytes = number(20)
    fileID = Array(bytes[24..<40])
    switch number(40) {
    case 0: derivation = nil
    case 1:
      derivation = .scrypt(logarithm: number(44), blocks: number(48), lanes: number(52))
    case 2: derivation = .pbkdf2(rounds: number(44))
    default: return nil
    }
    salt = Array(bytes[56..<SealHeader.clearBytes])
    sealedKey = Array(bytes[SealHeader.clearBytes...].prefix(SealHeader.sealedKeyBytes))
    guard pageBytes >= 512, pageBytes <= 65536, pageBytes & (pageBytes - 1) == 0 else { return nil }
  }

  private init(pageBytes: Int, fileID: [UInt8], salt: [UInt8]) {
    self.pageBytes = pageBytes
    self.fileID = fileID
    self.salt = salt
  }

  private static func number(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }
}

/// What stands at a path, judged by its first bytes.
enum SealedFile: Equatable {
  case missing
  /// A header that a crash has torn before there was a page.
  case unfinished
  case plain
  case sealed(SealHeader)
  /// It was a sealed database, and its header is not as it was written.
  case damaged
  case foreign

  init(_ bytes: [UInt8], fileBytes: Int64) {
    let start = bytes.prefix(16)
    let magic = SealHeader.magic
    if fileBytes <= 0 {
      self = .missing
    } else if bytes.starts(with: SealHeader.plainMagic) {
      self = .plain
    } else if let header = SealHeader(bytes) {
      self = .sealed(header)
    } else if fileBytes <= Int64(SealHeader.bytes),
      zip(start, magic).allSatisfy({ $0 == 0 || $0 == $1 })
    {
      self = .unfinished
    } else if zip(start, magic).reduce(0, { $0 + ($1.0 ^ $1.1).nonzeroBitCount }) <= 8 {
      self = .damaged
    } else {
      self = .foreign
    }
  }
}
