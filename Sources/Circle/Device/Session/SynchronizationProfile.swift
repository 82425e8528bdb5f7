/// The protocol of requests.
public enum NetworkProtocol: String, Sendable, Hashable {
  /// Without TLS; to another machine only with `ConnectionProfile.allowsInsecureHTTP`.
  case http
  /// Over TLS.
  case https
}

/// The user and the server of a synchronization. An app sets it before the login, and may change it
/// while the database is open (the reference's synchronization profile).
/// ```swift
/// try database.updateSynchronizationProfile { profile in
///   profile.user = "nancy"
///   profile.password = "…"
/// }
/// try await database.onlineLogin()
/// ```
public struct SynchronizationProfile: Sendable, Equatable {
  /// The user for `onlineLogin()`; kept over restarts.
  public var user: String?
  /// The user's password; in memory only, until the database is closed.
  public var password: String?
  /// The server's address. If the app does not set it, the server's connection template decides;
  /// before the template has arrived, the `ConnectionProfile` with which the database was opened.
  public var serverName: String
  public var networkProtocol: NetworkProtocol
  public var portNumber: Int
  /// The path after the port, if a proxy needs one; empty for none.
  public var path: String
  /// Whether synchronizations wait for the replay of the operations that they sent; see
  /// `FerryDatabase.asyncReplay`.
  public var asyncReplay: Bool
  /// Whether changes arrive by themselves, or only in synchronizations that the app asks for. It
  /// may be changed at any time: waiting operations and missing rows are then transferred the other
  /// way.
  public var synchronization: SynchronizationKind
  package private(set) var isReset = false

  /// Removes all values that the app set for the server: the template decides again.
  public mutating func useTemplate() { isReset = true }
}
