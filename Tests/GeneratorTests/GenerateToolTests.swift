import FerryGenerator
import FerryModel
import Foundation
import Testing

struct GenerateToolTests {
  @Test("A model with a mistake makes no file and a message that builds show at its place")
  func mistake() throws {
    let folder = try FixtureDatabase("").folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = folder.appending(path: "model.json").path
    let out = folder.appending(path: "Shop.swift").path
    try "{\n  \"name\": \"Shop\"\n}".write(toFile: model, atomically: true, encoding: .utf8)
    let outcome = GenerateTool.run([model, "--out", out])
    #expect(!outcome.succeeded)
    #expect(
      outcome.messages.first == "\(model):1:1: error: the model needs \"version\". Add \"version\"."
    )
    #expect(!FileManager.default.fileExists(atPath: out))
  }

  @Test("Split, each entity has a file of its own, and what did not change is not written again")
  func split() throws {
    let folder = try FixtureDatabase("").folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = folder.appending(path: "model.json").path
    let out = folder.appending(path: "Club.swift").path
    let text = try FixtureDatabase.text(ofFixture: "../GeneratedTests/club.model.json")
    try text.write(toFile: model, atomically: true, encoding: .utf8)
    #expect(GenerateTool.run([model, "--out", out, "--split"]).succeeded)
    let reading = ModelReader.read(Array(text.utf8), file: model)
    let package = try #require(reading.package)
    let names = try Set(FileManager.default.contentsOfDirectory(atPath: folder.path))
    #expect(
      names == Set(package.entities.map { "Club+\($0.name).swift" } + ["Club.swift", "model.json"]))
    let whole = SwiftRenderer.render(package, from: "model.json")
    for name in names where name.hasSuffix(".swift") {
      let part = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      let types = try #require(part.components(separatedBy: "\n\n/// ").dropFirst().first)
      #expect(whole.contains("\n\n/// \(types)"), "\(name) is a part of the whole")
    }
    let kept = folder.appending(path: "Club+Member.swift")
    let old = Date(timeIntervalSince1970: 1_000_000_000)
    try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: kept.path)
    try text.replacingOccurrences(of: "\"version\": \"1.0\"", with: "\"version\": \"1.1\"")
      .write(toFile: model, atomically: true, encoding: .utf8)
    #expect(GenerateTool.run([model, "--out", out, "--split"]).succeeded)
    #expect(try String(contentsOfFile: out, encoding: .utf8).contains("version: \"1.1\""))
    let made = try FileManager.default.attributesOfItem(atPath: kept.path)[.modificationDate]
    #expect(made as? Date == old)
  }

  @Test("A wrong line of usage and a file that is not there are said")
  func usage() {
    #expect(!GenerateTool.run([]).succeeded)
    let outcome = GenerateTool.run(["/nowhere/model.json", "--out", "/nowhere/a.swift"])
    #expect(
      outcome.messages == [
        "error: /nowhere/model.json cannot be read. Check that the file exists and is readable."
      ])
  }
}
