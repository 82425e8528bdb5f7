import FerryCrypto
import FerryJSON
import Foundation
import Glibc
import Testing

extension Way {
  /// `ferry backup` and `ferry restore` in folders that other users of the machine may write.
  @Suite struct BackupSafetyTests {
    private func ferry(_ words: String...) async throws -> (code: Int32, text: String) {
      let process = try ChildProcess(try Programs.path("ferry"), words)
      let end = try await process.ended()
      let text = process.lines.joined(separator: "\n") + process.errorText
      guard case .exit(let code) = end else { throw WayFailure("ferry: \(end) \(text)") }
      return (code, text)
    }

    /// A data folder whose server has ended.
    private func data() async throws -> (business: Business, data: String) {
      let business = try await Business.flights(bookings: 20)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      #expect(try await daemon.stopInOrder() == .exit(0))
      return (business, daemon.data)
    }

    private func modes(_ folder: String) throws -> [String: Int] {
      var modes: [String: Int] = [:]
      for name in try FileManager.default.subpathsOfDirectory(atPath: folder) + [""] {
        var facts = stat()
        #expect(lstat("\(folder)/\(name)", &facts) == 0)
        modes[name] = Int(facts.st_mode & 0o777)
      }
      return modes
    }

    @Test("A backup uses nothing that others have prepared, and is for its owner alone")
    func prepared() async throws {
      let (business, data) = try await data()
      let shared = business.place.file("shared")
      #expect(mkdir(shared, 0o777) == 0 && chmod(shared, 0o1777) == 0)
      // A folder under the old name of an unfinished backup, with links to files of somebody else.
      let (part, taken) = ("\(shared)/bak.part", business.place.file("taken"))
      #expect(mkdir(part, 0o777) == 0 && chmod(part, 0o777) == 0)
      try Data().write(to: URL(filePath: taken))
      for name in ["token.key", "operator.key", "users.json", "server.sqlite", "backup.json"] {
        #expect(symlink(taken, "\(part)/\(name)") == 0)
      }
      let before = umask(0)
      let (code, text) = try await ferry("backup", "\(shared)/bak", "--data", data)
      umask(before)
      #expect(code == 0, "\(text)")
      #expect(try Data(contentsOf: URL(filePath: taken)).isEmpty)
      #expect(try FileManager.default.contentsOfDirectory(atPath: part).count == 5)
      for (name, mode) in try modes("\(shared)/bak") {
        #expect(mode == (name.isEmpty || name == "packages" ? 0o700 : 0o600), "\(name)")
      }
      // A link in the place of the backup itself, to a folder or to nothing, is not followed.
      let empty = business.place.file("empty")
      #expect(mkdir(empty, 0o700) == 0)
      for target in [empty, business.place.file("nothing")] {
        #expect(symlink(target, "\(shared)/link") == 0)
        let (code, text) = try await ferry("backup", "\(shared)/link", "--data", data)
        #expect(code == 1 && text.contains("already exists"), "\(text)")
        #expect(unlink("\(shared)/link") == 0)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: empty).isEmpty)
      // Where everybody may rename entries nothing is safe.
      #expect(chmod(shared, 0o777) == 0)
      let (refused, said) = try await ferry("backup", "\(shared)/other", "--data", data)
      #expect(refused == 1 && said.contains("may be changed by everybody"), "\(said)")
      let left = try FileManager.default.contentsOfDirectory(atPath: shared).sorted()
      #expect(left == ["bak", "bak.part"], "\(left)")
    }

    @Test("What a link in a data folder or a backup leads to is not copied")
    func links() async throws {
      let (business, data) = try await data()
      let secret = try business.place.write("SECRET", to: "secret")
      let backup = business.place.file("backup")
      #expect(try await ferry("backup", backup, "--data", data).code == 0)
      let restored = business.place.file("restored")
      for name in ["operator.key", "backup.json", "server.sqlite"] {
        #expect(rename("\(backup)/\(name)", "\(backup)/kept") == 0)
        #expect(symlink(secret, "\(backup)/\(name)") == 0)
        let (code, text) = try await ferry("restore", backup, "--data", restored)
        #expect(code == 1, "\(text)")
        #expect(!FileManager.default.fileExists(atPath: restored))
        #expect(rename("\(backup)/kept", "\(backup)/\(name)") == 0)
      }
      #expect(rename("\(data)/users.json", "\(data)/kept") == 0 || errno == ENOENT)
      #expect(symlink(secret, "\(data)/users.json") == 0)
      let (code, text) = try await ferry("backup", business.place.file("more"), "--data", data)
      #expect(code == 1 && text.contains("links are not followed"), "\(text)")
      #expect(!FileManager.default.fileExists(atPath: business.place.file("more")))
      #expect(try await ferry("restore", backup, "--data", restored).code == 0)
      for (name, mode) in try modes(restored) {
        #expect(mode == (name.isEmpty || name == "packages" ? 0o700 : 0o600), "\(name)")
      }
    }

    @Test("restore makes only files that a backup has")
    func names() async throws {
      let (business, data) = try await data()
      let backup = business.place.file("backup")
      #expect(try await ferry("backup", backup, "--data", data).code == 0)
      let restored = business.place.file("restored")
      let list = try String(contentsOfFile: "\(backup)/backup.json", encoding: .utf8)
      let evil = Array("evil".utf8)
      let digest = hexadecimal(SHA256Digest.hash(evil))
      for name in [
        ".bashrc", "lock", "moved", "operator.socket", "token.key.x", "token.key.2/x", "packages",
        "packages/x", "packages/.json", "packages/a/b.json", "../evil", "packages/../../evil",
        "/etc/evil", "server.sqlite-wal", "", ".", "server.sqlite",
      ] {
        if !name.contains("..") && !name.hasPrefix("/") && !name.isEmpty && name != "."
          && name != "server.sqlite"
        {
          try? FileManager.default.createDirectory(
            atPath: ("\(backup)/\(name)" as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true)
          try? Data(evil).write(to: URL(filePath: "\(backup)/\(name)"))
        }
        let entry = #"{"name":"\#(name)","bytes":4,"sha256":"\#(digest)"}"#
        try list.replacing(#""files":["#, with: #""files":["# + entry + ",", maxReplacements: 1)
          .write(toFile: "\(backup)/backup.json", atomically: true, encoding: .utf8)
        let (code, text) = try await ferry("restore", backup, "--data", restored)
        #expect(code == 1, "\(name): \(text)")
        if name != "server.sqlite" {
          #expect(text.contains("which no backup has"), "\(name): \(text)")
        }
        #expect(!FileManager.default.fileExists(atPath: restored), "\(name)")
      }
      try list.write(toFile: "\(backup)/backup.json", atomically: true, encoding: .utf8)
      let (code, text) = try await ferry("restore", backup, "--data", restored)
      #expect(code == 0, "\(text)")
    }

    @Test("A folder of another user is no data folder, no backup, and no place for one")
    func otherUser() async throws {
      guard geteuid() == 0 else {
        return tellNotShown(.otherUser, "only root can play another user")
      }
      let (business, data) = try await data()
      let backup = business.place.file("backup")
      #expect(try await ferry("backup", backup, "--data", data).code == 0)
      let nobody: uid_t = 65_534
      // The place of a backup or of a data folder.
      let theirs = business.place.file("theirs")
      #expect(mkdir(theirs, 0o755) == 0 && chown(theirs, nobody, nobody) == 0)
      var (code, text) = try await ferry("backup", "\(theirs)/bak", "--data", data)
      #expect(code == 1 && text.contains("another user"), "\(text)")
      (code, text) = try await ferry("restore", backup, "--data", "\(theirs)/data")
      #expect(code == 1 && text.contains("another user"), "\(text)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: theirs).isEmpty)
      // A backup that somebody else made, and a file of theirs in one of ours.
      #expect(chown(backup, nobody, nobody) == 0)
      (code, text) = try await ferry("restore", backup, "--data", business.place.file("r"))
      #expect(code == 1 && text.contains("another user"), "\(text)")
      #expect(chown(backup, 0, 0) == 0 && chown("\(backup)/token.key", nobody, nobody) == 0)
      (code, text) = try await ferry("restore", backup, "--data", business.place.file("r"))
      #expect(code == 1 && text.contains("not a plain file of the folder's owner"), "\(text)")
      #expect(!FileManager.default.fileExists(atPath: business.place.file("r")))
      // A data folder, and a key in it, whose owner could exchange them.
      #expect(chown(data, nobody, nobody) == 0)
      var told = try await Daemon.refuse(Daemon.arguments(business, data: data))
      #expect(told.end == .exit(1) && told.text.contains("another user"), "\(told.text)")
      #expect(chown(data, 0, 0) == 0 && chown("\(data)/operator.key", nobody, nobody) == 0)
      told = try await Daemon.refuse(Daemon.arguments(business, data: data))
      #expect(told.end == .exit(1) && told.text.contains("another user"), "\(told.text)")
      #expect(chown("\(data)/operator.key", 0, 0) == 0)
      // The folder of a database under development, which has a name that can be guessed.
      let path = URL(filePath: business.database).standardizedFileURL.path
      let temporary = business.place.file("tmp")
      #expect(mkdir(temporary, 0o1777) == 0)
      let name = URL(filePath: path).deletingPathExtension().lastPathComponent
      let hash = hexadecimal(SHA256Digest.hash(Array(path.utf8)).prefix(6))
      let folder = "\(temporary)/ferry-dev-\(name)-\(hash)"
      let command = [
        "env", "TMPDIR=\(temporary)", try Programs.path("ferryd"), "--dev", path, "--port", "0",
      ]
      #expect(mkdir(folder, 0o700) == 0 && chown(folder, nobody, nobody) == 0)
      #expect(symlink("\(temporary)/victim", "\(folder)/model.json") == 0)
      var process = try ChildProcess("/usr/bin/env", Array(command.dropFirst()))
      #expect(try await process.ended() == .exit(1))
      #expect(process.errorText.contains("another user"), "\(process.errorText)")
      #expect(!FileManager.default.fileExists(atPath: "\(temporary)/victim"))
      // A link to a folder of our own would mix two servers.
      try FileManager.default.removeItem(atPath: folder)
      #expect(symlink(data, folder) == 0)
      process = try ChildProcess("/usr/bin/env", Array(command.dropFirst()))
      #expect(try await process.ended() == .exit(1))
      #expect(process.errorText.contains("is not a folder"), "\(process.errorText)")
    }
  }
}
