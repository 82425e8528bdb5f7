import FerryGenerator
import FerryModel
import FerrySQLite
import Foundation
import Testing

struct AwkwardTests {
  private func made(_ database: FixtureDatabase) throws -> ModelMaker.Result {
    // Without its source, which is a path of this run.
    try ModelMaker.make(
      from: try SchemaReader.read(path: database.path),
      options: TranslationOptions(
        name: "Awkward", partitions: [try PartitionRequest("Kunden=Kürzel:claim:customer")],
        writable: .all, kept: .all),
      file: "awkward.model.json")
  }

  @Test("The awkward schema gives the model that was approved, and it passes its check")
  func model() throws {
    let database = try FixtureDatabase.awkward()
    let made = try made(database)
    #expect(
      try FixtureDatabase.differs(made.text, from: "../GeneratedTests/awkward.model.json") == nil)
    #expect(made.warnings == [])
    #expect(try self.made(database).text == made.text)
  }

  @Test("The notes on the awkward schema are the approved ones, each with a cure")
  func notes() throws {
    let made = try made(try FixtureDatabase.awkward())
    let text = made.translation.notes.map { "\($0.kind.rawValue) \($0)" }.joined(separator: "\n")
    #expect(try FixtureDatabase.differs(text + "\n", from: "awkward.notes.txt") == nil)
    #expect(made.translation.notes.allSatisfy { !$0.cure.isEmpty })
  }

  @Test("The awkward model gives the Swift code that was approved")
  func code() throws {
    let package = try made(try FixtureDatabase.awkward()).translation.package
    let code = SwiftRenderer.render(package, from: "awkward.model.json")
    #expect(try FixtureDatabase.differs(code, from: "Awkward.swift.txt") == nil)
  }

  @Test("Reading a schema leaves the file as it was, byte for byte")
  func readOnly() throws {
    let database = try FixtureDatabase.awkward()
    let before = try Data(contentsOf: URL(filePath: database.path))
    _ = try made(database)
    #expect(try Data(contentsOf: URL(filePath: database.path)) == before)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: database.folder.path) == ["business.db"])
  }

  @Test("Against its own database the awkward model has no difference that stops a device")
  func ownDifference() throws {
    let database = try FixtureDatabase.awkward()
    let difference = try ModelDifference.compare(
      try made(database).translation.package, withSQLite: database.path)
    #expect(difference.canGoOn)
    #expect(difference.changes.allSatisfy { $0.what.contains("that the model does not have") })
  }

  @Test("A file that is no database, or is not there, or is locked, has an error with its cure")
  func noDatabase() throws {
    let database = try FixtureDatabase("CREATE TABLE a (n INTEGER PRIMARY KEY)")
    let text = database.folder.appending(path: "text.db")
    try String(repeating: "no database ", count: 200).write(
      to: text, atomically: true, encoding: .utf8)
    #expect(message(text.path).contains("is not a SQLite database"))
    #expect(
      message(database.folder.appending(path: "missing.db").path).contains("cannot be opened"))
    let other = try Connection(path: database.path)
    try other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
    #expect(message(database.path).contains("is locked by another program"))
  }

  private func message(_ path: String) -> String {
    do throws(GeneratorError) {
      _ = try SchemaReader.read(path: path)
      return ""
    } catch {
      return error.hint.isEmpty ? "" : error.message
    }
  }
}
