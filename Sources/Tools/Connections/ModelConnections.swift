import FerryConnector
import FerryModel
import FerryServer

/// The database or service of each connection that a model names.
package struct ModelConnections: Sendable, CustomStringConvertible {
  /// In the order of the model; nil is the default one.
  private let databases: [(name: String?, database: BusinessDatabase)]
  private let package: Package

  /// `file`: of the named connections. `database`: the address of the default one, where it is given
  /// apart; nil: that of the file. `mapping`: what came with the model, for REST services.
  package init(
    _ package: Package, file: ConnectionsFile?, database: String?, mapping: MappingText? = nil
  ) throws(ConnectionsError) {
    self.package = package
    databases = try PackageConnections(package).names.map { name throws(ConnectionsError) in
      let found = try ModelConnections.find(name, package, file, database)
      return (name, try found.mapped(to: package, by: mapping))
    }
  }

  private static func find(
    _ name: String?, _ package: Package, _ file: ConnectionsFile?, _ database: String?
  ) throws(ConnectionsError) -> BusinessDatabase {
    guard let name else {
      if let database { return try BusinessDatabase(database) }
      if let file, let found = file.defaultName.flatMap({ file[$0] }) { return found.database }
      guard file == nil else {
        throw ConnectionsError(
          "entities of \(package.id) name no connection, and the connections file has no \"default\"",
          hint: "Write \"default\", or give each entity a \"connection\".")
      }
      return try BusinessDatabase(nil)
    }
    guard let file else {
      throw ConnectionsError(
        "the model \(package.id) names the connection \"\(name)\"",
        hint: "Write a connections file, and name it by --connections-file.")
    }
    guard let found = file[name] else {
      throw ConnectionsError(
        "the model \(package.id) names the connection \"\(name)\", which the connections file does not have",
        hint: NearestWord.cure(name, among: file.connections.map(\.name)))
    }
    return found.database
  }

  /// For one who works over a connection; `name` is one that the model has.
  package func connector(
    _ name: String?, _ replay: ReplaySettings
  ) -> sending any Connector {
    guard let found = databases.first(where: { $0.name == name }) else {
      preconditionFailure("the model has no connection \(name ?? "without a name")")
    }
    return found.database.connector(for: package.part(of: name), replay)
  }

  /// What does not fit, over all connections.
  package func mismatches(_ replay: ReplaySettings) throws(ConnectorError) -> [Mismatch] {
    var found: [Mismatch] = []
    for (name, _) in databases {
      found += try connector(name, replay).mismatches(with: package.part(of: name))
    }
    return found
  }

  package var all: [BusinessDatabase] { databases.map(\.database) }

  /// Without secrets.
  package var description: String { all.map(\.description).joined(separator: ", ") }
}

extension Package {
  /// Only the entities whose rows a connection has.
  package func part(of connection: String?) -> Package {
    guard entities.contains(where: { $0.connection != connection }) else { return self }
    return Package(
      name: name, version: version,
      entities: entities.filter { $0.isClientOnly || $0.connection == connection },
      groups: groups, complexTypes: complexTypes, parameters: parameters)
  }
}
