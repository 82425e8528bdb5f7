import FerryArguments
import FerryCachePolicies
import FerryConnections
import FerryConnector
import FerryModel
import FerryServer
import Foundation

/// A model that is served, and the databases and services of its rows.
struct ServedModel {
  let package: Package
  let database: ModelConnections
  let file: String
  /// Of the model, and the address of the database as it was written; empty where the file of
  /// connections names it.
  let bytes: [UInt8]
  let address: String
  /// When its rows are read, and the file that says so; nil where there can be none.
  let policies: CachePolicies
  let policyFile: PolicyFile?
  /// Those of a deployed model; empty where there are none.
  let policyBytes: [UInt8]
  /// Whether it was deployed while the server ran; the command line names all others.
  let isDeployed: Bool
  /// Of a REST service, where it was deployed with the model.
  let mapping: [UInt8]?

  /// Those that the command line names, in its order, and those that were deployed.
  static func read(
    _ arguments: Arguments, _ development: DevelopmentSetup?, _ kept: [DeployedModel],
    _ connections: ConnectionsFile?
  ) throws -> [ServedModel] {
    let database = try arguments.value("database")
    var files = arguments.values("model")
    if let development { files = [development.model] }
    if files.isEmpty, kept.isEmpty { files = [try arguments.required("model", "model.json")] }
    var models: [ServedModel] = []
    for file in files {
      guard let bytes = FileManager.default.contents(atPath: file) else {
        throw UsageError("the model \(file) cannot be read", hint: "Make one with `ferry new`.")
      }
      let model = try ServedModel(
        [UInt8](bytes), file, database: database, connections, isDeployed: false)
      if let other = models.first(where: { $0.package.id == model.package.id }) {
        throw UsageError(
          "the models \(other.file) and \(file) are both of the version \(model.package.id)",
          hint: "Leave out one of them, or give the newer one a higher version.")
      }
      models.append(model)
    }
    for kept in kept {
      let model = try ServedModel(
        kept.model, "deployed \(kept.package)",
        database: kept.database.isEmpty ? nil : kept.database, connections, isDeployed: true,
        mapping: kept.mapping, policies: kept.policies)
      if let other = models.first(where: { $0.package.id == model.package.id }) {
        throw UsageError(
          "\(model.package.id) is named by --model \(other.file) and was deployed too",
          hint: "Leave out --model \(other.file).")
      }
      models.append(model)
    }
    return models
  }

  /// `database`: nil where the model or the file of connections names it.
  init(
    _ bytes: [UInt8], _ file: String, database: String?, _ connections: ConnectionsFile?,
    isDeployed: Bool, mapping: [UInt8]? = nil, policies: [UInt8] = []
  ) throws {
    let reading = ModelReader.read(bytes, file: file, isZone: SystemZones.has)
    guard let package = reading.package else {
      let errors = reading.errors.map(\.description).joined(separator: "\n")
      throw StartFailure(
        "the model has errors\n\(errors)", hint: "`ferry check \(file)` explains them.")
    }
    self.package = package
    self.file = file
    self.bytes = bytes
    // Where a file of connections is given, it says where the rows are, and not the model.
    let text = database ?? (connections == nil ? reading.source : nil) ?? ""
    let beside =
      isDeployed
      ? mapping.map { MappingText(bytes: $0, name: "the mapping of \(package.id)", folder: nil) }
      : MappingText(of: package, besideModel: file)
    self.database = try ModelConnections(
      package, file: connections, database: text.isEmpty ? nil : text, mapping: beside)
    self.mapping = mapping
    address = isDeployed ? BusinessDatabase.absolute(text) : text
    self.isDeployed = isDeployed
    policyFile = isDeployed ? nil : PolicyFile(of: package, beside: file)
    policyBytes = policies
    if let policyFile {
      self.policies = try policyFile.read(for: package)
    } else if policies.isEmpty {
      self.policies = .none
    } else {
      self.policies = try PolicyFile.parse(policies, for: package, "the file of policies")
    }
  }

  /// As it is kept for the next start.
  var kept: DeployedModel {
    DeployedModel(
      package: package.id, model: bytes, database: address, mapping: mapping,
      policies: policyBytes)
  }

  /// `connection`: its name in the model.
  func connector(_ connection: String?, _ replay: ReplaySettings) -> sending any Connector {
    database.connector(connection, replay)
  }

  /// A model that does not fit its database is told before anything is touched.
  func check(_ replay: ReplaySettings) throws {
    let mismatches = try database.mismatches(replay)
    guard mismatches.isEmpty else {
      let lines = mismatches.map(\.description).joined(separator: "\n  ")
      throw StartFailure(
        "the model \(package.id) does not fit the database \(database):\n  \(lines)",
        hint: "Nothing was changed.")
    }
  }
}
