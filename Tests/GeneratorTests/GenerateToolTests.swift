import FerryGenerator
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

  @Test("A wrong line of usage and a file that is not there are said")
  func usage() {
    #expect(!GenerateTool.run([]).succeeded)
    let outcome = GenerateTool.run(["/nowhere/model.json", "--out", "/nowhere/a.swift"])
    #expect(
      outcome.messages == [
        "error: /nowhere/model.json cannot be read. Look whether the file is there and may be read."
      ])
  }
}
