/// How requests travel.
public enum NetworkProtocol: String, Sendable, Hashable { case http, https }

/// Who synchronizes, and with which server: what an app sets before the login, and may change while
/// the database is open (sync/I1, I3; the reference's synchronization profile).
///
/// ```swift
/// try database.updateSynchronizationProfile { profile in
///   profile.user = "nancy"
///   profile.password = "…"
/// }
/// try await database.onlineLogin()
/// ```
public struct SynchronizationProfile: Sendable, Equatable {
  /// Who logs in with `onlineLogin()`; kept over restarts.
  public var user: String?
  /// With what; in memory only, until the database is closed.
  public var password: String?
  /// Where the server is. Without a word of the app, what the connection template of the server says;
  /// and before its first word, what the `ConnectionProfile` said that the database was opened with.
  public var serverName: String
  public var networkProtocol: NetworkProtocol
  public var portNumber: Int
  /// Behind the port, where a proxy needs it; empty for none.
  public var path: String
  /// Whether synchronizations wait for the replay of what they sent; see `Database.asyncReplay`.
  public var asyncReplay: Bool
  /// Whether changes arrive by themselves, or only in synchronizations that the app asks for. It may
  /// change at any time (sync/R21): what waits is then sent, and what is missing fetched, the other
  /// way.
  public var synchronization: SynchronizationKind
  package private(set) var isReset = false

  /// Takes back everything that the app said about the server: the template counts again.
  public mutating func useTemplate() { isReset = true }
}

extension Session {
  /// The next request goes by the profile as it is now; an open channel went by the one before.
  func profileChanged(isOtherKind: Bool) throws(FerryError) {
    profileVersion += 1
    machine.channelWentAstray()
    machine.wake()
    guard isOtherKind, try facts().isSubscribed, !isReplicationBased else { return }
    requestExchange()
  }
}
