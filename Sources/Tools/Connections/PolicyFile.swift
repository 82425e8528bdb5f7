import FerryCachePolicies
import FerryModel
import Foundation

/// The file of a package's policies, beside the model.
package struct PolicyFile: Sendable {
  package let path: String

  package init(of package: Package, beside model: String) {
    let folder = URL(filePath: model).deletingLastPathComponent().path
    path = "\(folder)/\(CachePolicies.fileName(of: package))"
  }

  /// No policies where there is no file. Throws what is wrong, with the file's name.
  package func read(for package: Package) throws(ConnectionsError) -> CachePolicies {
    guard FileManager.default.fileExists(atPath: path) else { return .none }
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw ConnectionsError(
        "the policies \(path) cannot be read",
        hint: "Give the user of ferryd the right to read the file.")
    }
    return try PolicyFile.parse([UInt8](bytes), for: package, path)
  }

  /// The same of a text; `name`: what messages call it.
  package static func parse(
    _ bytes: [UInt8], for package: Package, _ name: String
  ) throws(ConnectionsError) -> CachePolicies {
    do throws(PolicyFault) {
      return try CachePolicies(bytes, for: package, zone: PolicyFile.zone)
    } catch {
      throw ConnectionsError(
        "\(name) is wrong: \(error.place) \(error.problem)", hint: error.cure)
    }
  }

  private static func zone(_ name: String) -> ZoneClock? {
    SystemZones.offset(of: name).map { ZoneClock(name: name, offset: $0) }
  }
}
