import FerrySQLite
import Foundation

/// SQLite files of the tests, made in a folder of their own that goes with the value.
final class FixtureDatabase {
  let folder: URL
  var path: String { folder.appending(path: "business.db").path }

  /// Runs the SQL with foreign keys off, as a dump expects, and without waiting for the disk at each
  /// of its thousands of rows.
  init(_ sql: String) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let connection = try Connection(path: path)
    try connection.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF")
    try connection.execute(sql)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func execute(_ sql: String) throws { try Connection(path: path).execute(sql) }

  static let root: URL = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func text(ofFixture name: String) throws -> String {
    try String(contentsOf: fixture(name), encoding: .utf8)
  }

  static func fixture(_ name: String) -> URL { root.appending(path: "Tests/Fixtures/\(name)") }

  /// The real Northwind where it lies beside the checkout, else its shape.
  static func northwind() throws -> (database: FixtureDatabase, isReal: Bool) {
    let real = root.appending(path: "../shared/data/northwind/northwind.sql")
    if let sql = try? String(contentsOf: real, encoding: .utf8) {
      return (try FixtureDatabase(sql), true)
    }
    print("Northwind is not beside the checkout: its shape stands in for it.")
    return (try FixtureDatabase(text(ofFixture: "northwind-shape.sql")), false)
  }

  static func awkward() throws -> FixtureDatabase {
    try FixtureDatabase(text(ofFixture: "awkward.sql"))
  }

  /// Compares with the file of this name; with `FERRY_RECORD_FIXTURES` set, writes it instead.
  static func differs(_ text: String, from name: String) throws -> String? {
    if ProcessInfo.processInfo.environment["FERRY_RECORD_FIXTURES"] != nil {
      try text.write(to: fixture(name), atomically: true, encoding: .utf8)
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let expected = try self.text(ofFixture: name).split(
      separator: "\n", omittingEmptySubsequences: false)
    for (number, pair) in zip(lines, expected).enumerated() where pair.0 != pair.1 {
      return "\(name):\(number + 1): expected \(pair.1), got \(pair.0)"
    }
    return lines.count == expected.count
      ? nil : "\(name) has \(expected.count) lines, there are \(lines.count)"
  }
}
