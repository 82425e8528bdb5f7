import FerryFaultFiles
import FerryPersistence
import FerryWorld
import Foundation
import Testing

/// A folder of its own, and faults when the test wants them.
final class PersistenceFixture {
  let root: String
  let files = FaultyFiles()
  let key = [UInt8](1...32)

  init() {
    root =
      FileManager.default.temporaryDirectory
      .appending(path: "persistence-\(UUID().uuidString)").path
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  var folder: String { root + "/store" }

  func open(isSecure: Bool = true) throws -> Persistence {
    try Persistence(
      folder: folder, isSecure: isSecure, key: isSecure ? key : nil, files: files)
  }

  /// All files of a folder with their bytes, but for locks.
  func contents(_ folder: String? = nil) throws -> [String: [UInt8]] {
    let folder = folder ?? self.folder
    var found: [String: [UInt8]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where !name.hasSuffix(".lock") && !name.hasSuffix(".session") {
      found[name] = [UInt8](try Data(contentsOf: URL(filePath: folder + "/" + name)))
    }
    return found
  }

  /// The path of the only data file.
  var dataPath: String {
    get throws {
      folder + "/" + (try #require(try contents().keys.first { $0.hasSuffix(".data") }))
    }
  }
}

/// The reason of the error that `body` throws.
func reason(
  _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) -> PersistenceError.Reason? {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    return nil
  } catch {
    let known = error as? PersistenceError
    if known == nil { Issue.record("\(error)", sourceLocation: sourceLocation) }
    return known?.reason
  }
}
