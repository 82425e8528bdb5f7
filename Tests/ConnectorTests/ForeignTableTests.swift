import FerryConnector
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Foundation
import Testing

@Suite("A table that Ferry would need")
struct ForeignTableTests {
  private let package = Package(
    name: "Shop", version: "1.0", entities: [], groups: [SynchronizationGroup(name: "default")])

  private func mismatches(_ sql: String, remembers: Bool) throws -> [Mismatch] {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-foreign-\(UUID().uuidString).db").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let connection = try Connection(path: path)
    try connection.execute(sql)
    return try SQLiteConnector(path: path, package: package, remembersOperations: remembers)
      .mismatches(with: package)
  }

  @Test("Somebody else's ferry_applied is told before the server starts, with the cure")
  func foreign() throws {
    let found = try mismatches("CREATE TABLE ferry_applied (x)", remembers: true)
    #expect(found.map(\.place) == ["ferry_applied"])
    #expect(found.first?.cure.contains("--forget-operations") == true)
    #expect(try mismatches("CREATE TABLE ferry_applied (x)", remembers: false).isEmpty)
    #expect(try mismatches("CREATE TABLE other (x)", remembers: true).isEmpty)
  }
}
