public import Ferry
import FerryServer
import Synchronization

/// The host of a test server: another one after each restart, and none meanwhile.
final class TestHosting: Sendable {
  private let current: Mutex<PackageHost?>
  private let start: @Sendable () async throws(ServerError) -> PackageHost

  init(
    _ start: @escaping @Sendable () async throws(ServerError) -> PackageHost
  ) async throws(FerryError) {
    self.start = start
    current = Mutex(nil)
    try await begin()
  }

  /// Nil while it restarts.
  var running: PackageHost? { current.withLock { $0 } }

  var host: PackageHost {
    guard let running else { preconditionFailure("the server restarts: await restart() first") }
    return running
  }

  func restart() async throws(FerryError) {
    await end()
    try await begin()
  }

  private func end() async {
    let old = current.withLock { host in
      defer { host = nil }
      return host
    }
    await old?.hangUp()
    await old?.end()
  }

  /// The store is closed when the last exchange has let go of it: at most five minutes are waited, on
  /// a machine however slow.
  private func begin() async throws(FerryError) {
    let deadline = ContinuousClock.now + .seconds(300)
    while true {
      do throws(ServerError) {
        let new = try await start()
        current.withLock { $0 = new }
        return
      } catch {
        guard error.code == .folderInUse, ContinuousClock.now < deadline else {
          throw FerryError(.store, error.message, hint: error.hint, cause: error)
        }
      }
      await Task.yield()
    }
  }
}

extension TestServer {
  /// Ends the server and starts it again with its files, as an operator does. Open lines break; devices
  /// come again by themselves. Replays that `holdReplays()` holds are let go.
  ///
  /// Throws `store` if the files cannot be opened again.
  public func restart() async throws(FerryError) {
    releaseReplays()
    try await hosting.restart()
    await reload()
  }
}
