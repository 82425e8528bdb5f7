import FerryModel

@testable import FerrySQLiteStore
@testable import FerryServer

/// Picks from what chance gives.
struct Dice {
  private let chance: SeededChance

  init(_ seed: UInt64) { chance = SeededChance(seed) }

  func below(_ count: Int) -> Int { Int(chance.next() % UInt64(count)) }

  /// True once in `count` times.
  func once(in count: Int) -> Bool { below(count) == 0 }

  func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

  func some<T>(_ list: [T]) -> [T] { list.filter { _ in once(in: 2) } }
}

/// A model made by chance: rules by columns, claims, the user and parameters, one and two parents
/// deep, with roles and with references across partitions.
///
/// All entities have the same attributes: id, secret, a, b, ref, scan. A root has its tenant in a and
/// its area in b; a child has its parent in a and a code in b.
enum RandomRules {
  static let tenants: [String] = ["K01", "\u{212A}01", "A07"]
  static let areas: [String] = ["caf\u{E9}", "cafe\u{301}"]
  static let roles: [String] = ["sales", "office"]
  /// The second begins with a KELVIN SIGN.
  static let names: [String] = ["Karl", "\u{212A}arl", "eve", "otto"]

  static func package(_ dice: Dice) -> Package {
    let root = entity(
      "Root", dice, to: ["ref": ("Other", "id")], partition: .columns(rule(dice)))
    let other = entity(
      "Other", dice, to: [:],
      partition: dice.once(in: 4) ? nil : .columns([column("a", .claim("tenant"))]))
    let child = entity(
      "Child", dice, to: ["parent": ("Root", "id"), "ref": ("Other", "id")],
      partition: .through(relationship: "parent"))
    let grand = entity(
      "Grand", dice,
      to: ["parent": ("Child", dice.once(in: 2) ? "id" : "b"), "ref": ("Root", "id")],
      partition: .through(relationship: "parent"))
    let open = entity("Open", dice, to: ["ref": ("Root", "id")], partition: nil)
    return Package(
      name: "random", version: "1.0", entities: [root, other, child, grand, open],
      groups: [SynchronizationGroup(name: "sales")],
      parameters: [Parameter(name: "area", type: .string)])
  }

  private static func rule(_ dice: Dice) -> [PartitionColumn] {
    switch dice.below(6) {
    case 0, 1: [column("a", .claim("tenant"))]
    case 2:
      [column("a", .claim("tenant")), column("b", .parameter("area", within: "areas"))]
    case 3: [column("a", .claim("user"))]
    case 4: [column("b", .parameter("area", within: "areas"))]
    default: [column("a", .claim("tenant")), column("b", .claim("areas"))]
    }
  }

  private static func column(_ name: String, _ source: PartitionSource) -> PartitionColumn {
    PartitionColumn(attribute: name, source: source)
  }

  private static func entity(
    _ name: String, _ dice: Dice, to targets: [String: (entity: String, attribute: String)],
    partition: PartitionRule?
  ) -> Entity {
    var named: [Permission: [String]] = [:]
    for permission in [Permission.read, .create, .update, .delete] where dice.once(in: 5) {
      named[permission] = [dice.pick(roles)]
    }
    let relationships = targets.sorted { $0.key < $1.key }.map { name, target in
      Relationship(
        name: name, target: target.entity, attributes: [name == "parent" ? "a" : "ref"],
        targetAttributes: [target.attribute], allowsAnyTarget: name == "ref" && dice.once(in: 5))
    }
    return Entity(
      name: name, table: name,
      attributes: [
        Attribute(name: "id", column: "id", type: .string, isNullable: false),
        Attribute(name: "secret", column: "secret", type: .string, isNullable: false),
        Attribute(name: "a", column: "a", type: .string, isNullable: true),
        Attribute(name: "b", column: "b", type: .string, isNullable: true),
        Attribute(name: "ref", column: "ref", type: .string, isNullable: true),
        Attribute(name: "scan", column: "scan", type: .bigString, isNullable: true),
      ], key: [0], keyOrigin: .app, relationships: relationships,
      operations: Set(OperationKind.allCases), partition: partition, group: "sales",
      unique: [[3]], roles: EntityRoles(named), allowsBlindWrites: true)
  }
}

