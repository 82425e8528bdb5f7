import FerryServer

/// Which packages of a data folder were withdrawn: their rows stay in its store, for a package that
/// is served again. Each has an empty file in `packages`.
package struct WithdrawnPackages: Sendable {
  private let folder: String

  package init(folder: String) { self.folder = folder }

  package func contains(_ package: String) -> Bool { Folder.isFile(file(of: package)) }

  /// Where a file says so.
  package func file(of package: String) -> String {
    "\(folder)/packages/\(package.map { $0 == ":" ? "-" : String($0) }.joined()).withdrawn"
  }
}
