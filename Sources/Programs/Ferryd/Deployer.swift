import FerryConnector
import FerryModel
import FerrySQLiteStore
import FerryServer
import FerryWorld
import Foundation

/// Starts the packages of a server, and changes them while it runs, one change at a time.
actor Deployer: Deployment {
  private let settings: Settings
  private let store: SQLiteServer
  private let server: ServerHost
  private let doorkeeper: Doorkeeper
  private let world: World
  private let loop: any TaskExecutor
  private let folder: PackageFolder
  private var served: [String: Served] = [:]
  private var isChanging = false

  private struct Served {
    let model: ServedModel
    let host: PackageHost
  }

  init(
    _ settings: Settings, _ store: SQLiteServer, _ server: ServerHost, _ doorkeeper: Doorkeeper,
    _ world: World, on loop: any TaskExecutor
  ) {
    self.settings = settings
    self.store = store
    self.server = server
    self.doorkeeper = doorkeeper
    self.world = world
    self.loop = loop
    folder = PackageFolder(data: settings.folder)
  }

  /// Serves a model that fits its database.
  func start(_ model: ServedModel) async throws(ServerError) {
    let remembersOperations = settings.remembersOperations
    let host = try await store.start(
      model.package, doorkeeper: doorkeeper, world: world, limits: settings.limits,
      proxies: settings.proxies, on: loop
    ) { model.connector(remembersOperations: remembersOperations) }
    served[model.package.id] = Served(model: model, host: host)
    server.set(model.package.id, host)
  }

  func database(of package: String) -> String? { served[package]?.model.database.description }

  func deploy(_ order: DeployOrder) async throws(ServerError) -> Deployed {
    try begin()
    defer { isChanging = false }
    let model = try read(order)
    let id = model.package.id
    guard let old = served[id] else {
      try await start(model)
      do throws(ServerError) { try keep(model) } catch {
        await stop(id)
        throw error
      }
      world.log.info("a package was deployed", ("package", id), ("database", "\(model.database)"))
      return Deployed(id, .added)
    }
    guard model.bytes != old.model.bytes || model.address != old.model.address else {
      return Deployed(id, .unchanged)
    }
    guard old.model.isDeployed else {
      throw ServerError(
        .badRequest, "\(id) is named by --model \(old.model.file) of the server's command line",
        hint: "Give the model a higher version, or change that file and restart ferryd.")
    }
    guard model.package.shape == old.model.package.shape else {
      throw ServerError(
        .changedModel, "the model \(id) has changed in what devices get, but not its version",
        hint: "Give the model a higher version. `ferry diff` says what changed.")
    }
    try await replace(old, by: model)
    world.log.info("a package was replaced", ("package", id), ("database", "\(model.database)"))
    return Deployed(id, .replaced)
  }

  /// Devices of the package wait in between.
  private func replace(_ old: Served, by new: ServedModel) async throws(ServerError) {
    server.set(new.package.id, nil)
    await old.host.end()
    do throws(ServerError) {
      try await start(new)
      do throws(ServerError) { try keep(new) } catch {
        server.set(new.package.id, nil)
        await served[new.package.id]?.host.end()
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
        hint: "`ferry deploy --list` shows all.")
    }
    do { try folder.remove(package) } catch {
      throw ServerError(
        .folderNotWritable, "the file \(folder.file(of: package)) cannot be removed",
        hint: "Give the user of the server the right to change it.")
    }
    await stop(package)
    world.log.info("a package was withdrawn", ("package", package))
    guard !old.model.isDeployed else { return nil }
    return "The command line of ferryd names it: leave out --model \(old.model.file) at the next "
      + "start, or it is served again."
  }

  private func stop(_ package: String) async {
    let old = served.removeValue(forKey: package)
    server.remove(package)
    await old?.host.end()
  }

  private func begin() throws(ServerError) {
    guard !isChanging else {
      throw ServerError(
        .badRequest, "another package is being deployed or withdrawn",
        hint: "Try again when that has ended.", isTransient: true)
    }
    isChanging = true
  }

  /// Throws where the model cannot be served.
  private func read(_ order: DeployOrder) throws(ServerError) -> ServedModel {
    do {
      let model = try ServedModel(
        order.model, order.file, database: order.database ?? settings.database, isDeployed: true)
      try model.check(remembersOperations: settings.remembersOperations)
      return model
    } catch let error as StartFailure {
      throw ServerError(.badModel, error.message, hint: error.hint)
    } catch let error as ConnectorError {
      throw ServerError(.badModel, error.message, hint: error.hint)
    } catch {
      throw ServerError(.badModel, "\(error)", hint: "Nothing was changed.")
    }
  }

  private func keep(_ model: ServedModel) throws(ServerError) {
    do {
      try folder.keep(model.bytes, database: model.address, of: model.package.id)
    } catch {
      throw ServerError(
        .folderNotWritable,
        "the model cannot be kept in \(folder.file(of: model.package.id)): \(error)",
        hint: "Make room, or give the user of the server the right to write there.")
    }
  }
}
