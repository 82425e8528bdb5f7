import FerryArguments
import FerryJSON
import FerryServer
import Foundation
import Testing

@testable import FerryCommand

/// How commands report that they could not do what was asked.
struct FailureTests {
  /// The commands with `--json`, with words that cannot succeed, and how they end.
  private static let failing: [(words: [String], code: Int32)] = [
    (["check", "/nowhere.json"], 1),
    (["check"], 2),
    (["operation", "list", "--data", "/nowhere"], 1),
    (["new", "--from", "sqlite:/nowhere.db", "--out", "/nowhere/x"], 1),
    (["diff", "/nowhere.json"], 1),
    (["user", "remove", "--file", "/nowhere.json", "--name", "nancy"], 1),
    (["user", "sing", "--file", "/nowhere.json"], 2),
    (["status", "--data", "/nowhere"], 1),
    (["inspect", "/nowhere.db"], 1),
    (["why", "Order", "1", "--device", "/nowhere.db"], 1),
    (["why", "Order", "1"], 2),
    (["log", "--data", "/nowhere"], 1),
    (["log", "/nowhere.log"], 1),
    (["deploy", "/nowhere.json", "--data", "/nowhere"], 1),
    (["device", "list", "--data", "/nowhere"], 1),
    (["cache", "list", "--data", "/nowhere"], 1),
    (["push", "key", "--out", "/nowhere/vapid.pem"], 1),
    (["backup", "/nowhere/b", "--data", "/nowhere"], 1),
    (["restore", "/nowhere", "--data", "/nowhere/d"], 1),
    (["move", "--data", "/nowhere", "--undo"], 1),
    (["takeover", "/nowhere.db"], 2),
    (["login", "--issuer", "http://x"], 2),
    (["doctor"], 2), (["admin", "operations", "--data", "/nowhere"], 1),
    (["simulate", "--seed", "x"], 2),
    (["odata", "describe", "/nowhere.json"], 1),
    (["odata", "convert", "/nowhere.json"], 2),
    (["odata", "address", "x?$top=y"], 1),
    (["odata", "get"], 2),
  ]

  @Test("With --json each failure is one object on standard output", arguments: failing)
  func object(words: [String], code: Int32) throws {
    let end = try RunningFerry.run(words + ["--json"], withErrors: false)
    #expect(end.code == code)
    let error = try #require(try JSONNode.parse(Array(end.said.utf8))["error"], "\(end.said)")
    #expect(error["message"]?.string?.isEmpty == false, "\(end.said)")
    #expect(error["code"]?.string?.isEmpty == false)
    #expect((error["code"]?.string == "usage") == (code == 2))
    #expect(error["hint"]?.string != nil)
    #expect(end.said.filter(\.isNewline).count == 1)
    let plain = try RunningFerry.run(words, withErrors: false)
    #expect(plain.code == code && plain.said.isEmpty, "\(plain.said)")
  }

  @Test(
    "A folder where a file is expected is called so",
    arguments: [
      ["check", "/tmp"], ["diff", "/tmp"], ["inspect", "/tmp"], ["log", "/tmp"],
      ["why", "Order", "1", "--device", "/tmp"], ["user", "list", "--file", "/tmp"],
      ["new", "--from", "sqlite:/tmp", "--out", "/nowhere/x"], ["odata", "describe", "/tmp"],
    ])
  func folder(words: [String]) throws {
    let end = try RunningFerry.run(words)
    #expect(end.code == 1)
    #expect(end.said.contains("/tmp is a folder, and a file is needed here. Name"), "\(end.said)")
  }

  @Test("A data folder without a store is called so", arguments: ["why", "log"])
  func noStore(command: String) throws {
    let words = command == "why" ? ["why", "Order", "1"] : ["log"]
    let end = try RunningFerry.run(words + ["--data", "/nowhere"])
    #expect(end.code == 1)
    #expect(end.said.contains("there is no store in the folder /nowhere. Name"), "\(end.said)")
  }

  @Test("Each command with --json is in this list")
  func complete() {
    let named = Set(FailureTests.failing.map { $0.words[0] })
    let able = CommandTable.commands.filter { command in
      command.options.contains { $0.name == "json" }
    }
    #expect(named == Set(able.map { $0.name }))
  }

  @Test("The object has the exit code, and the text on standard error stays")
  func both() throws {
    let end = try RunningFerry.run(["check", "/nowhere.json", "--json"])
    #expect(
      end.said == "ferry check: /nowhere.json cannot be read. Check that the file exists and is "
        + "readable.\n"
        + #"{"error":{"code":"failed","message":"/nowhere.json cannot be read","#
        + #""hint":"Check that the file exists and is readable.","exitCode":1}}"# + "\n")
  }

  @Test("A message that ends with a mark gets no second one")
  func marks() {
    func text(_ message: String) -> String {
      CommandFailure(CommandError(message, hint: "Try again.")).text
    }
    #expect(text("it is full") == "it is full. Try again.")
    #expect(text("The disk is full.") == "The disk is full. Try again.")
    #expect(text("ERROR:  no room.\n") == "ERROR:  no room. Try again.")
    #expect(text("is it on?") == "is it on? Try again.")
    #expect(CommandFailure(ServerError(.store, "no.", hint: "Look.")).text == "no. Look.")
    #expect(CommandFailure(ServerError(.store, "no", hint: "Look.")).code == "store")
  }
}
