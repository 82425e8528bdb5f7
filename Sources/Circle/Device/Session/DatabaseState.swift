import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The connection of a database to its server; an app shows it when data does not arrive.
///
/// Login and subscription are kept in the database; the other values are those of this process.
public struct DatabaseState: Sendable, Equatable {
  /// Whether the device is logged in.
  public enum Login: String, Sendable, Hashable {
    /// Nothing can be fetched or sent before `signIn`, or another login.
    case needed = "must log in"
    /// User and password are on their way to the server.
    case inProgress = "logging in"
    case done = "logged in"
  }

  /// Whether the device has asked for data.
  public enum Subscription: String, Sendable, Hashable {
    /// `subscribe` was not called, `unsubscribe` was called, or the server refused: see `failure`.
    case none = "not subscribed"
    /// The server has not answered yet.
    case inProgress = "waits for the server"
    case accepted = "subscribed"
    /// `suspendSubscription` was called.
    case suspended
  }

  /// Whether the server answered the last request. False before the first one, and once the database
  /// is closed.
  public var isConnected = false
  public var login: Login = .needed
  public var subscription: Subscription = .none
  /// Whether the server reads its business system for the first time and does not have all of this
  /// user's data yet. It is asked again automatically.
  public var isServerLoading = false
  /// How far the server is with that; nil if it does not load, or cannot tell.
  public var serverLoad: ServerLoad?
  /// When the data is closed unless the server answers before, by the device's clock; nil: never.
  public var dataClosesAt: Date?
  /// Since when the server cannot be reached, by the device's clock; nil while it answers, and before
  /// it was asked.
  public var offlineSince: Date?
  /// Why the last request came to nothing; nil when it did not.
  public var failure: FerryError?

  public init() {}

  /// Two states with failures are equal if code and text of the failures are equal.
  public static func == (left: DatabaseState, right: DatabaseState) -> Bool {
    left.isConnected == right.isConnected && left.login == right.login
      && left.subscription == right.subscription && left.isServerLoading == right.isServerLoading
      && left.serverLoad == right.serverLoad && left.dataClosesAt == right.dataClosesAt
      && left.offlineSince == right.offlineSince
      && left.failure?.code == right.failure?.code
      && left.failure?.description == right.failure?.description
  }
}

/// Where the session says how it stands, and others read it.
package final class StateBoard: Sendable {
  private struct Content {
    var now = DatabaseState()
    var followers: [Int: AsyncStream<DatabaseState>.Continuation] = [:]
    var last = 0
    var isClosed = false
    var listener: (@Sendable () -> Void)?
  }

  private let content = Mutex(Content())

  package var now: DatabaseState { content.withLock { $0.now } }

  func follow() -> AsyncStream<DatabaseState> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: DatabaseState.self, bufferingPolicy: .bufferingNewest(1))
    let number = content.withLock { content in
      continuation.yield(content.now)
      guard !content.isClosed else {
        continuation.finish()
        return 0
      }
      content.last += 1
      content.followers[content.last] = continuation
      return content.last
    }
    continuation.onTermination = { [weak self] _ in
      self?.content.withLock { content in _ = content.followers.removeValue(forKey: number) }
    }
    return stream
  }

  /// Called after each change.
  func onChange(_ listener: @escaping @Sendable () -> Void) {
    content.withLock { $0.listener = listener }
  }

  func post(_ state: DatabaseState) {
    let listener = content.withLock { content -> (@Sendable () -> Void)? in
      guard !content.isClosed, content.now != state else { return nil }
      content.now = state
      for follower in content.followers.values { follower.yield(state) }
      return content.listener
    }
    listener?()
  }

  /// The database is closed: nothing is connected any more, and nobody hears of more.
  func end() {
    var state = now
    state.isConnected = false
    post(state)
    let followers = content.withLock { content in
      content.isClosed = true
      return Array(content.followers.values)
    }
    for follower in followers { follower.finish() }
  }
}
