import Foundation

/// The checkout that these tests stand in, read once.
enum House {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static let map = PackageMap(read("Package.swift"))

  /// Every file and folder that is kept in the repository, from the root, with `/`.
  static let paths: [String] = {
    let left: Set = [".build", ".git", ".swiftpm", ".DS_Store"]
    var found: [String] = []
    func visit(_ folder: String) {
      let url = folder.isEmpty ? root : root.appending(path: folder)
      let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
      for name in names.sorted() where !left.contains(name) {
        let path = folder.isEmpty ? name : folder + "/" + name
        found.append(path)
        var isFolder: ObjCBool = false
        let place = root.appending(path: path).path
        if FileManager.default.fileExists(atPath: place, isDirectory: &isFolder), isFolder.boolValue
        {
          visit(path)
        }
      }
    }
    visit("")
    return found
  }()

  /// The Swift files of Sources, Tests and Plugins, and of samples that are targets here.
  static let files: [SourceFile] = paths.filter { path in
    path.hasSuffix(".swift")
      && (["Sources/", "Tests/", "Plugins/"].contains { path.hasPrefix($0) }
        || path.hasPrefix("Samples/") && map.target(of: path) != nil)
  }.map { SourceFile(path: $0, read($0)) }

  static let sources = files.filter { $0.isIn("Sources") }
  static let tests = files.filter { $0.isIn("Tests") }

  /// Texts of every kind that people and machines read here.
  static let texts: [(path: String, lines: [String])] = paths.filter { path in
    [".swift", ".md", ".json", ".sh", ".yml", ".h", ".modulemap", ".conf"]
      .contains { path.hasSuffix($0) } || path.hasPrefix("Scripts/") || path.hasPrefix(".ci/")
  }.map { path in
    (path, read(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
  }

  static func read(_ path: String) -> String {
    guard let data = try? Data(contentsOf: root.appending(path: path)) else { return "" }
    return String(decoding: data, as: UTF8.self)
  }
}
