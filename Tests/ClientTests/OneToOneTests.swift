import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// Sailors, each of whom owns one passport at most, and has one berth at most that is no part of them.
private enum Crew {
  static let package = Package(
    name: "Crew", version: "1.0", entities: [Sailor.entity, Passport.entity, Berth.entity],
    groups: [SynchronizationGroup(name: "default")])

  /// Its key is the sailor's: one to one.
  static func entity(_ name: String, isComposite: Bool) -> Entity {
    Entity(
      name: name, table: name,
      attributes: [
        Attribute(name: "sailorID", column: "sailor", type: .long, isNullable: false),
        Attribute(name: "text", column: "text", type: .string, isNullable: true),
      ], key: [0], keyOrigin: .app,
      relationships: [
        Relationship(
          name: "sailor", target: "Sailor", attributes: ["sailorID"], targetAttributes: ["id"],
          inverse: name.lowercased(), isComposite: isComposite)
      ], operations: [.create, .update, .delete], partition: nil, group: "default")
  }
}

private struct Sailor: BusinessObject {
  static let entity = Entity(
    name: "Sailor", table: "Sailor",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: false),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: [.create, .update, .delete], partition: nil, group: "default", ownsChildren: true)
  var record: ObjectRecord

  enum Attributes {
    static let passport = RelationshipOf<Sailor, Passport>("passport", inverseOf: "sailor")
    static let berth = RelationshipOf<Sailor, Berth>("berth", inverseOf: "sailor")
  }

  var id: Int64 { record.get(0) }
  func passport() throws(FerryError) -> Passport? {
    let found: [Passport] = try record.referring(by: "sailor")
    return found.first
  }
  func berth() throws(FerryError) -> Berth? {
    let found: [Berth] = try record.referring(by: "sailor")
    return found.first
  }
}

private struct Passport: BusinessObject {
  static let entity = Crew.entity("Passport", isComposite: true)
  var record: ObjectRecord

  enum Attributes {
    static let sailor = RelationshipOf<Passport, Sailor>("sailor")
  }

  var sailorID: Int64 { record.get(0) }
  func sailor() throws(FerryError) -> Sailor? { try record.related("sailor") }
}

private struct Berth: BusinessObject {
  static let entity = Crew.entity("Berth", isComposite: false)
  var record: ObjectRecord
  var sailorID: Int64 { record.get(0) }
}

@Suite("One to one")
struct OneToOneTests {
  private func executions(_ store: Store, _ body: () throws -> Void) throws -> Int {
    try store.write { connection throws(FerryError) in
      let before = connection.executions
      do { try body() } catch { Issue.record(error) }
      return connection.executions - before
    }
  }

  @Test(
    "1,000 objects with the one that belongs to each are two statements, both ways",
    .reference("facts/1.5"))
  func prefetched() throws {
    let depot = try Depot(model: Crew.package)
    let database = depot.database
    let store = database.store
    try store.write { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        let numbers =
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        try connection.run(
          "\(numbers) INSERT INTO Sailor (id, name, _partition, _hash) SELECT i, 'Jo', 1, i FROM n")
        for entity in ["Passport", "Berth"] {
          // One in ten has none.
          try connection.run(
            """
            \(numbers) INSERT INTO \(entity) (sailorID, text, _partition, _hash)
            SELECT i, 'text', 1, i FROM n WHERE i % 10 <> 0
            """)
        }
      }
    }
    let one = try executions(store) {
      let sailors = try Sailor.findAll(prefetching: [Sailor.Attributes.passport], in: database)
      let passports = try sailors.map { try $0.passport() }
      #expect(passports.compactMap(\.self).count == 900)
      #expect(zip(sailors, passports).allSatisfy { $1 == nil || $1?.sailorID == $0.id })
    }
    #expect(one == 2)
    let back = try executions(store) {
      let sailors = try Passport.findAll(prefetching: [Passport.Attributes.sailor], in: database)
        .map { try $0.sailor()?.id == $0.sailorID }
      #expect(sailors.count == 900 && sailors.allSatisfy(\.self))
    }
    #expect(back == 2)
    let both = try executions(store) {
      let sailors = try Sailor.findAll(
        prefetching: [Sailor.Attributes.passport, Sailor.Attributes.berth], in: database)
      #expect(try sailors.filter { try $0.passport() != nil && $0.berth() != nil }.count == 900)
    }
    #expect(both == 3)
    let lazy = try executions(store) {
      for sailor in try Sailor.findAll(take: 5, in: database) { _ = try sailor.passport() }
    }
    #expect(lazy == 6, "without prefetching, one for each")
  }

  private func record(_ entity: Entity, _ values: [AttributeValue], _ store: Store) -> ObjectRecord
  {
    var record = ObjectRecord(entity, store: store)
    record.values = values
    return record
  }

  private func sent(_ shore: Shore) -> [String] {
    shore.received.compactMap { try? Operation($0, in: Crew.package) }
      .sorted { ($0.chain.text, $0.position) < ($1.chain.text, $1.position) }.map {
        "\($0.entity) \($0.kind.rawValue) \($0.position + 1)/\($0.count)"
      }
  }

  @Test(
    "What belongs to an object one to one is submitted with it, as one replay",
    .reference("facts/1.5"))
  func submitted() throws {
    let shore = Shore(Crew.package)
    let device = try Device(Crew.package).loggedIn()
    let store = device.store
    var sailor = Sailor(record: record(Sailor.entity, [.null, .text("Jo")], store))
    try sailor.create()
    var passport = Passport(
      record: record(Passport.entity, [.integer(sailor.id), .text("C01")], store))
    try passport.create()
    var berth = Berth(record: record(Berth.entity, [.integer(sailor.id), .text("4")], store))
    try berth.create()
    try passport.submitPending()
    try device.exchange(shore)
    #expect(sent(shore) == ["Sailor create 1/2", "Passport create 2/2"], "the berth is no part")
    for operation in shore.stored.values.sorted(by: { $0.position < $1.position }) {
      shore.accept(operation.id, newKey: ObjectKey([.integer(7)]), changing: [0: .integer(7)])
    }
    try device.exchange(shore)
    #expect(try Records(store).all(Passport.entity, "", []).map(\.key.text) == ["7"])
    #expect(
      try Records(store).all(Berth.entity, "", []).map(\.key.text) == ["7"], "it refers to the key")
    try sailor.refresh()
    #expect(!sailor.isPending && sailor.id == 7)
    try passport.refresh()
    passport.record.set(1, "C02" as String?)
    try passport.update()
    try sailor.refresh()
    #expect(sailor.pendingChange == .parent)
    try sailor.submitPending()
    try device.exchange(shore)
    #expect(sent(shore).filter { $0.contains("update") } == ["Passport update 1/1"])
  }
}
