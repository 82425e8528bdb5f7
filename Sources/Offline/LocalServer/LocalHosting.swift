import FerryServer
import FerryWorld
import Synchronization

/// A server in the process of the app: another one after each restart, and none meanwhile.
package final class LocalHosting: Sendable {
  private let current = Mutex<PackageHost?>(nil)
  private let begin: @Sendable () async throws(ServerError) -> PackageHost
  private let clock: any WorldClock

  /// How long a start waits for the one before to let go of its folder, on a machine however slow.
  private static let patience: Duration = .seconds(300)

  /// Starts it. The folder must be the caller's alone: one that is in use is waited for. Errors: those
  /// of `begin`.
  package init(
    _ clock: any WorldClock,
    _ begin: @escaping @Sendable () async throws(ServerError) -> PackageHost
  ) async throws(ServerError) {
    self.clock = clock
    self.begin = begin
    try await start()
  }

  /// Nil while it restarts, and after the end.
  package var running: PackageHost? { current.withLock { $0 } }

  /// Errors: those of a start.
  package func restart() async throws(ServerError) {
    await end()
    try await start()
  }

  /// Ends it in good order. Returns when nothing more is performed or loaded.
  package func end() async {
    let old = current.withLock { host in
      defer { host = nil }
      return host
    }
    await old?.hangUp()
    await old?.end()
  }

  /// The store is closed when the last exchange has let go of it.
  private func start() async throws(ServerError) {
    let deadline = clock.uptime + LocalHosting.patience
    while true {
      do throws(ServerError) {
        let new = try await begin()
        current.withLock { $0 = new }
        return
      } catch {
        guard error.code == .folderInUse, clock.uptime < deadline else { throw error }
      }
      await Task.yield()
    }
  }
}
