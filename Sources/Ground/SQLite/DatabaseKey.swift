public import FerryCrypto

/// What opens a sealed database: 32 random bytes that are kept in a vault, or a passphrase that
/// somebody knows.
///
/// It never shows what it holds.
public struct DatabaseKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  enum Secret: Sendable, Equatable {
    case bytes([UInt8])
    case passphrase([UInt8], Derivation)
  }

  let secret: Secret

  /// Exactly 32 bytes of chance; anything a person could remember is a passphrase.
  public init(bytes: [UInt8]) throws(SQLiteError) {
    guard bytes.count == SealingKey.keyBytes else {
      throw SQLiteError(
        code: SQLiteError.misuse, message: "a database key has 32 bytes, not \(bytes.count)",
        subject: "DatabaseKey", seal: .wrongKey)
    }
    secret = .bytes(bytes)
  }

  /// A passphrase; the same letters must be typed in the same Unicode form each time. Opening
  /// takes a good part of a second, so that guessing does too: open once and keep the `Sealing`.
  ///
  /// `derivation` is for a database that is made; an existing one says itself how its passphrase
  /// is derived.
  public init(passphrase: String, derivation: Derivation = .standard) {
    secret = .passphrase(Array(passphrase.utf8), derivation)
  }

  /// A new random key (the reference's `generateEncryptionKey`): keep `bytes` in a vault, for
  /// without them the database is lost.
  public static func random() -> DatabaseKey {
    DatabaseKey(secret: .bytes(randomBytes(SealingKey.keyBytes)))
  }

  private init(secret: Secret) { self.secret = secret }

  /// The bytes of a key that is no passphrase, to be kept in a vault and nowhere else.
  public var bytes: [UInt8]? {
    if case .bytes(let bytes) = secret { bytes } else { nil }
  }

  public var description: String { "DatabaseKey(hidden)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
