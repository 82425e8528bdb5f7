import FerryConnector
import FerryModel
import FerryStoreConformance
import FerryWire
import FerryWorld
import Synchronization

@testable import FerrySQLiteStore
@testable import FerryServer

/// Users with random rights work on a random model, while rows move and rights change. Each thing
/// that one of them gets is held against the truth.
final class RightsWorld {
  /// How many observations were made: rows, objects that are there or are not, answers, log records,
  /// contents and errors.
  var checks: Int = 0
  var accepted: Int = 0
  var refused: Int = 0
  /// Refusals whose text was worked out beforehand.
  var exact: Int = 0
  /// What somebody got that they may not have, or did not get that they may.
  var leaks: [String] = []

  let dice: Dice
  let package: Package
  let truth: Truth
  let bench: Bench
  let provider = RandomPeople()
  var people: [Person] = []
  var devices: [Device] = []
  var lastToken = 0
  var lastKey = 0
  /// The people who could have a secret at some moment since it was written.
  var owners: [String: Set<Int>] = [:]
  /// One operation, and with which rights of whom it arrived.
  struct Sent {
    let person: Int
    let entity: Entity
    let kind: OperationKind
    let key: ObjectKey
    let changed: [Int: AttributeValue]
    var arrival: Person
  }

  var sent: [OperationID: Sent] = [:]
  /// Whole groups in the order in which they arrived.
  var waiting: [[OperationID]] = []
  /// What a refusal with 403 has to say; empty where there must be none. Where the server's cache may
  /// be behind, a refusal may be one too many, and it is not here.
  var expected: [OperationID: String] = [:]
  var heard: Set<OperationID> = []

  init(
    seed: UInt64, rows: Int = 4, plant: PlantedBug? = nil, comparesFirst: Bool = false
  ) throws {
    dice = Dice(seed)
    package = RandomRules.package(dice)
    truth = Truth(package: package)
    bench = try Bench(package, seed: seed, plant: plant) { store in
      plant.map { FlawedStore(store, [$0]) } ?? store
    }
    bench.business.comparesFirst = comparesFirst
    bench.service.provider = provider
    for name in RandomRules.names { people.append(.random(name, dice)) }
    provider.set(people)
    for (index, person) in people.enumerated() {
      let device = Device(bench, "phone \(index)", identity(person))
      device.onRow = { [unowned self] entity, values in saw(index, entity, values) }
      devices.append(device)
    }
    for entity in package.entities { for _ in 0..<rows { put(entity, newKey(entity)) } }
    spread()
    try bench.load()
  }

  func run(rounds: Int) throws {
    for _ in 0..<rounds where leaks.isEmpty {
      if dice.once(in: 2) { changeRights() }
      for index in people.indices where dice.once(in: 2) { try send(index) }
      let isQuiet = dice.once(in: 2)
      if !isQuiet { for _ in 0...dice.below(4) { changeBusiness() } }
      if !isQuiet, dice.once(in: 2) { changeRights() }
      try replay(isQuiet: isQuiet)
      try bench.load()
      spread()
      for index in people.indices where people[index].isThere {
        try observe(index)
        hearAnswers(index)
      }
    }
  }

  func identity(_ person: Person) -> Identity {
    Identity(
      user: person.name, device: nil, roles: person.roles, claims: person.claims,
      expires: bench.clock.now.advanced(by: .seconds(900)))
  }

  func newKey(_ entity: Entity) -> String {
    lastKey += 1
    return "\(entity.name)\(lastKey)"
  }

