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
  package convenience init(
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
  package static func start(
    _ package: Package, folder: String, doorkeeper: Doorkeeper, world: World,
    limits: ServiceLimits = .standard, proxies: Set<String> = [],
    on loop: (any TaskExecutor)? = nil, connector: () -> sending any Connector
  ) async throws(ServerError) -> PackageHost {
    try await start(
      package, folder: folder, doorkeeper: doorkeeper, world: world, limits: limits,
      proxies: proxies, on: loop, connectors: { _ in connector() })
  }

  /// The same over several connections: `connectors` gets the name of one in the model.
  package static func start(
    _ package: Package, folder: String, doorkeeper: Doorkeeper, world: World,
    limits: ServiceLimits = .standard, proxies: Set<String> = [],
    cacheGroups: CacheGroups = CacheGroups(), on loop: (any TaskExecutor)? = nil,
    connectors: (_ connection: String?) -> sending any Connector
  ) async throws(ServerError) -> PackageHost {
    try await start(
      package, audit: AuditLog(path: "\(folder)/audit.jsonl", world: world),
      doorkeeper: doorkeeper, world: world, limits: limits, proxies: proxies,
      cacheGroups: cacheGroups, on: loop,
      store: { package throws(ServerError) in
        try SQLiteStore(folder: folder, package: package, world: world)
      }, connectors: connectors)
  }
}

/// The store of a server with several packages, on the thread of their services.
package struct SQLiteServer: Sendable {
  private let folder: String
  private let file: Confined<SQLiteFile>
  private let threads: ServerThreads
  private let audit: AuditLog

  /// Opens the folder's store, or makes it. Errors: what the folder and the store throw.
  package init(
    folder: String, audit: AuditLog, threads: ServerThreads, world: World
  ) async throws(ServerError) {
    self.folder = folder
    self.threads = threads
    self.audit = audit
    file = try await threads.confined { () throws(ServerError) in
      try SQLiteFile(folder: folder, world: world)
    }
  }

  /// The last call: moves all that was written into the file `server.sqlite` itself, so that nothing
  /// is missing in a copy of it alone. Errors: what the disk answers; nothing is lost then.
  package func settle() async throws(ServerError) {
    let file = file
    _ = try await threads.confined { () throws(ServerError) in try file.value.settle() }
  }

  /// Begins to serve a package, as `PackageHost.start` does. `connectors` gets the name of a connection
  /// in the model; nil is the default one.
  package func start(
    _ package: Package, doorkeeper: Doorkeeper, world: World, limits: ServiceLimits,
    proxies: Set<String>, cacheGroups: CacheGroups = CacheGroups(), on loop: (any TaskExecutor)?,
    connectors: (_ connection: String?) -> sending any Connector
  ) async throws(ServerError) -> PackageHost {
    let file = file
    return try await PackageHost.start(
      package, audit: audit, doorkeeper: doorkeeper, world: world, limits: limits,
      proxies: proxies, cacheGroups: cacheGroups, on: loop, threads: threads,
      store: { package throws(ServerError) in try SQLiteStore(file.value, package: package) },
      connectors: connectors)
  }
}
