import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("The straight save")
struct StraightSaveTests {
  /// Numbers that are the same for the same seed.
  private final class Numbers: Chance {
    private let state: Mutex<UInt64>

    init(_ seed: UInt64) { state = Mutex(seed) }

    func next() -> UInt64 {
      state.withLock { state in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 16 ^ state << 23
      }
    }
  }

  /// Forty, or those that FERRY_SAVES names.
  private static let seeds: [UInt64] = {
    guard let names = ProcessInfo.processInfo.environment["FERRY_SAVES"] else {
      return Array(1...40)
    }
    return names.split(separator: " ").map { name in
      guard let seed = UInt64(name) else {
        preconditionFailure("FERRY_SAVES has \(name), which is no number")
      }
      return seed
    }
  }()

  /// A key of the business system, one of the app, one of the device, and references among them.
  private static let model: Package = {
    func entity(
      _ name: String, _ type: AttributeType, _ origin: KeyOrigin, to target: String? = nil,
      _ targetType: AttributeType = .long
    ) -> Entity {
      Entity(
        name: name, table: name.lowercased(),
        attributes: [
          Attribute(name: "id", column: "id", type: type, isNullable: origin != .app),
          Attribute(name: "text", column: "text", type: .string, isNullable: true),
          Attribute(name: "other", column: "other", type: targetType, isNullable: true),
          Attribute(name: "size", column: "size", type: .double, isNullable: true),
        ], key: [0], keyOrigin: origin,
        relationships: target.map { target in
          [
            Relationship(
              name: "to", target: target, attributes: ["other"], targetAttributes: ["id"],
              inverse: "from")
          ]
        } ?? [], operations: [.create, .update, .delete], partition: nil, group: "default")
    }
    return Package(
      name: "Straight", version: "1.0",
      entities: [
        entity("Given", .long, .businessSystem), entity("Own", .long, .app, to: "Given"),
        entity("Made", .string, .device, to: "Own"),
        entity("Line", .long, .app, to: "Made", .string),
      ],
      groups: [SynchronizationGroup(name: "default")])
  }()

