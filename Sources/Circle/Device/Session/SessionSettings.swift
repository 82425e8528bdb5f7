/// How rows and operations travel.
public enum SynchronizationKind: String, Sendable, Hashable {
  /// Submitted operations are sent at once. After `subscribe`, changes arrive by themselves while
  /// the background synchronization is on.
  case messageBased
  /// Operations and rows travel only in synchronizations that the app asks for, group by group, and
  /// in those that fetch the results of replayed operations. `subscribe` brings no rows.
  case replicationBased
}

/// The timing of a session.
public struct SessionSettings: Sendable, Equatable {
  /// The time between two requests for changes if there is no channel.
  public var pollInterval: Duration = .seconds(1)
  /// The time between sending an operation and the first request for its answer.
  public var answerPoll: Duration = .milliseconds(50)
  /// How long a new channel may be silent before the session assumes that a proxy blocks it.
  public var channelPatience: Duration = .seconds(1)
  /// The time before the session tries a blocked channel again.
  public var channelRetry: Duration = .seconds(300)
  /// The time before the session tries a channel again after the server closed it for another
  /// device or had no room.
  public var channelRest: Duration = .seconds(30)
  /// How long an open connection may be silent; the server sends something every 15 seconds.
  public var silence: Duration = .seconds(40)
  public var firstRetry: Duration = .milliseconds(200)
  public var longestRetry: Duration = .seconds(30)
  /// The time before the next try after the server refused this device, for example because it does
  /// not serve its package.
  public var stoppedRetry: Duration = .seconds(300)
  /// Whether `synchronize` and `beginSynchronize` fetch data without waiting for the answers to the
  /// sent operations. `FerryDatabase.setAsyncReplay` takes precedence.
  public var asyncReplay: Bool = true
  /// Whether changes arrive by themselves, or only in synchronizations that the app asks for.
  public var synchronization: SynchronizationKind = .messageBased
  /// How long `synchronize` and `onlineLogin` wait if the app does not pass a limit.
  public var patience: Duration = .seconds(300)
  /// Whether another process of the app (an extension) opens the same database and changes it too;
  /// set it in both. Once a second the session checks whether the other process has submitted
  /// something, and four times a second what it has changed, for live queries. Each transaction
  /// records its changes for the other process, so that only affected live queries run again; a
  /// change costs a little more. The processes agree which of them synchronizes, also without this
  /// setting. Each owed callback is made in one of them.
  public var isDatabaseShared: Bool = false
  /// Whether a saved change is submitted by itself. With false the app collects its changes, and sends
  /// them with `submit` or `submitPendingOperations`; see
  /// `FerryDatabase.submitsAutomatically`.
  public var submitsAutomatically: Bool = true

  public init() {}

  /// What a slow line may take to send so much: 8 KB a second, below which no server waits.
  static func uploadTime(_ bytes: Int) -> Duration { .milliseconds(bytes / 8) }
}
