import FerryConnector
import FerryModel
import FerrySQLite
import FerryServer
import FerryWorld

extension Service {
  /// A service whose store is a SQLite database in a folder, which is made where it is not there.
  ///
  /// `synchronous`: whether a commit survives a crash of the machine (`.full`, for what ships).
  /// `vfs`: where SQLite keeps the store; nil is the system's files.
  public convenience init(
    package: Package, folder: String, world: World, limits: ServiceLimits = .standard,
    synchronous: Connection.Synchronous = .full, vfs: String? = nil
  ) throws(ServerError) {
    try self.init(package: package, world: world, limits: limits) { package throws(ServerError) in
      try SQLiteStore(
        folder: folder, package: package, world: world, synchronous: synchronous, vfs: vfs)
    }
  }
}

extension PackageHost {
  /// Opens the folder's store, begins to replay what waits, and loads the business system.
  ///
  /// `connector` is called three times: who replays, who loads and who reads big values have each
  /// their own. The tasks that drive them run on `loop` where one is given. `proxies`: addresses of
  /// proxies whose `X-Forwarded-For` is believed. Errors: what `Service` throws.
  public static func start(
    _ package: Package, folder: String, doorkeeper: Doorkeeper, world: World,
    limits: ServiceLimits = .standard, proxies: Set<String> = [],
    on loop: (any TaskExecutor)? = nil, connector: () -> sending any Connector
  ) async throws(ServerError) -> PackageHost {
    try await start(
      package, audit: AuditLog(path: "\(folder)/audit.jsonl", world: world),
      doorkeeper: doorkeeper, world: world, limits: limits, proxies: proxies, on: loop,
      store: { package throws(ServerError) in
        try SQLiteStore(folder: folder, package: package, world: world)
      }, connector: connector)
  }
}