  func newToken() -> String {
    lastToken += 1
    let digits = String(lastToken)
    return "T" + String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// The key of a row that is there, or one that never was.
  func key(_ entity: Entity, for index: Int? = nil) -> String {
    let keys = (bench.business.rows[entity.name] ?? [:]).values.compactMap { row in
      if case .text(let key) = row[0] { key } else { nil }
    }.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    guard !keys.isEmpty, !dice.once(in: 8) else { return "\(entity.name)-none" }
    // Mostly what the user has: what is foreign is refused, and little would happen.
    let own = dice.once(in: 3) ? [] : keys.filter { isOwn(entity, $0, index) }
    return dice.pick(own.isEmpty ? keys : own)
  }

  func isOwn(_ entity: Entity, _ key: String, _ index: Int?) -> Bool {
    let rows = bench.business.rows
    guard let index, let row = rows[entity.name]?[ObjectKey([.text(key)])] else { return false }
    return truth.includes(people[index], entity, row, rows)
  }

  func value(of attribute: Int, _ entity: Entity, for index: Int? = nil) -> AttributeValue {
    let name = entity.attributes[attribute].name
    let relationship = entity.relationships.first { $0.attributes == [name] }
    if let relationship, let target = package.entity(named: relationship.target) {
      if name == "ref", dice.once(in: 3) { return .null }
      let key = self.key(target, for: index)
      return .text(relationship.targetAttributes == ["b"] ? "code of \(key)" : key)
    }
    if name == "a" {
      let byUser =
        entity.partition
        == .columns([
          PartitionColumn(attribute: "a", source: .claim("user"))
        ])
      let own = index.map { people[$0] }
      let tenants = dice.once(in: 4) ? [] : own?.claims["tenant"] ?? []
      if byUser {
        return .text(dice.once(in: 4) ? dice.pick(RandomRules.names) : own?.name ?? "eve")
      }
      return .text(dice.pick(tenants.isEmpty ? RandomRules.tenants : tenants))
    }
    return name == "b" ? .text(dice.pick(RandomRules.areas)) : .null
  }

  func row(_ entity: Entity, _ key: String, for index: Int? = nil) -> [AttributeValue] {
    var row: [AttributeValue] = [.text(key), .text(newToken())]
    row += (2...4).map { value(of: $0, entity, for: index) }
    if entity.name == "Child" { row[3] = .text("code of \(key)") }
    return row + [.null]
  }

  func put(_ entity: Entity, _ key: String) {
    var row = self.row(entity, key)
    lastToken += 1
    let digits = String(lastToken, radix: 16)
    let digest = String(repeating: "0", count: 64 - digits.count) + digits
    row[5] = .text(BigReference(sizeBytes: 3, digest: digest).description)
    bench.business.put(entity, row)
  }

  func changeBusiness() {
    let entity = dice.pick(package.entities)
    let key = self.key(entity)
    guard let old = bench.business.rows[entity.name]?[ObjectKey([.text(key)])] else {
      return put(entity, newKey(entity))
    }
    if dice.once(in: 12) {
      bench.business.remove(entity, entity.key(of: old))
    } else if dice.once(in: 2) {
      put(entity, key)
    } else {
      // It moves, and what hangs on it with it.
      var row = old
      row[2] = value(of: 2, entity)
      bench.business.put(entity, row)
    }
    spread()
  }

  func changeRights() {
    let index = dice.below(people.count)
    let name = people[index].name
    people[index] = .random(name, dice)
    people[index].isThere = !dice.once(in: 10)
    provider.set(people)
    spread()
  }

  /// Everybody who could have a row now knows, or may know, its secret.
  func spread() {
    let rows = bench.business.rows
    for entity in package.entities {
      for row in (rows[entity.name] ?? [:]).values {
        let tokens = RightsWorld.tokens(of: row)
        for (index, person) in people.enumerated() {
          let isKnown = tokens.allSatisfy { owners[$0]?.contains(index) ?? false }
          guard !isKnown, truth.includes(person, entity, row, rows) else { continue }
          for token in tokens { owners[token, default: []].insert(index) }
        }
      }
    }
  }

  static func tokens(of row: [AttributeValue]) -> [String] {
    var tokens: [String] = []
    if case .text(let text) = row[1] { tokens.append(text) }
    if case .text(let text) = row[5] { tokens.append(text) }
    return tokens
  }

  func login(_ index: Int) {
    devices[index].identity = identity(people[index])
    devices[index].parameters = SubscriptionParameters(
      sets: people[index].area.map { [["area": $0]] } ?? [])
  }

  /// A group of one to three operations on any objects, its members perhaps under different rights.
  func send(_ index: Int) throws {
    guard people[index].isThere else { return }
    let chain = OperationID(bench.newID())!
    let count = dice.pick([1, 1, 2, 3])
    let group = (0..<count).map { operation(chain, $0, count, of: index) }
    let cut = count > 1 && dice.once(in: 3) ? 1 : count
    try give(Array(group[..<cut]), of: index)
    if cut < count {
      if dice.once(in: 2) { changeRights() }
      guard people[index].isThere else { return }
      try give(Array(group[cut...]), of: index)
    }
    waiting.append(group.map(\.0))
  }

  func give(_ group: [(OperationID, [UInt8])], of index: Int) throws {
    login(index)
    for (id, _) in group { sent[id]?.arrival = people[index] }
    devices[index].open += group.map(\.0)
    try devices[index].exchange(group.map(\.1))
  }

  func operation(
    _ chain: OperationID, _ position: Int, _ count: Int, of index: Int
  ) -> (OperationID, [UInt8]) {
    let entity = dice.pick(package.entities)
    let kind = dice.pick([OperationKind.create, .update, .update, .update, .delete])
    var changed: [Int: AttributeValue] = [:]
    var base: [Int: AttributeValue] = [:]
    let key: String
    if kind == .create {
      key = newKey(entity)
      for (position, value) in row(entity, key, for: index).enumerated() where position < 5 {
        changed[position] = value
      }
    } else {
      key = self.key(entity, for: index)
      if kind == .update {
        if dice.once(in: 2) { changed[1] = .text(newToken()) }
        if dice.once(in: 3) { changed[2] = value(of: 2, entity, for: index) }
        if dice.once(in: 2) { changed[4] = value(of: 4, entity, for: index) }
        if changed.isEmpty { changed[1] = .text(newToken()) }
      }
      // A guess, whose refusal must not tell what is right.
      if dice.once(in: 3) { base[1] = .text("guessed") }
    }
    if case .text(let token)? = changed[1] { owners[token, default: []].insert(index) }
    let made = bench.operation(
      entity, kind, ObjectKey([.text(key)]), changed: changed, base: base, chain: chain,
      position: position, count: count)
    sent[made.0] = Sent(
      person: index, entity: entity, kind: kind, key: ObjectKey([.text(key)]), changed: changed,
      arrival: people[index])
    return made
  }
}

/// The records of all people now.
final class RandomPeople: AuthenticationProvider {
  private let kept = Mutex<[Person]>([])

  func set(_ people: [Person]) { kept.withLock { $0 = people } }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    UserRecord(name: user)
  }

  func record(of user: String) -> UserRecord? {
    kept.withLock { people in
      people.first { $0.isThere && Truth.isSame($0.name, user) }
        .map { UserRecord(name: $0.name, roles: $0.roles, claims: $0.claims) }
    }
  }
}
