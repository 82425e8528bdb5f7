/// Hears each step of a database: more than `FerryDatabase.events`, and with an answer to a
/// synchronization.
///
/// Steps are reported one after the other, on the actor that was given with the handler, or on the
/// session's thread; never on the main thread by default. A step is reported after the database
/// shows it.
///
/// `imported`, `importEnded`, `accepted`, `refused` and `unknown` are *owed*: they wait until the
/// database has a handler, and after a crash they are reported at the next start. So a handler may
/// receive the same step twice. An entity's handler receives the owed steps of its entity only if it
/// is registered before the database's handler: register the handlers of entities first. Other steps
/// are not kept: only a registered handler receives them, and a crash may lose them. This includes
/// `downloadedAgain`; its effect is visible all the same. `recovered` is repeated if the app crashed
/// while a handler on the session's thread received it; a handler on an actor may miss it.
///
/// The synchronization does not wait for a handler on an actor of the app, except for `answer`. If
/// that actor has more than 1,000 steps waiting, the oldest are dropped: first messages and progress,
/// then other steps, and steps of login and subscription last. Owed steps are never dropped.
///
/// A handler that belongs to the main actor is registered with it, and may assume it:
/// ```swift
/// func handle(_ step: DatabaseStep) {
///   MainActor.assumeIsolated { screen.show(step) }
/// }
/// database.register(handler, on: MainActor.shared)
/// ```
public protocol StepHandler: Sendable {
  /// Whether `importedObject` is reported for each object of an import, before `imported`. Read once,
  /// when the handler is registered; false without an implementation.
  ///
  /// Only imports that come while such a handler is registered list their objects. It costs: a first
  /// import of 100,000 rows takes longer, and calls the handler 100,000 times.
  var hearsEachObject: Bool { get }

  /// Hears a step. Write a `default`: more steps may come with later versions.
  func handle(_ step: DatabaseStep)

  /// Says whether a synchronization of `groups` goes on; called repeatedly while it does. Without an
  /// implementation it goes on.
  ///
  /// Return `cancel` to end it. At `starting`, `startingOnNotification` and `asyncReplayCompleted`
  /// nothing was sent. Later, operations that were sent stay sent, pages that arrived are kept for
  /// the next synchronization, and what is visible stays a whole state. At `finishing` and `error`
  /// the answer changes nothing. A synchronization that background work began by itself in a
  /// message-based database is only cancelled at `starting`.
  func answer(
    to context: SynchronizationContext, of groups: [String]
  ) -> SynchronizationAction
}

extension StepHandler {
  /// Counts are enough.
  public var hearsEachObject: Bool { false }

  /// The synchronization goes on.
  public func answer(
    to context: SynchronizationContext, of groups: [String]
  ) -> SynchronizationAction { .proceed }
}
