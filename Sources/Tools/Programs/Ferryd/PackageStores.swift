import FerryConnector
import FerryPostgreSQL
import FerryPostgreSQLStore
import FerrySQLiteStore
import FerryServer
import FerryWorld
import Foundation

/// Where the packages of a server keep what they have, and where deployed models are kept.
protocol PackageStores: Sendable {
  /// Begins to serve a model. `publish` gets who answers its devices; nil: nobody for the moment.
  func start(
    _ model: ServedModel, publish: @escaping @Sendable (PackageHost?) -> Void
  ) async throws(ServerError) -> any RunningPackage

  /// A restart serves the model too.
  func keep(_ model: DeployedModel) async throws(ServerError)
  func remove(_ package: String) async throws(ServerError)

  /// Whether a model that is kept has its policies with it.
  var keepsPolicies: Bool { get }
  /// Other policies hold for a model that is served.
  func change(_ model: ServedModel) throws(ServerError)

  /// The last call, after which the server ends. What it does not finish a later start does.
  func settle() async throws(ServerError)

  /// What the operator should know who withdraws a package that `file` of the command line names.
  func notice(_ file: String) -> String
}

/// A package that is served.
protocol RunningPackage: Sendable {
  /// Ends in good order: what is in work is finished.
  func stop() async
  /// As `stop`, and returns when nothing more is performed or loaded.
  func end() async
}

extension PackageHost: RunningPackage {}

/// What all packages of a server are started with.
struct PackageSurroundings: Sendable {
  let settings: Settings
  let doorkeeper: Doorkeeper
  let audit: AuditLog
  let threads: ServerThreads
  let world: World
  let loop: any TaskExecutor
  let policies: PolicyBoard
}

/// One file for all packages, and one server.
struct FileStores: PackageStores {
  private let around: PackageSurroundings
  private let store: SQLiteServer
  private let folder: PackageFolder

  init(_ around: PackageSurroundings) async throws(ServerError) {
    self.around = around
    store = try await SQLiteServer(
      folder: around.settings.folder, audit: around.audit, threads: around.threads,
      world: around.world)
    folder = PackageFolder(data: around.settings.folder)
  }

  func start(
    _ model: ServedModel, publish: @escaping @Sendable (PackageHost?) -> Void
  ) async throws(ServerError) -> any RunningPackage {
    let settings = around.settings
    folder.noteServed(model.package.id)
    let groups = try around.policies.groups(of: model)
    let host = try await store.start(
      model.package, doorkeeper: around.doorkeeper, world: around.world, limits: settings.limits,
      proxies: settings.proxies, cacheGroups: groups, on: around.loop
    ) { model.connector($0, settings.replay) }
    publish(host)
    return host
  }

  func keep(_ model: DeployedModel) throws(ServerError) {
    do { try folder.keep(model) } catch {
      throw ServerError(
        .folderNotWritable,
        "the model cannot be kept in \(folder.file(of: model.package)): \(error)",
        hint: "Make room, or give the user of the server the right to write there.")
    }
  }

  func remove(_ package: String) throws(ServerError) {
    do {
      try folder.remove(package)
      try folder.noteWithdrawn(package)
    } catch {
      throw ServerError(
        .folderNotWritable, "the file \(folder.file(of: package)) cannot be removed",
        hint: "Give the user of the server the right to change it.")
    }
  }

  var keepsPolicies: Bool { true }

  func change(_ model: ServedModel) throws(ServerError) {
    _ = try around.policies.groups(of: model)
  }

  func settle() async throws(ServerError) { try await store.settle() }

  func notice(_ file: String) -> String {
    "The command line of ferryd names it: leave out --model \(file) at the next start, or it is "
      + "served again."
  }
}

/// A database that several servers share. Each package is led by one of them, which need not be the
/// one that leads the others.
struct SharedStores: PackageStores {
  private let around: PackageSurroundings
  private let address: PostgreSQLAddress
  /// Of this server alone: the key of its operator.
  private let folder: Folder
  private let models: Confined<DeployedModels>
  private let thread = ThreadExecutor(name: "ferry-deployed")

  init(_ around: PackageSurroundings, _ address: PostgreSQLAddress) throws(ServerError) {
    self.around = around
    self.address = address
    folder = try Folder(around.settings.folder)
    models = Confined(DeployedModels(address), on: thread)
  }

  func start(
    _ model: ServedModel, publish: @escaping @Sendable (PackageHost?) -> Void
  ) async throws(ServerError) -> any RunningPackage {
    let replay = around.settings.replay
    return try await PackageNode.start(
      PackageNode.Settings(
        address: address, package: model.package,
        cacheGroups: try around.policies.groups(of: model),
        name: "\(ProcessInfo.processInfo.hostName) \(getpid())"),
      around, folder, publish: publish
    ) { model.connector($0, replay) }
  }

  func keep(_ model: DeployedModel) async throws(ServerError) {
    try await onThread { models throws(ServerError) in try models.keep(model) }
  }

  func remove(_ package: String) async throws(ServerError) {
    try await onThread { models throws(ServerError) in try models.remove(package) }
  }

  /// What is deployed now, by whichever server.
  func deployed() async throws(ServerError) -> [DeployedModel] {
    try await onThread { models throws(ServerError) in try models.read() }
  }

  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable (DeployedModels) throws(ServerError) -> Value
  ) async throws(ServerError) -> Value {
    let models = models
    return try await thread.run { () -> Result<Value, ServerError> in
      do throws(ServerError) { return .success(try body(models.value)) } catch {
        return .failure(error)
      }
    }.get()
  }

  var keepsPolicies: Bool { false }

  func change(_ model: ServedModel) throws(ServerError) {
    _ = try around.policies.groups(of: model)
  }

  func settle() {}

  func notice(_ file: String) -> String {
    "The command line of ferryd names it: other servers of the store serve it still. Leave out "
      + "--model \(file) at the next start of each, or it is served again."
  }
}
