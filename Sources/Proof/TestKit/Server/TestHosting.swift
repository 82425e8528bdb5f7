public import Ferry
import FerryLocalServer
import FerryServer

extension TestServer {
  /// The host; none while the server restarts.
  var host: PackageHost {
    guard let running = hosting.running else {
      preconditionFailure("the server restarts: await restart() first")
    }
    return running
  }

  /// Ends the server and starts it again with its files, as an operator does. Open lines break; devices
  /// come again by themselves. Replays that `holdReplays()` holds are let go.
  ///
  /// Throws `store` if the files cannot be opened again.
  public func restart() async throws(FerryError) {
    releaseReplays()
    do throws(ServerError) { try await hosting.restart() } catch { throw TestServer.error(error) }
    await reload()
  }

  static func error(_ error: ServerError) -> FerryError {
    FerryError(.store, error.message, hint: error.hint, cause: error)
  }
}
