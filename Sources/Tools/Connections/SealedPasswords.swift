import FerryConnector
import FerryCrypto
import FerryJSON
import FerryText
import Foundation

/// The passwords of users at a service, each sealed under one key. The file belongs to its owner alone;
/// who has the file and not the key reads nothing.
package struct SealedPasswords: Sendable {
  private let file: String
  private let key: Secret

  package init(file: String, key: Secret) {
    self.file = file
    self.key = key
  }

  /// What the file has of one user.
  struct Entry: Sendable, Equatable {
    /// The name at the service.
    var user: String
    var sealed: [UInt8]
  }

  /// Read anew each time: an operator may have changed it.
  func entries() throws(ConnectionsError) -> [(user: String, entry: Entry)] {
    let bytes = try SecretFile.read(file, "the file of passwords")
    guard let root = try? JSONNode.parse(bytes), let members = root.object else {
      throw ConnectionsError(
        "the file of passwords \(file) cannot be read",
        hint: "Make it anew by ferry credential set.")
    }
    return members.compactMap { member in
      guard let user = member.value["user"]?.string,
        let sealed = member.value["sealed"]?.string.flatMap({ Hexadecimal.decode($0) })
      else { return nil }
      return (member.key, Entry(user: user, sealed: sealed))
    }
  }

  private func sealingKey() throws(ConnectionsError) -> SealingKey {
    guard let bytes = Hexadecimal.decode(try key.read()),
      let key = try? SealingKey(bytes)
    else {
      throw ConnectionsError(
        "the key of the sealed passwords is none",
        hint: "Write 64 hexadecimal digits; `openssl rand -hex 32` makes them.")
    }
    return key
  }

  /// Nil where the file has none of the user, or another key sealed it.
  func password(of user: String) throws(ConnectionsError) -> (user: String, password: String)? {
    guard let entry = try entries().first(where: { $0.user == user })?.entry,
      let opened = try sealingKey().open(entry.sealed, associated: Array(user.utf8)),
      let password = String(validating: opened, as: UTF8.self)
    else { return nil }
    return (entry.user, password)
  }

  /// Writes another password of a user into the file, which is made where it is missing; nil removes it.
  package func set(
    _ password: String?, of user: String, as serviceUser: String
  ) throws(ConnectionsError) {
    let isThere = FileManager.default.fileExists(atPath: file)
    try SecretFile.write(
      content(setting: password, of: user, as: serviceUser, existing: isThere), to: file)
  }

  /// The content of the file then. `existing`: whether there is a file yet.
  func content(
    setting password: String?, of user: String, as serviceUser: String, existing: Bool
  ) throws(ConnectionsError) -> [UInt8] {
    var entries = existing ? try self.entries() : []
    entries.removeAll { $0.user == user }
    if let password {
      let sealed: [UInt8]
      do throws(CryptoError) {
        sealed = try sealingKeyOrThrow().seal(
          Array(password.utf8), associated: Array(user.utf8))
      } catch {
        throw ConnectionsError(error.message, hint: error.hint)
      }
      entries.append((user, Entry(user: serviceUser, sealed: sealed)))
    }
    var writer = JSONWriter()
    writer.beginObject()
    for (user, entry) in entries.sorted(by: { $0.user < $1.user }) {
      writer.key(user)
      writer.beginObject()
      writer.field("user", entry.user)
      writer.field("sealed", Hexadecimal.encode(entry.sealed))
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes + [0x0A]
  }

  private func sealingKeyOrThrow() throws(CryptoError) -> SealingKey {
    do throws(ConnectionsError) { return try sealingKey() } catch {
      throw CryptoError(error.message, hint: error.hint)
    }
  }
}

extension SealedPasswords: UserCredentials {
  func credential(
    of user: String, insteadOf rejected: Credential?
  ) throws(ConnectorError) -> Credential? {
    do throws(ConnectionsError) {
      guard let (name, password) = try self.password(of: user) else { return nil }
      let found = Credential(.password(user: name, password: password))
      // The user has another one by now, or is locked: not tried again and again.
      return found == rejected ? nil : found
    } catch {
      throw ConnectorError(error.message, hint: error.hint, isTransient: true)
    }
  }
}
