import Ferry
import FerryModel
import FerrySQLite
import FerryWorld
import Foundation
import Testing

@testable import Ferry

/// Guests with a remark that stays on the device, and ideas that do altogether.
@Suite("What only the device has, under a newer model")
struct MigrationLossTests {
  private let device: Device

  private static func attribute(
    _ name: String, _ type: AttributeType = .string, local: Bool = true
  ) -> Attribute {
    Attribute(name: name, column: name, type: type, isNullable: name != "id", isClientOnly: local)
  }

  private static let id = attribute("id", .long, local: false)
  private static let name = attribute("name", local: false)
  private static let ideaID = attribute("id", .long)

  private static func entity(
    _ name: String, _ attributes: [Attribute], key: [Int] = [0], local: Bool
  ) -> Entity {
    Entity(
      name: name, table: name, attributes: attributes, key: key, keyOrigin: .app,
      relationships: [], operations: [.create, .update, .delete], partition: nil, group: "default",
      isClientOnly: local)
  }

  /// The model with these attributes; nil leaves the entity out.
  private static func model(
    _ version: String, guest: [Attribute]? = [id, name, attribute("remark")], guestKey: [Int] = [0],
    idea: [Attribute]? = [ideaID, attribute("text"), attribute("place")], ideaKey: [Int] = [0],
    ideaIsLocal: Bool = true
  ) -> Package {
    Package(
      name: "Guests", version: version,
      entities: [entity("Anchor", [id], local: false)]
        + (guest.map { [entity("Guest", $0, key: guestKey, local: false)] } ?? [])
        + (idea.map { [entity("Idea", $0, key: ideaKey, local: ideaIsLocal)] } ?? []),
      groups: [SynchronizationGroup(name: "default")])
  }

