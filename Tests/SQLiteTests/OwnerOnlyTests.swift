import FerrySQLite
import Foundation
import Testing

struct OwnerOnlyTests {
  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
  }

  @Test("A store and its log are for their owner alone, also where the file was open to all before")
  func store() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for isThere in [false, true] {
      let path = folder.appending(path: "\(isThere).db").path
      if isThere {
        #expect(FileManager.default.createFile(atPath: path, contents: Data()))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      }
      let connection = try Connection(path: path)
      try connection.configureStore(synchronous: .normal)
      try connection.execute("CREATE TABLE t (n); INSERT INTO t VALUES (1)")
      for end in ["", "-wal", "-shm"] { #expect(try mode(path + end) == 0o600, "\(end)") }
    }
  }

  @Test("What its owner may not write stays so")
  func readOnly() throws {
    let folder = try Folder()
    let path = folder.path("a.db")
    #expect(FileManager.default.createFile(atPath: path, contents: Data()))
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
    // An administrator may write all the same.
    try? Connection(path: path).configureStore(synchronous: .normal)
    #expect(try mode(path) == 0o400)
  }

  @Test("A new file is for its owner alone, one that was there keeps its rights")
  func file() throws {
    let path = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)"
    ).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    _ = try PlainFile.writing(path)
    #expect(try mode(path) == 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    _ = try PlainFile.writing(path)
    #expect(try mode(path) == 0o640)
  }
}
