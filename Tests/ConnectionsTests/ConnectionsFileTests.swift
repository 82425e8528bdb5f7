import FerryConnections
import FerryTestTraits
import Foundation
import Testing

/// A folder of its own for one test, gone with the object.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// Gives the path.
  func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
    let path = url.appending(path: name).path
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

@Suite("The file of connections")
struct ConnectionsFileTests {
  private func read(_ text: String) throws -> ConnectionsFile {
    try ConnectionsFile(Array(text.utf8), name: "c.json")
  }

  private func fault(_ text: String) -> ConnectionsError? {
    #expect(throws: ConnectionsError.self) { try read(text) }
  }

  private func connection(_ members: String) -> String {
    #"{"connections": {"erp": {\#(members)}}}"#
  }

  @Test("Connections are named, and the only one is the default")
  func named() throws {
    let file = try read(connection(#""address": "odata:https://erp.test/shop/""#))
    #expect(file.connections.map(\.name) == ["erp"] && file.defaultName == "erp")
    #expect(file["erp"]?.database.isService == true)
    let two = try read(
      #"{"connections": {"shop": {"address": "sqlite:shop.db"}, "erp": {"address": "postgres:erp"}}}"#
    )
    #expect(two.defaultName == nil && two.connections.map(\.name) == ["shop", "erp"])
    let chosen = fault(
      #"{"default": "shp", "connections": {"shop": {"address": "sqlite:a"}, "erp": {"address": "sqlite:b"}}}"#
    )
    #expect(chosen?.hint == "Did you mean \"shop\"?")
  }

  @Test(
    "A wrong key is named with its place and the nearest right one",
    arguments: [
      (#"{"conections": {}}"#, "connections"),
      (#"{"connections": {"erp": {"adress": "sqlite:a"}}}"#, "address"),
      (
        #"{"connections": {"erp": {"address": "odata:https://e/", "limits": {"request": 3}}}}"#,
        "requests"
      ),
      (
        #"{"connections": {"erp": {"address": "odata:https://e/", "credentials": {"user": "f", "pasword": {"file": "x"}}}}}"#,
        "password"
      ),
      (
        #"{"connections": {"erp": {"address": "odata:https://e/", "credentials": {"token": {"fil": "x"}}}}}"#,
        "file"
      ),
      (
        #"{"connections": {"erp": {"address": "odata:https://e/", "users": {"way": "jwtBearr"}}}}"#,
        "jwtBearer"
      ),
    ])
  func wrongKey(_ text: String, _ near: String) throws {
    let found = try #require(fault(text))
    #expect(found.hint == "Did you mean \"\(near)\"?")
    #expect(found.message.hasPrefix("c.json:1:"))
  }

  @Test("A file that others can read is refused, with 0600 and 0400 it is read")
  func permissions() throws {
    let folder = try TemporaryFolder()
    let text = connection(#""address": "sqlite:a""#)
    for mode in [0o644, 0o640, 0o660, 0o602, 0o700] {
      let path = try folder.write("c\(mode).json", text, mode: mode)
      let error = #expect(throws: ConnectionsError.self) { try ConnectionsFile(path: path) }
      #expect(error?.hint == "Type: chmod 600 \(path)")
    }
    for mode in [0o600, 0o400] {
      let path = try folder.write("c\(mode).json", text, mode: mode)
      #expect(try ConnectionsFile(path: path).connections.count == 1)
    }
    #expect(throws: ConnectionsError.self) {
      try ConnectionsFile(path: folder.url.appending(path: "none.json").path)
    }
  }

  @Test("A secret in the file or in the address is refused, and not repeated")
  func secrets() throws {
    let written = try #require(
      fault(
        connection(
          #""address": "odata:https://e/", "credentials": {"user": "f", "password": "hunter2"}"#)))
    #expect(written.message.contains("is written into the file"))
    #expect(!written.description.contains("hunter2"))
    let inAddress = try #require(fault(connection(#""address": "odata:https://f:hunter2@e/""#)))
    #expect(inAddress.message.contains("has a password"))
    #expect(!inAddress.description.contains("hunter2"))
  }

  @Test("A password over http goes to this machine only, unless that is allowed")
  func plain() throws {
    let credentials = #""credentials": {"user": "f", "password": {"environment": "P"}}"#
    for host in ["localhost:1", "127.0.0.1", "127.8.0.1:99", "[::1]:8"] {
      let text = connection(#""address": "odata:http://\#(host)/s/", \#(credentials)"#)
      #expect(throws: Never.self) { try read(text) }
    }
    for host in ["erp.test", "127.0.0.1.evil.test", "10.0.0.1", "localhost.evil.test"] {
      let text = #""address": "odata:http://\#(host)/s/", \#(credentials)"#
      #expect(fault(connection(text))?.message.contains("in the clear to \(host)") == true)
      #expect(throws: Never.self) {
        try read(connection(text + #", "allowPlainPasswords": true"#))
      }
      let open = connection(#""address": "odata:http://\#(host)/s/""#)
      #expect(throws: Never.self) { try read(open) }
    }
  }

  @Test("What means nothing for a database is refused")
  func database() throws {
    let text = connection(#""address": "sqlite:a", "proxy": "none""#)
    #expect(fault(text)?.message.contains("\"proxy\" means nothing") == true)
  }

  @Test("A secret is read from the environment or a private file, without the line's end")
  func readSecrets() throws {
    let folder = try TemporaryFolder()
    #expect(try Secret.file(folder.write("s", "hunter2\n")).read() == "hunter2")
    #expect(throws: ConnectionsError.self) {
      try Secret.file(folder.write("open", "hunter2\n", mode: 0o644)).read()
    }
    #expect(throws: ConnectionsError.self) { try Secret.file(folder.write("e", "\n")).read() }
    #expect(throws: ConnectionsError.self) { try Secret.environment("FERRY_NO_SUCH").read() }
    #expect(try !Secret.environment("PATH").read().isEmpty)
  }

  @Test("The page shows a file that is read, and each key with what it is for")
  func documented() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "Documentation/Connections.md"), encoding: .utf8)
    let all =
      ConnectionKey.file + ConnectionKey.connection + ConnectionKey.credentials
      + ConnectionKey.secret + ConnectionKey.users + ConnectionKey.limits
    for key in all {
      #expect(page.contains("| `\(key.name)` | \(key.text) |"), "\(key.name)")
    }
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
      .filter { !$0.contains("| `ferry") }
    #expect(rows.count == all.count, "a row of the page is no key")
    let examples = page.components(separatedBy: "```json\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    #expect(examples.count == 4)
    let folder = try TemporaryFolder()
    let key = try folder.write("key.pem", TokenTests.key)
    for example in examples {
      // What the page names is not here.
      let text = example.replacingOccurrences(of: "/etc/ferry/signing.pem", with: key)
      #expect(throws: Never.self) { try read(text) }
    }
  }
}
