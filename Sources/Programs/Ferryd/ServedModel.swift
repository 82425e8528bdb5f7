import FerryArguments
import FerryConnector
import FerryModel
import Foundation

/// A model that is served, and the database of its rows.
struct ServedModel {
  let package: Package
  let database: BusinessDatabase
  let file: String

  /// Those that the command line names, in its order.
  static func read(
    _ arguments: Arguments, _ development: DevelopmentSetup?
  ) throws -> [ServedModel] {
    var files = arguments.values("model")
    if let development { files = [development.model] }
    if files.isEmpty { files = [try arguments.required("model", "model.json")] }
    var models: [ServedModel] = []
    for file in files {
      let model = try ServedModel(file, database: try arguments.value("database"))
      if let other = models.first(where: { $0.package.id == model.package.id }) {
        throw UsageError(
          "the models \(other.file) and \(file) are both \(model.package.id)",
          hint: "Leave out one of them, or give the newer one a higher version.")
      }
      models.append(model)
    }
    return models
  }

  private init(_ file: String, database: String?) throws {
    guard let bytes = FileManager.default.contents(atPath: file) else {
      throw UsageError("the model \(file) cannot be read", hint: "Make one with `ferry new`.")
    }
    let reading = ModelReader.read([UInt8](bytes), file: file)
    guard let package = reading.package else {
      let errors = reading.errors.map(\.description).joined(separator: "\n")
      throw StartFailure(
        "the model has errors\n\(errors)", hint: "`ferry check \(file)` explains them.")
    }
    self.package = package
    self.database = try BusinessDatabase(database ?? reading.source)
    self.file = file
  }

  func connector(remembersOperations: Bool) -> sending any Connector {
    database.connector(for: package, remembersOperations: remembersOperations)
  }

  /// A model that does not fit its database is told before anything is touched.
  func check(remembersOperations: Bool) throws {
    let mismatches = try connector(remembersOperations: remembersOperations)
      .mismatches(with: package)
    guard mismatches.isEmpty else {
      let lines = mismatches.map(\.description).joined(separator: "\n  ")
      throw StartFailure(
        "the model \(package.id) does not fit the database \(database):\n  \(lines)",
        hint: "Nothing was changed.")
    }
  }
}
