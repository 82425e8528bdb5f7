import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerryServer

/// The tables of a store in memory, as plain as can be.
private struct MemoryCache: CacheSource {
  let rules: PartitionRules
  private(set) var rows: [RowName: CachedRow] = [:]
  private(set) var places: [Place] = []
  /// Whether a row has left, by row and partition.
  private(set) var members: [RowName: [Int64: Bool]] = [:]
  private(set) var totals: [Int64: CacheChanges.Total] = [:]
  private var alternates: [ParentName: Set<RowName>] = [:]

  init(_ rules: PartitionRules) { self.rules = rules }

  private var alive: [CachedRow] {
    rows.values.filter { !$0.isDeleted }.sorted { $0.id < $1.id }
  }

  func values(_ row: CachedRow) -> [AttributeValue] {
    let types = rules.package.entities[row.entity].attributes.map(\.type)
    return (try? RowCoder.decode(row.body, types: types)) ?? []
  }

  private func path(_ entity: Int) -> PartitionRules.ParentPath? {
    guard case .parent(let path) = rules.rules[entity].path else { return nil }
    return path
  }

  func row(_ name: RowName) -> CachedRow? { rows[name] }

  func children(_ name: ParentName) -> [CachedRow] {
    alive.filter {
      $0.entity == name.entity && path(name.entity)?.parentKey(of: values($0)) == name.key
    }
  }

  func parents(_ name: ParentName) -> [CachedRow] {
    guard name.attributes != nil else {
      return alive.filter { $0.name == RowName(name.entity, name.key) }
    }
    return alive.filter { alternates[name]?.contains($0.name) ?? false }
  }

  func partition(at place: Place) -> Int64? { places.firstIndex(of: place).map { Int64($0 + 1) } }
  func place(of partition: Int64) -> Place? { places[Int(partition) - 1] }

  mutating func apply(_ changes: CacheChanges, version: Int64) {
    let before = Int64(places.count)
    places += changes.places
    func number(_ partition: CacheChanges.Partition) -> Int64 {
      switch partition {
      case .known(let number): number
      case .new(let place): before + Int64(place) + 1
      }
    }
    for name in changes.order {
      guard let row = changes.rows[name] else { continue }
      #expect(row.id == rows[name]?.id)
      rows[name] = CachedRow(
        id: row.id ?? Int64(rows.count + 1), entity: name.entity, key: name.key,
        partition: row.partition.map(number), body: row.body, hash: row.hash,
        version: row.isChanged ? version : rows[name]?.version ?? 0, isDeleted: row.isDeleted)
    }
    for change in changes.alternates {
      func name(_ key: ObjectKey) -> ParentName {
        ParentName(change.row.entity, attributes: change.attributes, key)
      }
      if let key = change.before { alternates[name(key)]?.remove(change.row) }
      if let key = change.after { alternates[name(key), default: []].insert(change.row) }
    }
    for (member, hasLeft) in changes.members {
      members[member.row, default: [:]][number(member.partition)] = hasLeft
    }
    for (partition, total) in changes.totals {
      totals[number(partition), default: .init()].sum &+= total.sum
      totals[number(partition), default: .init()].count += total.count
    }
  }

  /// Where a row belongs by the values of all rows alone.
  private func place(of row: CachedRow) -> Place? {
    try? rules.place(of: row.entity, values: values(row)) { name throws(StoreError) in
      let parent = alive.first { candidate in
        guard candidate.entity == name.entity, let path = path(row.entity) else { return false }
        return path.name(of: values(candidate)) == name.key
      }
      return parent.flatMap { place(of: $0) }
    }
  }

