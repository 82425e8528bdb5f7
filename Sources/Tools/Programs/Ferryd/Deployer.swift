import FerryConnections
import FerryConnector
import FerryModel
import FerryServer
import FerryWorld
import Foundation

/// Starts the packages of a server, and changes them while it runs, one change at a time.
actor Deployer: Deployment {
  private let settings: Settings
  private let stores: any PackageStores
  private let server: ServerHost
  private let world: World
  private var served: [String: Served] = [:]
  private var isChanging = false
  private var isStopped = false
  /// How often something was changed here.
  private var changes = 0
  /// Why what others have deployed is not served here, as it was logged last.
  private var trouble: [String: String] = [:]

  private struct Served {
    let model: ServedModel
    let running: any RunningPackage
  }

  init(
    _ settings: Settings, _ stores: any PackageStores, _ server: ServerHost, _ world: World
  ) {
    self.settings = settings
    self.stores = stores
    self.server = server
    self.world = world
  }

  /// Serves a model that fits its database.
  func start(_ model: ServedModel) async throws(ServerError) {
    for database in model.database.all { try database.serve() }
    let (server, id) = (server, model.package.id)
    let running = try await stores.start(model) { server.set(id, $0) }
    served[id] = Served(model: model, running: running)
  }

  func database(of package: String) -> String? { served[package]?.model.database.description }

  func deploy(_ order: DeployOrder) async throws(ServerError) -> Deployed {
    try begin()
    defer { isChanging = false }
    let model = try read(order)
    let id = model.package.id
    guard let old = served[id] else {
      try await start(model)
      do throws(ServerError) { try await stores.keep(model.kept) } catch {
        await stop(id)
        throw error
      }
      world.log.info("a package was deployed", ("package", id), ("database", "\(model.database)"))
      return Deployed(id, .added)
    }
    guard
      model.bytes != old.model.bytes || model.address != old.model.address
        || model.mapping != old.model.mapping
    else {
      return try await changePolicies(of: old, to: model)
    }
    guard old.model.isDeployed else {
      throw ServerError(
        .badRequest, "\(id) cannot be replaced: --model \(old.model.file) of ferryd names it",
        hint: "Give the model a higher version, or change that file and restart ferryd.")
    }
    guard model.package.shape == old.model.package.shape else {
      throw ServerError(
        .changedModel,
        "the model \(id) changes the data that devices get, but has the same version",
        hint: "Give the model a higher version.")
    }
    try await replace(old, by: model, keeps: true)
    world.log.info("a package was replaced", ("package", id), ("database", "\(model.database)"))
    return Deployed(id, .replaced)
  }

  /// Policies change without a new host.
  private func changePolicies(
    of old: Served, to new: ServedModel
  ) async throws(ServerError) -> Deployed {
    let id = new.package.id
    guard old.model.isDeployed, new.policyBytes != old.model.policyBytes else {
      return Deployed(id, .unchanged)
    }
    try await stores.keep(new.kept)
    try stores.change(new)
    served[id] = Served(model: new, running: old.running)
    world.log.info("the policies of a package were changed", ("package", id))
    return Deployed(id, .policiesChanged)
  }

  /// Devices of the package wait in between.
  private func replace(
    _ old: Served, by new: ServedModel, keeps: Bool
  ) async throws(ServerError) {
    let id = new.package.id
    server.set(id, nil)
    await old.running.end()
    do throws(ServerError) {
      try await start(new)
      guard keeps else { return }
      do throws(ServerError) { try await stores.keep(new.kept) } catch {
        server.set(id, nil)
        await served[id]?.running.end()
        throw error
      }
    } catch {
      // What was served before is served again.
      try await start(old.model)
      throw error
    }
  }

  func withdraw(_ package: String) async throws(ServerError) -> String? {
    try begin()
    defer { isChanging = false }
    guard let old = served[package] else {
      throw ServerError(
        .badRequest, "this server has no package \(package)",
        hint: "`ferry deploy --list` shows all packages.")
    }
    try await stores.remove(package)
    await stop(package)
    world.log.info("a package was withdrawn", ("package", package))
    guard !old.model.isDeployed else { return nil }
    return stores.notice(old.model.file)
  }

  private func stop(_ package: String) async {
    let old = served.removeValue(forKey: package)
    server.remove(package)
    await old?.running.end()
    // A node that had just changed its role may have come back in between.
    server.remove(package)
  }

  private func begin() throws(ServerError) {
    guard !isChanging else {
      throw ServerError(
        .badRequest, "another package is being deployed or withdrawn",
        hint: "Try again in a moment.", isTransient: true)
    }
    isChanging = true
    changes += 1
  }

  /// Everything ends in good order; nothing is changed any more.
  func stop() async {
    isStopped = true
    for one in served.values { await one.running.stop() }
  }

  /// As `stop`, and returns when nothing more is performed or loaded. A package whose work lasts
  /// keeps no other one from ending.
  func end() async {
    await stop()
    for one in served.values { await one.running.end() }
  }

  /// Serves what other servers of the store have deployed, and ends what they have withdrawn. False
  /// when the server ends.
  func follow(_ stores: SharedStores) async -> Bool {
    let seen = changes
    let deployed: [DeployedModel]
    do throws(ServerError) { deployed = try await stores.deployed() } catch {
      world.log.debug("the deployed models cannot be read", ("reason", error.message))
      return !isStopped
    }
    // What was changed here meanwhile may be missing in what was read.
    guard !isStopped, !isChanging, seen == changes else { return !isStopped }
    isChanging = true
    defer { isChanging = false }
    for model in deployed { await follow(model) }
    let names = Set(deployed.map(\.package))
    for (id, old) in served where old.model.isDeployed && !names.contains(id) {
      await stop(id)
      world.log.info("a package was withdrawn by another server", ("package", id))
    }
    return !isStopped
  }

  private func follow(_ model: DeployedModel) async {
    let old = served[model.package]
    if let old {
      // What the command line names is served as it says.
      guard old.model.isDeployed, old.model.kept != model else { return }
    }
    do throws(ServerError) {
      let new = try read(
        DeployOrder(
          model: model.model, file: "deployed \(model.package)",
          database: model.database.isEmpty ? nil : model.database, mapping: model.mapping))
      if let old {
        try await replace(old, by: new, keeps: false)
      } else {
        try await start(new)
      }
      trouble[model.package] = nil
      world.log.info("another server has deployed a package", ("package", model.package))
    } catch {
      guard trouble[model.package] != error.message else { return }
      trouble[model.package] = error.message
      world.log.error(
        "a package that another server has deployed cannot be served", ("package", model.package),
        ("reason", error.message), ("cure", error.hint))
    }
  }

  /// Throws where the model cannot be served.
  private func read(_ order: DeployOrder) throws(ServerError) -> ServedModel {
    do {
      let model = try ServedModel(
        order.model, order.file, database: order.database ?? settings.database,
        settings.connectionsFile, isDeployed: true, mapping: order.mapping,
        policies: order.policies)
      guard order.policies.isEmpty || stores.keepsPolicies else {
        throw StartFailure(
          "this server keeps its packages in PostgreSQL, and no policies with them",
          hint: "Name the model with --model; its file of policies is beside it.")
      }
      try model.check(settings.replay)
      return model
    } catch let error as ConnectionsError {
      throw ServerError(.badModel, error.message, hint: error.hint)
    } catch let error as StartFailure {
      throw ServerError(.badModel, error.message, hint: error.hint)
    } catch let error as ConnectorError {
      throw ServerError(.badModel, error.message, hint: error.hint)
    } catch {
      throw ServerError(.badModel, "\(error)", hint: "Nothing was changed.")
    }
  }
}