  private func all(_ device: Device) throws -> [String] {
    try device.store.read { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        let tables = try connection.rows(
          "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", []
        ).compactMap { $0[0].text }.filter { $0 != "ferry_setting" && !$0.hasPrefix("sqlite_stat") }
        var all: [String] = []
        for table in tables {
          for row in try connection.rows("SELECT * FROM \"\(table)\"", []) {
            all.append("\(table): \(row)")
          }
        }
        return all.sorted()
      }
    }
  }

  /// A save and a submit, as any other change goes.
  private func general(_ change: LocalChange, in store: Store) throws(FerryError) {
    try store.withTransaction { transaction throws(FerryError) in
      let saved = try PendingStore.save(change, in: store)
      guard let object = saved?.object else { return }
      _ = try ChainSealing(transaction).submit(change.entity, object)
    }
  }

  /// Whether the change was of the common kind. What is returned is what is read afterwards.
  private func saveStraight(_ change: LocalChange, in store: Store) throws(FerryError) -> Bool {
    let found = try store.withTransaction {
      transaction throws(FerryError) -> (saved: ObjectRecord, read: ObjectRecord?)? in
      guard let saved = try StraightSave(transaction).save(change), let object = saved.object
      else { return nil }
      return (saved, try PendingObjects(store).record(change.entity, object))
    }
    guard let (saved, read) = found else { return false }
    #expect(read?.values == saved.values && read?.replay == saved.replay)
    #expect(read?.pending == saved.pending && read?.failed == saved.failed)
    return true
  }

  private struct Pair {
    let straight: Device
    let general: Device
  }

  private func existing(_ device: Device, _ entity: Entity, _ index: Int) throws -> ObjectRecord? {
    let all = try Records(device.store).all(entity, "ORDER BY _id", [])
    return all.isEmpty ? nil : all[index % all.count]
  }

  @Test(
    "A save leaves what a save and a submit leave one after the other, whatever is pending",
    arguments: seeds)
  func same(seed: UInt64) throws {
    let numbers = Numbers(seed &* 977)
    let draw = { (count: Int) in Int(numbers.next() % UInt64(count)) }
    let pair = Pair(
      straight: try Device(Self.model, chance: Numbers(seed)).loggedIn(),
      general: try Device(Self.model, chance: Numbers(seed)).loggedIn())
    let shores = [Shore(Self.model), Shore(Self.model)]
    for shore in shores {
      for number in 1...6 {
        for entity in Self.model.entities {
          let key: AttributeValue =
            entity.attributes[0].type == .string ? .text("m\(number)") : .integer(Int64(number))
          shore.put(entity, [key, .text("text \(number)"), .null, .double(1)])
        }
      }
    }
    var taken = 0
    for step in 0..<40 {
      let entity = Self.model.entities[draw(4)]
      let kind = [OperationKind.create, .create, .update, .update, .update, .delete][draw(6)]
      let (index, text, key, move) = (draw(50), "text \(draw(9))", draw(12), draw(3))
      let target = draw(8)
      for (device, isStraight) in [(pair.straight, true), (pair.general, false)] {
        var record: ObjectRecord
        if kind == .create {
          record = ObjectRecord(entity, store: device.store)
          if entity.keyOrigin == .app { record.set(0, Int64(key)) }
        } else {
          guard let found = try existing(device, entity, index) else { continue }
          record = found
        }
        record.set(1, text)
        if move == 0, let relationship = entity.relationships.first,
          let whole = Self.model.entity(named: relationship.target)
        {
          let other = try existing(device, whole, target)
          record.values[2] = other?.values[0] ?? .null
        }
        var wrong: FerryError.Code?
        do throws(FerryError) {
          let change = try record.change(kind)
          if isStraight {
            let isKnown = try saveStraight(change, in: device.store)
            if isKnown { taken += 1 } else { try general(change, in: device.store) }
          } else {
            try general(change, in: device.store)
          }
        } catch { wrong = error.code }
        #expect(wrong == nil || wrong == .objectExists || wrong == .invalidReference)
      }
      if step % 7 == 6 {
        for (device, shore) in zip([pair.straight, pair.general], shores) {
          try device.exchange(shore)
          let sent = try shore.received.map { try Operation($0, in: Self.model) }
          for (index, operation) in sent.suffix(2).enumerated() {
            let isGiven = operation.kind == .create && operation.key == nil
            shore.accept(
              operation.id,
              newKey: isGiven ? ObjectKey([.integer(Int64(100 + step + index))]) : nil)
          }
          try device.exchange(shore)
        }
      }
      pair.straight.clock.advance(3)
      pair.general.clock.advance(3)
      #expect(
        try all(pair.straight) == all(pair.general), "step \(step), \(kind) of \(entity.name)")
    }
    #expect(taken > 0)
  }

  /// Statements of one save, those of the transaction included.
  private func statements(_ device: Device, _ change: LocalChange) throws -> Int {
    let count = { () throws in
      try device.store.write { connection throws(FerryError) in connection.executions }
    }
    let before = try count()
    _ = try Outbox(device.store).save(change, .now)
    // Less the one transaction that counted.
    return try count() - before - 2
  }

  @Test("A create that is submitted at once takes two statements, an update five")
  func once() throws {
    let device = try Device(Self.model).loggedIn()
    let shore = Shore(Self.model)
    let given = try #require(Self.model.entity(named: "Given"))
    shore.put(given, [.integer(1), .text("one"), .null, .double(1)])
    try device.exchange(shore)
    var new = ObjectRecord(given, store: device.store)
    new.set(1, "new")
    #expect(try statements(device, try new.change(.create)) == 2 + 2)
    var known = try #require(try Records(device.store).of(given, key: ObjectKey([.integer(1)])))
    known.set(1, "other")
    #expect(try statements(device, try known.change(.update)) == 2 + 5)
  }

  @Test("A change that refers to a new object with a key of the device waits for its create")
  func waitsForDeviceKey() throws {
    let device = try Device(Self.model).loggedIn()
    let shore = Shore(Self.model)
    let made = try #require(Self.model.entity(named: "Made"))
    let line = try #require(Self.model.entity(named: "Line"))
    // Not submitted yet.
    let whole = try #require(
      try PendingStore.save(
        try ObjectRecord(made, store: device.store).change(.create), in: device.store))
    var part = ObjectRecord(line, store: device.store)
    part.set(0, Int64(7))
    part.values[2] = whole.values[0]
    _ = try Outbox(device.store).save(try part.change(.create), .now)
    try device.exchange(shore)
    #expect(shore.received.isEmpty)
    _ = try Outbox(device.store).submit(made, try #require(whole.object))
    try device.exchange(shore)
    let sent = try shore.received.map { try Operation($0, in: Self.model).entity }
    #expect(sent == ["Made"])
  }
}