  /// What of the tables is not as the rows' values say.
  var faults: [String] {
    var found: [String] = []
    var expected: [Int64: CacheChanges.Total] = [:]
    for row in rows.values {
      let partition = row.isDeleted ? nil : place(of: row).flatMap { self.partition(at: $0) }
      if row.partition != partition { found.append("\(row.name) is in \(row.partition ?? 0)") }
      for (number, hasLeft) in members[row.name] ?? [:] where hasLeft == (number == partition) {
        found.append("\(row.name) has \(hasLeft ? "left" : "not left") \(number)")
      }
      guard let partition else { continue }
      if members[row.name]?[partition] == nil { found.append("\(row.name) is no member") }
      expected[partition, default: .init()].count += 1
      expected[partition, default: .init()].sum &+= UInt64(bitPattern: row.hash)
    }
    for number in Set(expected.keys).union(totals.keys) {
      let (have, ought) = (totals[number] ?? .init(), expected[number] ?? .init())
      if have.count != ought.count || have.sum != ought.sum { found.append("total of \(number)") }
    }
    return found
  }
}

@Suite("What the cache machine decides")
struct CacheMachineTests {
  /// Orders of an employee, lines through their order, notes through a line's code; codes are no keys
  /// and may be there twice.
  private func image(_ chance: SeededChance) -> (RowName, [AttributeValue]?) {
    func number(_ limit: Int64) -> Int64 { chance.number(in: 1..<(limit + 1)) }
    let isGone = number(4) == 1
    switch number(3) {
    case 1:
      let id = number(3)
      let values = Shop.order(id, number(4) == 4 ? nil : number(3), "s\(number(2))")
      return (RowName(1, ObjectKey([.integer(id)])), isGone ? nil : values)
    case 2:
      let (order, place) = (number(3), number(2))
      let code: AttributeValue = number(4) == 4 ? .null : .text("c\(number(3))")
      let values: [AttributeValue] = [
        .integer(order), .integer(place), code, .text("t\(number(2))"),
      ]
      return (RowName(2, ObjectKey([.integer(order), .integer(place)])), isGone ? nil : values)
    default:
      let id = number(3)
      return (
        RowName(3, ObjectKey([.integer(id)])),
        isGone ? nil : [.integer(id), .text("c\(number(3))")]
      )
    }
  }

  @Test(
    "Whatever comes in one batch, rows, members and sums are what the rows' values say",
    arguments: 1...40)
  func histories(seed: Int) throws {
    let chance = SeededChance(UInt64(seed))
    let rules = try PartitionRules(Shop.package)
    var cache = MemoryCache(rules)
    var moved = 0
    for version in 1...60 {
      var machine = CacheMachine(rules)
      for _ in 0..<chance.number(in: 1..<7) {
        let (name, values) = image(chance)
        try machine.apply(name, values, cache)
      }
      cache.apply(machine.changes, version: Int64(version))
      moved += machine.changes.movedRows
      let faults = cache.faults
      #expect(faults.isEmpty, "seed \(seed), batch \(version): \(faults)")
      if !faults.isEmpty { return }
    }
    #expect(moved > 0)
  }

  @Test("What is as it was changes nothing, and a moved row keeps its version")
  func nothing() throws {
    let rules = try PartitionRules(Shop.package)
    var cache = MemoryCache(rules)
    func apply(_ version: Int64, _ images: (RowName, [AttributeValue]?)...) throws -> CacheChanges {
      var machine = CacheMachine(rules)
      for (name, values) in images { try machine.apply(name, values, cache) }
      cache.apply(machine.changes, version: version)
      return machine.changes
    }
    let order = RowName(1, ObjectKey([.integer(1)]))
    let line = RowName(2, ObjectKey([.integer(1), .integer(1)]))
    _ = try apply(1, (line, Shop.line(1, 1)), (order, Shop.order(1, 7, "Oslo")))
    #expect(cache.rows[line]?.partition == cache.rows[order]?.partition)
    #expect(try apply(2, (order, Shop.order(1, 7, "Oslo")), (line, Shop.line(1, 1))).isEmpty)
    let moved = try apply(3, (order, Shop.order(1, 8, "Oslo")))
    #expect(moved.movedRows == 1)
    #expect(cache.rows[line]?.version == 1 && cache.rows[order]?.version == 3)
    #expect(cache.faults == [])
  }
}
