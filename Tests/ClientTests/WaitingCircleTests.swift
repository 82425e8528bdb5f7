import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import Testing

@testable import Ferry

@Suite("New objects that wait for each other's keys")
struct WaitingCircleTests {
  private static let club = Entity(
    name: "Club", table: "Club",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "other", column: "other", type: .long, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem,
    relationships: [
      Relationship(name: "other", target: "Club", attributes: ["other"], targetAttributes: ["id"])
    ], operations: [.create, .update, .delete], partition: nil, group: "default")

  @Test("do not wake each other at every exchange")
  func circle() throws {
    let model = Package(
      name: "Clubs", version: "1.0", entities: [Self.club],
      groups: [SynchronizationGroup(name: "default")])
    let device = try Device(model).loggedIn()
    let shore = Shore(model)
    func make(_ other: Value) throws -> Record {
      var record = Record(Self.club, store: device.store)
      record.values[1] = other
      return try #require(try device.store.save(try record.change(.create)))
    }
    var first = try make(.null)
    let second = try make(first.values[0])
    first.values[1] = second.values[0]
    _ = try device.store.save(try first.change(.update))
    try device.store.submitAll([Self.club])
    for _ in 0..<3 { try device.exchange(shore) }
    let woken = try device.store.read { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try connection.value("SELECT count(*) FROM ferry_operation WHERE wanted = 2")?.integer
      }
    }
    #expect(woken == 0)
  }
}