/// What a user is at one moment.
struct Person: Equatable {
  let name: String
  var claims: [String: [String]]
  var roles: [String]
  /// The value of the parameter `area` that the device asks for.
  var area: String?
  var isThere: Bool = true

  static func random(_ name: String, _ dice: Dice) -> Person {
    Person(
      name: name,
      claims: [
        "tenant": dice.some(RandomRules.tenants), "areas": dice.some(RandomRules.areas),
      ], roles: dice.some(RandomRules.roles),
      area: dice.once(in: 5) ? nil : dice.pick(RandomRules.areas))
  }
}

/// Who may do what, worked out from the business system's rows by itself: nothing of the server's
/// rules is used.
struct Truth {
  typealias Rows = [String: [ObjectKey: [AttributeValue]]]

  let package: Package

  func hasRole(_ person: Person, for permission: Permission, of entity: Entity) -> Bool {
    guard let named = entity.roles[permission] else { return true }
    return named.contains { role in person.roles.contains { Truth.isSame($0, role) } }
  }

  /// Whether the row is the person's. `asChosen`: only where the device asks for it as well.
  func includes(
    _ person: Person, _ entity: Entity, _ row: [AttributeValue], _ rows: Rows,
    asChosen: Bool = false
  ) -> Bool {
    guard person.isThere, hasRole(person, for: .read, of: entity) else { return false }
    return isInPlace(person, entity, row, rows, asChosen)
  }

  private func isInPlace(
    _ person: Person, _ entity: Entity, _ row: [AttributeValue], _ rows: Rows, _ asChosen: Bool
  ) -> Bool {
    switch entity.partition {
    case nil: return true
    case .through(let name):
      guard let relationship = entity.relationship(named: name),
        let target = package.entity(named: relationship.target),
        let parent = self.target(of: relationship, entity, row, rows)
      else { return false }
      return isInPlace(person, target, parent, rows, asChosen)
    case .columns(let columns):
      return columns.allSatisfy { column in
        guard let position = entity.position(of: column.attribute),
          case .text(let value) = row[position]
        else { return false }
        switch column.source {
        case .open: return true
        case .constant(let text): return Truth.isSame(text, value)
        case .claim("user"): return Truth.isSame(person.name, value)
        case .claim(let claim): return has(person, claim, value)
        case .parameter(_, let claim):
          let isChosen = person.area.map { Truth.isSame($0, value) } ?? false
          return (!asChosen || isChosen) && (claim.map { has(person, $0, value) } ?? true)
        }
      }
    }
  }

  /// The row that the relationship leads to.
  func target(
    of relationship: Relationship, _ entity: Entity, _ row: [AttributeValue], _ rows: Rows
  ) -> [AttributeValue]? {
    guard let own = entity.position(of: relationship.attributes[0]),
      let target = package.entity(named: relationship.target),
      let position = target.position(of: relationship.targetAttributes[0]),
      case .text(let wanted) = row[own]
    else { return nil }
    return rows[target.name]?.values.first { row in
      if case .text(let value) = row[position] { Truth.isSame(value, wanted) } else { false }
    }
  }

  /// The first reference that the change sets to what is not the person's.
  func foreignReference(
    _ person: Person, _ entity: Entity, before: [AttributeValue]?, after: [AttributeValue],
    _ rows: Rows
  ) -> Relationship? {
    entity.relationships.first { relationship in
      guard !relationship.allowsAnyTarget,
        let position = entity.position(of: relationship.attributes[0]), !after[position].isNull,
        before.map({ !Truth.isSame($0[position], after[position]) }) ?? true,
        let target = package.entity(named: relationship.target),
        target.partition != nil || target.roles[.read] != nil
      else { return false }
      guard let found = self.target(of: relationship, entity, after, rows) else { return true }
      return !includes(person, target, found, rows)
    }
  }

  private func has(_ person: Person, _ claim: String, _ value: String) -> Bool {
    person.claims[claim]?.contains { Truth.isSame($0, value) } ?? false
  }

  private static func isSame(_ one: AttributeValue, _ other: AttributeValue) -> Bool {
    switch (one, other) {
    case (.text(let one), .text(let other)): isSame(one, other)
    case (.null, .null): true
    default: false
    }
  }

  static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}
