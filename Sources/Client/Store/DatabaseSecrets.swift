import FerryJSON
import FerrySQLite
public import FerryWorld

/// Where a database keeps its tokens and the key that it is sealed with: a store, and the database's
/// name in it.
///
/// ```swift
/// let secrets = DatabaseSecrets(name: "sales", in: vault)
/// var profile = ConnectionProfile(server: "https://ferry.example.com")
/// profile.secrets = secrets
/// let database = try Sales.open(at: path, key: secrets.key(), profile: profile)
/// ```
///
/// Without it the tokens are in the database itself, whose file only this user may read, and which is
/// sealed where a key is given.
public struct DatabaseSecrets: Sendable, Equatable {
  /// Unlike that of every other database in the store.
  public let name: String
  public let store: any SecretStore

  public init(name: String, in store: any SecretStore) {
    self.name = name
    self.store = store
  }

  /// The key of the database: a random one that the first call makes.
  ///
  /// `secrets` where the store cannot be read or written, as a locked vault.
  public func key() throws(FerryError) -> DatabaseKey {
    do {
      if let bytes = try store.secret(keyName) { return try DatabaseKey(bytes: bytes) }
      let made = DatabaseKey.random()
      guard let bytes = made.bytes else { return made }
      return try DatabaseKey(bytes: try store.addSecret(keyName, bytes))
    } catch {
      throw failure("the key of the database", "read", error)
    }
  }

  /// Removes the key and the tokens: nobody is logged in, and nothing opens a sealed database any
  /// more. This is how a wipe makes the data unreadable.
  public func remove() throws(FerryError) {
    do {
      try store.removeSecret(keyName)
      try store.removeSecret(tokensName)
    } catch {
      throw failure("the secrets of the database", "removed", error)
    }
  }

  public static func == (left: DatabaseSecrets, right: DatabaseSecrets) -> Bool {
    left.name == right.name && left.store === right.store
  }

  private var keyName: String { "\(name) key" }
  private var tokensName: String { "\(name) tokens" }

  /// What is kept for this device; nil: nothing, or it is of another one.
  func tokens(of device: String) throws(FerryError) -> DeviceTokens? {
    let bytes: [UInt8]?
    do { bytes = try store.secret(tokensName) } catch {
      throw failure("the tokens of the database", "read", error)
    }
    guard let bytes, let node = try? JSONNode.parse(bytes), node["device"]?.string == device,
      let access = node["access"]?.string, let refresh = node["refresh"]?.string
    else { return nil }
    return DeviceTokens(access: access, refresh: refresh)
  }

  func keep(_ tokens: DeviceTokens, of device: String) throws(FerryError) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("device", device)
    writer.field("access", tokens.access)
    writer.field("refresh", tokens.refresh)
    writer.endObject()
    do { try store.setSecret(tokensName, writer.bytes) } catch {
      throw failure("the tokens of the database", "kept", error)
    }
  }

  func forgetTokens() throws(FerryError) {
    do { try store.removeSecret(tokensName) } catch {
      throw failure("the tokens of the database", "removed", error)
    }
  }

  private func failure(_ what: String, _ done: String, _ cause: any Error) -> FerryError {
    FerryError(
      .secrets, "\(what) \(name) cannot be \(done): \(cause)",
      hint: "Unlock the vault, or look at the folder of the secrets, and try again.",
      cause: cause)
  }
}

/// What lets a device in.
struct DeviceTokens: Sendable, Equatable {
  let access: String
  let refresh: String
}
