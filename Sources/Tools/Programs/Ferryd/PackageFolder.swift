import FerryJSON
import FerryModel
import FerrySQLiteStore
import FerryServer
import Foundation

/// The models that were deployed while the server ran, in `packages` of the data folder. Each has a
/// file, which is whole or not there; a restart serves them all.
struct PackageFolder {
  private let path: String
  private let withdrawn: WithdrawnPackages

  init(data: String) {
    path = "\(data)/packages"
    withdrawn = WithdrawnPackages(folder: data)
  }

  /// In the order of their names.
  func read() throws -> [DeployedModel] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return try names.filter { $0.hasSuffix(".json") }.sorted().map { name in
      let file = "\(path)/\(name)"
      guard let bytes = FileManager.default.contents(atPath: file),
        let node = try? JSONNode.parse([UInt8](bytes)), let model = node["model"]?.string,
        let database = node["database"]?.string, let package = node["package"]?.string
      else {
        throw StartFailure(
          "the deployed package \(file) cannot be read",
          hint: "Remove the file and deploy the package again.")
      }
      return DeployedModel(
        package: package, model: Array(model.utf8), database: database,
        mapping: node["mapping"]?.string.map { Array($0.utf8) },
        policies: Array((node["policies"]?.string ?? "").utf8))
    }
  }

  func file(of package: String) -> String {
    "\(path)/\(package.map { $0 == ":" ? "-" : String($0) }.joined()).json"
  }

  func keep(_ model: DeployedModel) throws {
    let package = model.package
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("package", package)
    writer.field("database", model.database)
    writer.field("model", String(decoding: model.model, as: UTF8.self))
    if let mapping = model.mapping {
      writer.field("mapping", String(decoding: mapping, as: UTF8.self))
    }
    if !model.policies.isEmpty {
      writer.field("policies", String(decoding: model.policies, as: UTF8.self))
    }
    writer.endObject()
    try makeFolder()
    let part = "\(file(of: package)).part"
    guard
      FileManager.default.createFile(
        atPath: part, contents: nil, attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
    let handle = try FileHandle(forWritingTo: URL(filePath: part))
    try handle.write(contentsOf: Data(writer.bytes))
    try handle.synchronize()
    try handle.close()
    guard rename(part, file(of: package)) == 0 else { throw CocoaError(.fileWriteUnknown) }
    try synchronizeNames()
  }

  func remove(_ package: String) throws {
    let file = file(of: package)
    guard FileManager.default.fileExists(atPath: file) else { return }
    try FileManager.default.removeItem(atPath: file)
    try synchronizeNames()
  }

  /// `ferry why` tells it from a package that is served.
  func noteWithdrawn(_ package: String) throws {
    try makeFolder()
    guard
      FileManager.default.createFile(
        atPath: withdrawn.file(of: package), contents: nil, attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
    try synchronizeNames()
  }

  /// The opposite; where the file cannot be removed the package is served nevertheless.
  func noteServed(_ package: String) { unlink(withdrawn.file(of: package)) }

  private func makeFolder() throws {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw CocoaError(.fileWriteUnknown) }
  }

  /// The names in the folder outlive the machine.
  private func synchronizeNames() throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CocoaError(.fileReadUnknown) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
