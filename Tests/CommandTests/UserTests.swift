import FerryJSON
import FerryPasswords
import FerryServer
import FerryWorld
import Foundation
import Testing

@testable import FerryCommand

struct UserTests {
  private func withFile(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appending(path: "users.json").path)
  }

  private func users(_ file: String) throws -> UserFile {
    try UserFile(path: file) { (try? PasswordHash.verify(password: $0, hash: $1)) ?? false }
  }

  @Test("A user that was added logs in with role and claims; nobody sees the password or its hash")
  func added() throws {
    try withFile { file in
      let added = try RunningFerry.run(
        [
          "user", "add", "--file", file, "--name", "nancy", "--role", "sales", "--claim",
          "employee=1", "--claim", "employee=2", "--claim", "region=a=b", "--password-stdin",
        ], input: "with blank é\n")
      #expect(added.code == 0, "\(added.said)")
      let server = try users(file)
      let record = try server.authenticate(user: "nancy", password: "with blank é")
      #expect(record.roles == ["sales"])
      #expect(record.claims == ["employee": ["1", "2"], "region": ["a=b"]])
      #expect(throws: ServerError.self) {
        try server.authenticate(user: "nancy", password: "with blank")
      }
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let listed = try RunningFerry.run(["user", "list", "--file", file, "--json"])
      #expect(
        listed.said
          == #"[{"name":"nancy","roles":["sales"],"claims":{"employee":["1","2"],"region":["a=b"]}}]"#
          + "\n")
      #expect(!(added.said + listed.said).contains("argon2"))
      #expect(!(added.said + listed.said).contains("blank"))
    }
  }

  @Test("A new password keeps the rest; a removed user is gone; the others stay")
  func changed() throws {
    try withFile { file in
      for name in ["nancy", "andrew"] {
        let words = ["user", "add", "--file", file, "--name", name, "--role", "r"]
        #expect(try RunningFerry.run(words + ["--password-stdin"], input: "old\n").code == 0)
        #expect(try RunningFerry.run(words + ["--password-stdin"], input: "old\n").code == 1)
      }
      let words = ["user", "password", "--file", file, "--name", "nancy", "--password-stdin"]
      #expect(try RunningFerry.run(words, input: "new\n").code == 0)
      let nancy = try users(file).authenticate(user: "nancy", password: "new")
      #expect(nancy.roles == ["r"])
      #expect(
        try RunningFerry.run(["user", "remove", "--file", file, "--name", "nancy"]).code == 0)
      let rest = try users(file)
      #expect(rest.record(of: "nancy") == nil)
      #expect(rest.record(of: "andrew") != nil)
      #expect(
        try RunningFerry.run(["user", "remove", "--file", file, "--name", "nancy"]).code == 1)
      // What was refused is not there.
      let lines = try String(contentsOfFile: "\(file).audit.jsonl", encoding: .utf8)
        .split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
      #expect(
        lines.map { $0["event"]?.string }
          == ["userAdded", "userAdded", "passwordChanged", "userRemoved"])
      #expect(lines.map { $0["user"]?.string } == ["nancy", "andrew", "nancy", "nancy"])
      #expect(lines.allSatisfy { $0["reason"]?.string?.hasPrefix("by ") ?? false })
      #expect(lines.allSatisfy { $0["time"]?.integer ?? 0 > 1_700_000_000_000 })
    }
  }

  @Test("ferry user change replaces what is named and keeps the rest")
  func changedInPart() throws {
    try withFile { file in
      let add = [
        "user", "add", "--file", file, "--name", "nancy", "--role", "sales", "--claim",
        "employee=1", "--claim", "region=north", "--password-stdin",
      ]
      #expect(try RunningFerry.run(add, input: "old\n").code == 0)
      let hash = try stored(file, "passwordHash")
      let change = ["user", "change", "--file", file, "--name", "nancy"]
      let claim = try RunningFerry.run(change + ["--claim", "employee=2", "--claim", "employee=3"])
      #expect(claim.code == 0)
      #expect(
        claim.said
          == "nancy was changed: claim employee. Sessions go on; devices get and lose rows "
          + "with their next exchange.\n")
      let roles = try RunningFerry.run(change + ["--role", "office", "--no-claim", "region"])
      #expect(roles.code == 0, "\(roles.said)")
      let record = try users(file).authenticate(user: "nancy", password: "old")
      #expect(record.roles == ["office"] && record.claims == ["employee": ["2", "3"]])
      #expect(try stored(file, "passwordHash") == hash)
      let password = try RunningFerry.run(
        change + ["--password-stdin", "--json"], input: "new\n")
      #expect(
        password.said
          == #"{"verb":"change","user":{"name":"nancy","roles":["office"],"#
          + #""claims":{"employee":["2","3"]}},"changed":["password"],"endsSessions":true,"#
          + #""warnings":[]}"# + "\n")
      #expect(try users(file).authenticate(user: "nancy", password: "new").roles == ["office"])
      let none = try RunningFerry.run(change + ["--no-roles"])
      #expect(none.code == 0)
      #expect(try users(file).record(of: "nancy")?.roles == [])
      let lines = try String(contentsOfFile: "\(file).audit.jsonl", encoding: .utf8)
        .split(separator: "\n").map { try JSONNode.parse(Array($0.utf8))["event"]?.string }
      #expect(
        lines == ["userAdded", "userChanged", "userChanged", "passwordChanged", "userChanged"])
    }
  }

  @Test("Packages are named when a user is added, changed, listed, and taken back to all")
  func packages() throws {
    try withFile { file in
      let add = ["user", "add", "--file", file, "--name", "nancy", "--password-stdin"]
      let wrong = try RunningFerry.run(add + ["--package", "Travel:1.0"], input: "p\n")
      #expect(wrong.code == 2 && wrong.said.contains("without a version"), "\(wrong.said)")
      let added = try RunningFerry.run(
        add + ["--package", "Travel", "--package", "Hr"], input: "p\n")
      #expect(added.code == 0, "\(added.said)")
      #expect(try users(file).record(of: "nancy")?.packages == .only(["Travel", "Hr"]))
      let change = ["user", "change", "--file", file, "--name", "nancy"]
      // What is not named stays.
      #expect(try RunningFerry.run(change + ["--role", "office"]).code == 0)
      #expect(try users(file).record(of: "nancy")?.packages == .only(["Travel", "Hr"]))
      #expect(
        try RunningFerry.run(["user", "list", "--file", file]).said
          == "nancy  roles office  packages Travel, Hr\n")
      let less = try RunningFerry.run(change + ["--package", "Hr", "--json"])
      #expect(less.said.contains(#""packages":["Hr"]},"changed":["packages"]"#), "\(less.said)")
      #expect(try users(file).record(of: "nancy")?.packages == .only(["Hr"]))
      let both = try RunningFerry.run(change + ["--package", "Hr", "--all-packages"])
      #expect(both.code == 2, "\(both.said)")
      #expect(try RunningFerry.run(add + ["--all-packages"], input: "p\n").code == 2)
      #expect(try RunningFerry.run(change + ["--all-packages"]).code == 0)
      #expect(try users(file).record(of: "nancy")?.packages == .all)
      // A list that was written by hand and is none is not dropped.
      let text = #"{"users": [{"name": "a", "passwordHash": "$x", "packages": "Hr"}]}"#
      try text.write(toFile: file, atomically: true, encoding: .utf8)
      #expect(try RunningFerry.run(add, input: "p\n").said.contains("users.json:1:12"))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }
  }

  private func stored(_ file: String, _ field: String) throws -> String? {
    try JSONNode.parse([UInt8](Data(contentsOf: URL(filePath: file))))["users"]?.array?.first?[
      field]?.string
  }

  @Test("A change that cannot be done names similar users and leaves the file as it was")
  func changeRefused() throws {
    try withFile { file in
      for name in ["nancy", "nanna", "andrew"] {
        let words = ["user", "add", "--file", file, "--name", name, "--password-stdin"]
        #expect(try RunningFerry.run(words, input: "old\n").code == 0)
      }
      let before = try String(contentsOfFile: file, encoding: .utf8)
      let change = ["user", "change", "--file", file, "--name"]
      let unknown = try RunningFerry.run(change + ["nanny", "--role", "r"])
      #expect(unknown.code == 1)
      #expect(
        unknown.said.contains(#"has no user "nanny". Did you mean "nancy" or "nanna"? List"#),
        "\(unknown.said)")
      let begun = try RunningFerry.run(change + ["and", "--role", "r"])
      #expect(begun.said.contains(#"Did you mean "andrew"?"#), "\(begun.said)")
      let far = try RunningFerry.run(change + ["zoe", "--role", "r"])
      #expect(far.said.contains(#"has no user "zoe". List the users with"#), "\(far.said)")
      #expect(try RunningFerry.run(change + ["nancy"]).code == 2)
      #expect(try RunningFerry.run(change + ["nancy", "--role", "r", "--no-roles"]).code == 2)
      #expect(
        try RunningFerry.run(change + ["nancy", "--claim", "a=1", "--no-claim", "a"]).code == 2)
      #expect(try RunningFerry.run(change + ["nancy", "--no-claim", "a"]).code == 1)
      let other = try RunningFerry.run(
        ["user", "remove", "--file", file, "--name", "nancy", "--no-roles"])
      #expect(other.code == 2 && other.said.contains("--no-roles works only with change"))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
    }
  }

  @Test("Two changes of one user at the same time are both in the file")
  func changedTogether() throws {
    try withFile { file in
      let add = ["user", "add", "--file", file, "--name", "nancy", "--role", "sales"]
      #expect(try RunningFerry.run(add + ["--password-stdin"], input: "old\n").code == 0)
      // Another command is between its reading and its writing, and this one has read before it.
      let held = try SystemFiles().lock("\(file).lock", within: Patience.limit)
      let process = Process()
      process.executableURL = FerryProgram.url
      process.arguments = [
        "user", "change", "--file", file, "--name", "nancy", "--claim", "employee=1",
      ]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      let patience = Patience()
      while process.isRunning, !isOpen("\(file).lock", in: process.processIdentifier),
        patience.lasts()
      {}
      try String(contentsOfFile: file, encoding: .utf8)
        .replacingOccurrences(of: #""sales""#, with: #""office""#)
        .write(toFile: file, atomically: true, encoding: .utf8)
      held.release()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      let record = try users(file).record(of: "nancy")
      #expect(record?.roles == ["office"] && record?.claims == ["employee": ["1"]])
    }
  }

  @Test("A password as an argument is refused, and no message repeats it")
  func passwordAsArgument() throws {
    try withFile { file in
      for option in ["--password", "--password-stdin"] {
        let words = ["user", "change", "--file", file, "--name", "nancy", option, "s3cret"]
        for more in [[], ["--json"]] {
          let end = try RunningFerry.run(words + more, input: "")
          #expect(end.code == 2 && end.said.contains("takes no value"), "\(end.said)")
          #expect(!end.said.contains("s3cret"))
        }
      }
    }
  }

  @Test("Commands that change the file at the same time wait for each other: no change is lost")
  func together() throws {
    try withFile { file in
      for name in ["nancy", "andrew"] {
        let words = ["user", "add", "--file", file, "--name", name, "--password-stdin"]
        #expect(try RunningFerry.run(words, input: "old\n").code == 0)
      }
      // Another command is between its reading and its writing.
      let held = try SystemFiles().lock("\(file).lock", within: Patience.limit)
      let process = Process()
      process.executableURL = FerryProgram.url
      process.arguments = ["user", "remove", "--file", file, "--name", "nancy"]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      let patience = Patience()
      while process.isRunning, !isOpen("\(file).lock", in: process.processIdentifier),
        patience.lasts()
      {}
      #expect(process.isRunning)
      let text = try String(contentsOfFile: file, encoding: .utf8)
      try text.replacingOccurrences(of: #""andrew""#, with: #""ada""#)
        .write(toFile: file, atomically: true, encoding: .utf8)
      held.release()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      let rest = try users(file)
      #expect(rest.record(of: "nancy") == nil && rest.record(of: "andrew") == nil)
      #expect(rest.record(of: "ada") != nil)
    }
  }

  private func isOpen(_ file: String, in process: Int32) -> Bool {
    let place = "/proc/\(process)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    let target = URL(filePath: file).resolvingSymlinksInPath().path
    return names.contains { name in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(place)/\(name)")) == target
    }
  }

  @Test("What cannot be done leaves the file as it was and says how it can")
  func refused() throws {
    try withFile { file in
      let add = ["user", "add", "--file", file, "--name", "nancy"]
      #expect(try RunningFerry.run(add + ["--password-stdin"], input: "\n").said.contains("empty"))
      #expect(
        try RunningFerry.run(add + ["--claim", "x", "--password-stdin"], input: "p\n").code == 2)
      #expect(try RunningFerry.run(["user", "sing", "--file", file]).code == 2)
      #expect(try RunningFerry.run(["user", "list", "--file", file]).code == 1)
      #expect(!FileManager.default.fileExists(atPath: file))
      let text = #"{"users": [{"name": "a", "passwordHash": "$x", "mail": "a@b"}]}"#
      try text.write(toFile: file, atomically: true, encoding: .utf8)
      let said = try RunningFerry.run(add + ["--password-stdin"], input: "p\n").said
      #expect(said.contains("users.json:1:12") && said.contains("are not kept"))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }
  }
}