  init() throws {
    let model = Self.model("1.0")
    device = try Device(model).loggedIn()
    let shore = Shore(model.served)
    let guest = try #require(model.served.entity(named: "Guest"))
    for id in 1...3 as ClosedRange<Int64> { shore.put(guest, [.integer(id), .text("Ada")]) }
    try device.exchange(shore)
    for (id, remark) in [(1, "tea"), (2, "17")] as [(Int64, String)] {
      var record = try #require(try record("Guest", id))
      record.set(2, remark as String?)
      _ = try PendingStore.save(try record.change(.update), in: device.store)
    }
    for (id, text) in [(1, "sail"), (2, "17"), (3, nil)] as [(Int64, String?)] {
      var record = ObjectRecord(try #require(model.entity(named: "Idea")), store: device.store)
      record.set(0, id)
      record.set(1, text)
      _ = try PendingStore.save(try record.change(.create), in: device.store)
    }
  }

  private func record(_ name: String, _ id: Int64) throws -> ObjectRecord? {
    try Records(device.store).of(
      try #require(device.model.entity(named: name)), key: ObjectKey([.integer(id)]))
  }

  private func open(
    _ model: Package, _ policy: MigrationPolicy, _ log: any Log = SilentLog()
  ) throws
    -> Store
  {
    device.store.close()
    return try Store(
      path: device.path, model: model,
      world: World(clock: SystemClock(), chance: SystemChance(), log: log),
      durability: .application, migration: policy)
  }

  private func rows(_ store: Store, _ name: String) throws -> [String] {
    guard let entity = store.model.entity(named: name) else { return [] }
    return try Records(store).all(entity, "ORDER BY id", []).map { record in
      record.values.map(\.shown).joined(separator: " ")
    }
  }

  private static let losses: [(Package, [String])] = [
    (model("1.1", idea: nil), ["3 × Idea, only on this device, which the model no longer has"]),
    (
      model("1.1", ideaKey: [1]), ["3 × Idea, only on this device, whose key is another one now"]
    ),
    (
      model("1.1", idea: [id, attribute("text", local: false)], ideaIsLocal: false),
      ["3 × Idea, only on this device, which the business system has now"]
    ),
    (
      model("1.1", idea: [ideaID, attribute("place")]),
      ["2 × Idea.text, only on this device, which the model no longer has"]
    ),
    (
      model("1.1", idea: [ideaID, attribute("text", .integer), attribute("place")]),
      ["1 × Idea.text, only on this device, which is no integer"]
    ),
    (
      model("1.1", guest: [id, name]),
      ["2 × Guest.remark, only on this device, which the model no longer has"]
    ),
    (
      model("1.1", guest: [id, name, attribute("remark", local: false)]),
      ["2 × Guest.remark, only on this device, which the business system has now"]
    ),
    (
      model("1.1", guest: [id, name, attribute("remark", .integer)]),
      ["1 × Guest.remark, only on this device, which is no integer"]
    ),
    (
      model("1.1", guest: [id, name, attribute("remark")], guestKey: [1]),
      ["2 × Guest.remark, only on this device, whose key is another one now"]
    ),
    (
      model("1.1", guest: nil),
      ["2 × Guest.remark, only on this device, which the model no longer has"]
    ),
  ]

  @Test("is not lost by opening: the file stays as it is and the error says what, unless it may go")
  func refused() throws {
    let before = try (rows(device.store, "Guest"), rows(device.store, "Idea"))
    for (model, lines) in Self.losses {
      let error = #expect(throws: FerryError.self) { _ = try open(model, .keepPending) }
      #expect(error?.code == .incompatibleModel)
      for line in lines {
        #expect(error?.message.contains(line) == true, "\(line): \(error as Any)")
      }
      let store = try open(Self.model("1.0"), .keepPending)
      #expect(try rows(store, "Guest") == before.0 && rows(store, "Idea") == before.1)
      store.close()
    }
  }

  @Test("goes where the policy says so, and the log says how much", arguments: losses.indices)
  func letGo(index: Int) throws {
    let (model, lines) = Self.losses[index]
    let log = HeardLog()
    _ = try open(model, .discardUnmigratable, log)
    for line in lines { #expect(log.lines.contains { $0.hasSuffix(line) }, "\(log.lines)") }
  }

  @Test(
    "of an object whose pending delete is hidden, or that is away until a download, is seen too")
  func hidden() throws {
    _ = try PendingStore.save(
      try #require(try record("Guest", 1)).change(.delete), in: device.store)
    #expect {
      _ = try open(Self.model("1.1", guest: [Self.id, Self.name]), .keepPending)
    } throws: { "\($0)".contains("2 × Guest.remark, only on this device") }
    try device.restart()
    try device.store.cleanAllData(keepsClientOnly: true)
    #expect {
      _ = try open(Self.model("1.1", guest: [Self.id, Self.name]), .keepPending)
    } throws: { "\($0)".contains("2 × Guest.remark, only on this device") }
    // What is kept of them fits the model that it is given back under.
    let wider = Self.model(
      "1.1", guest: [Self.id, Self.name, Self.attribute("mood"), Self.attribute("remark")])
    let store = try open(wider, .keepPending)
    let kept = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.rows("SELECT content FROM ferry_kept ORDER BY key").compactMap { $0[0].text }
      }
    }
    #expect(kept == [#"{"remark":"tea"}"#, #"{"remark":"17"}"#])
  }

  @Test("stays as it was changed where the pending change of its object is discarded")
  func keptOnDiscard() throws {
    var changed = try #require(try record("Guest", 1))
    changed.set(1, "Grace" as String?)
    _ = try PendingStore.save(try changed.change(.update), in: device.store)
    var again = try #require(try record("Guest", 1))
    again.set(2, "coffee" as String?)
    _ = try PendingStore.save(try again.change(.update), in: device.store)
    let store = try open(
      Self.model("1.1", guest: [Self.id, Self.attribute("remark")]), .discardUnmigratable)
    #expect(try rows(store, "Guest").first == #"1 "coffee""#)
    #expect(try rows(store, "Idea").count == 3)
  }
}
