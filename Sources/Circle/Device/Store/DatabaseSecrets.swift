import FerryJSON
import FerrySQLite
public import FerryWorld

/// A secret store, and the name under which one database keeps its tokens and its key there.
/// ```swift
/// let secrets = DatabaseSecrets(name: "sales", in: vault)
/// var profile = ConnectionProfile(server: "https://ferry.example.com")
/// profile.secrets = secrets
/// let database = try Sales.open(at: path, key: secrets.key(), profile: profile)
/// ```
///
/// Without it the tokens are in the database itself. Only this user may read its file, and the file
/// is sealed if a key was given.
public struct DatabaseSecrets: Sendable, Equatable {
  /// A name that no other database in the store has.
  public let name: String
  public let store: any SecretStore

  public init(name: String, in store: any SecretStore) {
    self.name = name
    self.store = store
  }

  /// The key of the database; the first call makes a random one.
  ///
  /// Throws `secrets` if the store cannot be read or written, for example because a vault is
  /// locked.
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

  /// Removes the key and the tokens: nobody is logged in, and a sealed database cannot be opened
  /// any more. A wipe makes the data unreadable in this way.
  public func remove() throws(FerryError) {
    do {
      try store.removeSecret(keyName)
      try store.removeSecret(tokensName)
      try store.removeSecret(loginKeyName)
    } catch {
      throw failure("the secrets of the database", "removed", error)
    }
  }

  public static func == (left: DatabaseSecrets, right: DatabaseSecrets) -> Bool {
    left.name == right.name && left.store === right.store
  }

  private var keyName: String { "\(name) key" }
  private var tokensName: String { "\(name) tokens" }
  private var loginKeyName: String { "\(name) login key" }

  /// The key with which the device renews its session; made the first time.
  func loginKey(_ make: () throws(FerryError) -> [UInt8]) throws(FerryError) -> [UInt8] {
    do {
      if let known = try store.secret(loginKeyName) { return known }
    } catch {
      throw failure("the login key of the database", "read", error)
    }
    let made = try make()
    do { return try store.addSecret(loginKeyName, made) } catch {
      throw failure("the login key of the database", "kept", error)
    }
  }

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
      hint: "Unlock the vault, or check the folder of the secrets, and try again.",
      cause: cause)
  }
}

/// What lets a device in.
struct DeviceTokens: Sendable, Equatable {
  let access: String
  let refresh: String
}
