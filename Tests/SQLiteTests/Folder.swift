import FerryCrypto
import FerrySQLite
import Foundation

/// A folder of its own for a test, removed with it.
final class Folder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(
      path: "ferry-" + hexadecimal(randomBytes(8)))
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
  }

  func bytes(_ name: String) -> [UInt8] {
    (try? Data(contentsOf: url.appending(path: name))).map(Array.init) ?? []
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: url.appending(path: name))
  }

  /// The names of the files that hold `text`.
  func filesHolding(_ text: String) -> [String] {
    names.filter { name in
      (try? Data(contentsOf: url.appending(path: name)))?.range(of: Data(text.utf8)) != nil
    }
  }
}

extension DatabaseKey {
  /// A passphrase whose derivation takes no time, for tests that open often.
  static func quick(_ passphrase: String) -> DatabaseKey {
    DatabaseKey(passphrase: passphrase, derivation: .pbkdf2(rounds: 2))
  }
}

extension Connection {
  /// Rows with a text that is easy to find.
  func fill(_ rows: ClosedRange<Int>) throws {
    try execute("CREATE TABLE IF NOT EXISTS visit (id INTEGER PRIMARY KEY, note TEXT, place TEXT)")
    try transaction { () throws(SQLiteError) in
      for row in rows {
        try run(
          "INSERT OR REPLACE INTO visit VALUES (?, ?, ?)", .integer(Int64(row)),
          .text("plaintext needle number \(row)"), .text(String(repeating: "needle", count: 20)))
      }
    }
  }

  func count() throws -> Int64 { try value("SELECT count(*) FROM visit")?.integer ?? -1 }

  func isSound() throws -> Bool { try rows("PRAGMA integrity_check") == [[.text("ok")]] }
}
