import FerryConnector
import FerryWorld
import Synchronization

/// Asks what others have changed on a thread of its own and of an instance of its own, where the answer
/// takes long (`Connector.looksApart`): replay does not wait for it.
package actor LookHost {
  private let executor: ThreadExecutor
  private let connector: any Connector
  private let looker: Looker
  private let world: World
  /// Read while the thread waits for the business system.
  private nonisolated let isStopped = Mutex(false)
  /// How long a stop waits at most where nothing is asked.
  private static let longestSleep: Duration = .seconds(1)

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// `connection`: its number among those of the package.
  package init(
    connector: sending any Connector, of connection: Int = 0, service: ServiceHost, world: World
  ) {
    executor = ThreadExecutor(name: "ferry-look")
    self.connector = connector
    looker = Looker(connector, of: connection, service, world)
    self.world = world
  }

  /// Works until stopped. `load` is called at the start, and when others have changed the business
  /// system; `compare` once a day where changes of others are noted. Neither may wait.
  package func run(load: @Sendable () -> Void, compare: @Sendable () -> Void = {}) async {
    if await looker.begin() { load() }
    while !isStopped.withLock({ $0 }) {
      await executor.sleep(for: min(connector.lookInterval, LookHost.longestSleep))
      guard looker.breaker.mayTry(world.clock.moment) else { continue }
      if await looker.look() { load() }
      if looker.isComparisonDue() { compare() }
    }
  }

  private var hasPlace = false

  /// Asks at once, for who works only when asked to and does not call `run`. Gives whether a load must
  /// begin, and why the business system could not be asked; nil where it was.
  func lookNow() async -> (needsLoad: Bool, failure: String?) {
    if !hasPlace { await looker.takePlace() }
    hasPlace = true
    let needsLoad = await looker.look(atOnce: true)
    return (needsLoad, looker.failure)
  }

  /// Returns at once; a question that is under way is waited for by whoever waits for `run`.
  package nonisolated func stop() { isStopped.withLock { $0 = true } }
}
