import Ferry
import FerryModel
import FerryTestKit
import Foundation
import Testing

@testable import FerryTestKit

/// Rows of the business system in tests, and sample rows of previews: both are checked.
@Suite("Rows that a test gives and reads", .timeLimit(.minutes(60)))
struct TestRowTests {
  /// A part of a shelf, with every limit that a model can have.
  struct Part: BusinessObject {
    static let entity = Entity(
      name: "Part", table: "parts",
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "code", column: "code", type: .string, isNullable: true, maxLength: 4),
        Attribute(
          name: "price", column: "price", type: .decimal, isNullable: true, precision: 5, scale: 2),
        Attribute(
          name: "state", column: "state", type: .string, isNullable: true,
          values: [.text("new"), .text("old")]),
        Attribute(name: "shelf", column: "shelf", type: .long, isNullable: true),
        Attribute(name: "seen", column: "seen", type: .dateTime, isNullable: true),
        Attribute(
          name: "priority", column: "priority", type: .int, isNullable: false,
          defaultValue: .integer(3)),
        Attribute(
          name: "color", column: "color", type: .string, isNullable: true,
          defaultValue: .text("red")),
      ], key: [0], keyOrigin: .businessSystem,
      relationships: [
        Relationship(
          name: "place", target: "Shelf", attributes: ["shelf"], targetAttributes: ["id"])
      ], operations: [.create, .update, .delete], partition: nil, group: "default", unique: [[1]])
    var record: ObjectRecord
  }

  struct Shelf: BusinessObject {
    static let entity = Entity(
      name: "Shelf", table: "shelves",
      attributes: [Attribute(name: "id", column: "id", type: .long, isNullable: false)],
      key: [0], keyOrigin: .app, relationships: [], operations: [.create], partition: nil,
      group: "default")
    var record: ObjectRecord
  }

  private static let package = Package(
    name: "Parts", version: "1.0", entities: [Part.entity, Shelf.entity],
    groups: [SynchronizationGroup(name: "default")])

  private func error(_ body: () async throws -> Void) async -> FerryError? {
    do { try await body() } catch { return error as? FerryError }
    return nil
  }

  @Test("A row with a key or a unique value that is there is refused; replace overwrites it")
  func twice() async throws {
    let server = try await TestServer(Self.package)
    try await server.insert(Part.self, ["id": 1, "code": "A"])
    let same = await error { try await server.insert(Part.self, ["id": 1, "code": "B"]) }
    #expect(same?.code == .objectExists && same?.attribute == "id")
    let both = await error {
      try await server.insert(Part.self, ["id": 2, "code": "B"], ["id": 2, "code": "C"])
    }
    #expect(both?.code == .objectExists)
    let unique = await error { try await server.insert(Part.self, ["id": 3, "code": "A"]) }
    #expect(unique?.code == .objectExists && unique?.attribute == "code")
    #expect(try server.rows(of: Part.self).map { try $0["code"] as String } == ["A"])
    try await server.replace(Part.self, ["id": 1, "code": "B"], ["id": 2])
    try await server.insert(Part.self, ["id": 4])
    let codes: [String?] = try server.rows(of: Part.self).map { try $0["code"] }
    #expect(codes == ["B", nil, nil])
    let database = try await server.database(user: "nancy")
    let last = try #require(try await Part.find(in: database).last)
    let changed = await error { try await server.change(last, ["code": "B"]) }
    #expect(changed?.code == .objectExists && changed?.attribute == "code")
    await server.stop()
  }

  @Test("A row that names no value has the model's default, and null where the test says so")
  func defaults() async throws {
    let server = try await TestServer(Self.package)
    try await server.insert(
      Part.self, ["id": 1], ["id": 2, "priority": 1, "color": String?.none])
    let rows = server.rows(of: Part.self)
    #expect(try rows.map { try $0["priority"] as Int } == [3, 1])
    #expect(try rows.map { try $0["color"] as String? } == ["red", nil])
    await server.stop()
  }

  @Test(
    "A value that the model does not allow is refused, and the error names the attribute",
    arguments: [
      ("code", "ABCDE" as any AttributeConvertible), ("price", Decimal(string: "1.234") ?? 0),
      ("price", Decimal(1_000)), ("seen", "yesterday"),
    ])
  func limits(attribute: String, value: any AttributeConvertible) async throws {
    let server = try await TestServer(Self.package)
    let inserted = await error { try await server.insert(Part.self, ["id": 1, attribute: value]) }
    #expect(inserted?.code == .invalidValue && inserted?.attribute == attribute)
    #expect(server.rows(of: Part.self).isEmpty)
    try await server.insert(Part.self, ["id": 1])
    let database = try await server.database(user: "nancy")
    let part = try #require(try await Part.first(in: database))
    let changed = await error { try await server.change(part, [attribute: value]) }
    #expect(changed?.code == .invalidValue && changed?.attribute == attribute)
    await server.stop()
  }

  @Test("The business system may have a value that the model does not list yet")
  func unlisted() async throws {
    let server = try await TestServer(Self.package)
    try await server.insert(Part.self, ["id": 1, "state": "used"])
    #expect(try server.rows(of: Part.self).map { try $0["state"] as String } == ["used"])
    await server.stop()
  }

  @Test("A row has dates, decimals and values of a list in their types; null only as an optional")
  func reads() async throws {
    let server = try await TestServer(Self.package)
    let seen = try #require(LocalDateTime("2026-11-21T10:00:00"))
    try await server.insert(
      Part.self, ["id": 1, "seen": seen, "price": Decimal(string: "1.25") ?? 0, "state": "old"])
    let row = try #require(server.rows(of: Part.self).first)
    #expect(try row["seen"] == seen)
    #expect(try row["price"] == Decimal(string: "1.25"))
    #expect(try row["state"] == "old")
    #expect(try row["code"] as String? == nil)
    let null = await error { _ = try row["code"] as String }
    #expect(null?.code == .invalidValue && null?.attribute == "code")
    #expect(null?.hint == #"Read it as an optional: row["code"] as String?."#)
    for type in ["Int", "Bool"] {
      let null = await error {
        if type == "Int" { _ = try row["shelf"] as Int } else { _ = try row["shelf"] as Bool }
      }
      #expect(null?.code == .invalidValue, "\(type)")
    }
    let other = await error { _ = try row["state"] as Int }
    #expect(other?.code == .invalidValue && other?.attribute == "state")
    let unknown = await error { _ = try row["stat"] as String }
    #expect(unknown?.code == .unknownName && unknown?.hint.contains("state") == true)
    await server.stop()
  }

  @Test("A misspelled name in a condition of refuse is a refusal that names it, and its line")
  func misspelled() async throws {
    let server = try await TestServer(Self.package)
    let line = #line + 1
    server.refuse(Part.self, of: [.create], "too old") { try $0["stat"] == "old" }
    let database = try await server.database(user: "nancy")
    let part = try await Part(record: ObjectRecord(Part.entity, in: database)).save()
    try await database.synchronize(awaitingAnswers: true)
    let refusal = try #require(try await database.refusal(of: part))
    #expect(refusal.code == 500)
    #expect(refusal.message.contains("TestRowTests.swift:\(line)"))
    #expect(refusal.message.contains("Part has no attribute stat"))
    await server.stop()
  }

  private func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private func part(_ position: Int, _ value: String, in database: FerryDatabase) -> Part {
    var record = ObjectRecord(Part.entity, in: database)
    if position == 4 { record.set(4, 7 as Int64) } else { record.set(position, value) }
    return Part(record: record)
  }

  @Test(
    "A preview does not take a row that the model does not allow",
    arguments: [
      (1, "ABCDE", FerryError.Code.invalidValue, "code"),
      (3, "used", .invalidValue, "state"), (4, "7", .invalidReference, "shelf"),
    ])
  func preview(position: Int, value: String, code: FerryError.Code, attribute: String) async throws
  {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let failure = await error {
      _ = try FerryDatabase.made(for: Self.package, in: folder) { database in
        [part(position, value, in: database)]
      }
    }
    #expect(failure?.code == code && failure?.attribute == attribute)
  }

  @Test("A preview deletes the files of previews that have ended, and of no other")
  func files() async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    for ending in ["", "-wal", "-shm", "-session", "-used"] {
      try Data().write(to: folder.appending(path: "ferry-preview-old.db\(ending)"))
    }
    try Data().write(to: folder.appending(path: "mine.db"))
    let one = try FerryDatabase.made(for: Self.package, in: folder) { _ in [] }
    let two = try FerryDatabase.made(for: Self.package, in: folder) { _ in [] }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.hasPrefix("ferry-preview-old") } && names.contains("mine.db"))
    #expect(names.count { $0.hasPrefix("ferry-preview-") && $0.hasSuffix(".db") } == 2)
    for database in [one, two] {
      _ = try await Part(record: ObjectRecord(Part.entity, in: database)).save()
      #expect(try await Part.count(in: database) == 1)
      await database.close()
    }
  }
}
