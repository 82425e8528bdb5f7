public import FerryPersistence
import FerryWorld

/// Keeps credentials for the next start of an app, sealed in a store of the device kit.
///
/// It takes the place of the system's keychain where there is none. The key of the store belongs
/// into a vault, or into the keychain. Works on a thread of its own.
///
/// ```swift
/// let store = try Persistence(folder: folder + "/logins", key: key)
/// options.credentialStore = try ODataSealedCredentials(store)
/// ```
public actor ODataSealedCredentials: ODataCredentialStore {
  private let store: Persistence
  private let executor = ThreadExecutor(name: "ferry-credentials")

  /// Throws `.otherMode` for a store in plain mode: passwords are only kept sealed.
  public init(_ store: Persistence) throws(PersistenceError) {
    guard store.isSecure else {
      throw PersistenceError(
        .otherMode, "the store of \(store.folder) is not sealed, so it takes no credentials")
    }
    self.store = store
  }

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Nil also where what was kept is damaged, so that the user is asked again.
  public func credentials(for space: ODataProtectionSpace) -> ODataCredentials? {
    guard let bytes = try? store.loadData(Self.name(space)) else { return nil }
    let parts = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard parts.count == 3 else { return nil }
    switch parts[0] {
    case "basic": return .basic(user: parts[1], password: parts[2])
    case "bearer": return .bearer(parts[2])
    case "cookie": return .cookie(name: parts[1], value: parts[2])
    case "other": return .other(scheme: parts[1], value: parts[2])
    default: return nil
    }
  }

  /// A full disk keeps nothing, so that the user is asked again.
  public func keep(_ credentials: ODataCredentials, for space: ODataProtectionSpace) {
    let parts: [String] =
      switch credentials {
      case .basic(let user, let password): ["basic", user, password]
      case .bearer(let token): ["bearer", "", token]
      case .cookie(let name, let value): ["cookie", name, value]
      case .other(let scheme, let value): ["other", scheme, value]
      }
    // A zero byte separates; what a header cannot carry is never accepted by a service.
    guard !parts.contains(where: { $0.utf8.contains(0) }) else { return remove(space) }
    let bytes = Array(parts.joined(separator: "\u{0}").utf8)
    do throws(PersistenceError) { try store.storeData(bytes, id: Self.name(space)) } catch {
      remove(space)
    }
  }

  /// Forgets those of exactly this space.
  public func remove(_ space: ODataProtectionSpace) {
    _ = try? store.removeData(Self.name(space))
  }

  private static func name(_ space: ODataProtectionSpace) -> String {
    let kind = space.isProxy ? "proxy" : "service"
    return "credentials/\(kind)/\(space.scheme)/\(space.host)/\(space.port)/\(space.realm)"
  }
}
