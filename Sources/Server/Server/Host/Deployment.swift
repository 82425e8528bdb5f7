/// Changes the packages of a running server; the program that runs it does so.
package protocol Deployment: Sendable {
  /// Serves a model from now on, and after a restart. Nothing has changed where it throws.
  func deploy(_ order: DeployOrder) async throws(ServerError) -> Deployed

  /// Serves a package no more. Its rows stay in the store. Returns what the operator should know.
  func withdraw(_ package: String) async throws(ServerError) -> String?

  /// The database of a package that is served, as messages name it.
  func database(of package: String) async -> String?
}

/// What an operator wants to be served.
package struct DeployOrder: Sendable {
  /// The bytes of a model file, and what messages call it.
  package let model: [UInt8]
  package let file: String
  /// The business database; nil: the one that the server or the model names.
  package let database: String?
  /// The text of the mapping of a REST service; nil where it has none of its own.
  package let mapping: [UInt8]?
  /// The bytes of a file of policies; empty: there are none.
  package let policies: [UInt8]

  package init(
    model: [UInt8], file: String, database: String?, mapping: [UInt8]? = nil,
    policies: [UInt8] = []
  ) {
    self.mapping = mapping
    self.model = model
    self.file = file
    self.database = database
    self.policies = policies
  }
}

/// A model that was deployed, as it is kept for the next start.
package struct DeployedModel: Sendable, Equatable {
  /// Its name and version.
  package let package: String
  /// The bytes of the model file.
  package let model: [UInt8]
  /// The address of its business database.
  package let database: String
  /// The text of the mapping of a REST service; nil where it has none of its own.
  package let mapping: [UInt8]?
  /// The bytes of its file of policies; empty: there are none.
  package let policies: [UInt8]

  package init(
    package: String, model: [UInt8], database: String, mapping: [UInt8]? = nil,
    policies: [UInt8] = []
  ) {
    self.mapping = mapping
    self.package = package
    self.model = model
    self.database = database
    self.policies = policies
  }
}

/// What a deployment has done.
package struct Deployed: Sendable {
  /// How the packages of the server have changed.
  package enum Outcome: String, Sendable {
    /// The server has not served this version before.
    case added
    /// The model of this version has changed in a way that devices need not know.
    case replaced
    /// The same model was served already; other policies hold for it.
    case policiesChanged
    /// The same model was served already.
    case unchanged
  }

  package let package: String
  package let outcome: Outcome

  package init(_ package: String, _ outcome: Outcome) {
    self.package = package
    self.outcome = outcome
  }
}
