import FerryCrypto
import FerryJSON
import FerryModel
import FerrySQLite
import FerryText

/// The key of this device, which a copy of its refresh token does not have.
extension TokenStore {
  /// It is where the tokens are: in the app's store of secrets, or in the database.
  private func key() throws(FerryError) -> P256Key {
    if let knownKey { return knownKey }
    let der: [UInt8]
    if let secrets {
      // An app that had no store of secrets until now: the session is bound to this key.
      let former = try store.setting(.loginKey).flatMap { Base64.decode($0) }
      der = try secrets.loginKey { () throws(FerryError) in
        if let former { return former }
        return try TokenStore.newKey()
      }
      if former != nil { try store.remove([.loginKey]) }
    } else if let known = try store.setting(.loginKey).flatMap({ Base64.decode($0) }) {
      der = known
    } else {
      let made = try TokenStore.newKey()
      try store.write { connection throws(SQLiteError) in
        try Settings.set(.loginKey, Base64.encode(made), connection)
      }
      der = made
    }
    do {
      let key = try P256Key(der: der)
      knownKey = key
      return key
    } catch { throw TokenStore.unusable(error) }
  }

  /// Names the key in a login. If there can be none now, the session has none.
  func nameKey(_ writer: inout JSONWriter) {
    do throws(FerryError) {
      writer.field("key", Base64.encode(try key().publicKeyInfo))
    } catch {
      store.world.log.warn("a login without a key of the device", ("reason", error.description))
    }
  }

  /// The members of a renewal that prove the token to be this device's.
  func prove(_ token: String, _ writer: inout JSONWriter) throws(FerryError) {
    let key = try key()
    do throws(CryptoError) {
      let proof = try key.signFixed(Array("ferry-renew\n\(token)".utf8))
      writer.field("key", Base64.encode(key.publicKeyInfo))
      writer.field("proof", Base64.encode(proof))
    } catch { throw TokenStore.unusable(error) }
  }

  private static func newKey() throws(FerryError) -> [UInt8] {
    do { return try P256Key.generate().der } catch { throw unusable(error) }
  }

  private static func unusable(_ error: CryptoError) -> FerryError {
    FerryError(
      .secrets, "the login key of this device cannot be used: \(error)", hint: "Log in again.",
      cause: error)
  }
}
