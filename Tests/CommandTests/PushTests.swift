import FerryCrypto
import FerryJSON
import FerryPush
import Foundation
import Testing

@testable import FerryCommand

struct PushTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "ferry-push-\(UUID().uuidString)")

  @Test("A key for web push is made once, for its owner alone, and a file that is there stays")
  func key() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "vapid.pem").path
    let made = try RunningFerry.run(["push", "key", "--out", path, "--json"], withErrors: false)
    #expect(made.code == 0)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
    let key = try P256Key(der: [UInt8](try #require(Data(base64Encoded: lines))))
    let shown = try JSONNode.parse(Array(made.said.utf8))["applicationServerKey"]?.string
    #expect(shown == WebPushSender.Account(key: key, subject: "").publicKey)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let again = try RunningFerry.run(["push", "key", "--out", path])
    #expect(again.code == 1 && again.said.contains("a key is never replaced"), "\(again.said)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  @Test("A trial needs a file, an application and a push service, and names those that there are")
  func missing() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = folder.appending(path: "vapid.pem").path
    _ = try RunningFerry.run(["push", "key", "--out", key])
    let file = folder.appending(path: "applications.json").path
    let text = """
      {"applications": [{"id": "com.example.flights"}, {"id": "com.example.web", "push":
        {"webPush": {"key": "vapid.pem", "subject": "mailto:a@example.com"}}}]}
      """
    try Data(text.utf8).write(to: URL(filePath: file))
    func attempt(_ application: String, _ more: [String] = []) throws -> (Int32, String) {
      let end = try RunningFerry.run(
        ["push", "try", "--applications", file, "--application", application] + more)
      return (end.code, end.said)
    }
    #expect(try attempt("com.example.flight").1.contains("com.example.flights"))
    #expect(try attempt("com.example.flights", ["--token", "x"]).1.contains("no push service"))
    #expect(
      try attempt("com.example.web", ["--service", "apns"]).1.contains("one of webPush"))
    // Its subscription leads to this machine, where no push service is: nothing is sent.
    let here = try attempt(
      "com.example.web", ["--token", #"{"endpoint":"https://127.0.0.1/x"}"#, "--json"])
    #expect(here.0 == 1 && here.1.contains("\"tokenEnded\""), "\(here.1)")
  }

  @Test("Each answer of a push service is a word for programs, and a cure for people")
  func reports() {
    for (answer, word) in [
      (.sent, "sent"), (.tokenEnded("Unregistered"), "tokenEnded"),
      (.later(afterSeconds: 7, "busy"), "later"), (.refused("413"), "refused"),
      (.wrongKey("InvalidProviderToken"), "wrongKey"),
    ] as [(PushOutcome, String)] {
      let report = PushReport(answer)
      #expect(report.outcome == word && (report.cure == nil) == (word == "sent"))
    }
    #expect(PushReport(.later(afterSeconds: 7, "")).cure?.contains("7 seconds") == true)
  }
}
