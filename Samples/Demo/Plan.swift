import FerryModel
import FerrySQLite

/// What the schema of a database lets the story do; found by trial on the copy.
struct Plan {
  struct Update {
    let entity: Entity
    let key: ObjectKey
    let attribute: String
    /// As many as the story needs, all different, each accepted in trial.
    let values: [AttributeValue]
  }

  struct Create {
    let entity: Entity
    let values: [(String, AttributeValue)]
  }

  struct Refusal {
    enum Rule: String {
      case foreignKey = "foreign key"
      case check = "CHECK"
      case notNull = "NOT NULL"
    }

    let rule: Rule
    let entity: Entity
    let key: ObjectKey
    let attribute: String
    let wrong: AttributeValue
    /// What the database takes instead; nil when only giving up is left.
    let right: AttributeValue?
  }

  var update: Update?
  var create: Create?
  var refusal: Refusal?
}

/// Finds a plan, and the reasons where there is none.
struct PlanFinder {
  static let changes = 6

  let package: Package
  let trial: Trial

  func find() throws -> (plan: Plan, leftOut: [String]) {
    var plan = Plan()
    var leftOut: [String] = []
    plan.update = try update()
    if plan.update == nil {
      leftOut.append(
        "an update, its push and a conflict: no row has an attribute outside of keys, references "
          + "and unique columns that takes \(PlanFinder.changes) other values")
    }
    plan.create = try create()
    if plan.create == nil {
      let given = package.entities.filter {
        $0.keyOrigin == .businessSystem && $0.operations.contains(.create)
      }
      leftOut.append(
        "a create with a key that the database gives: "
          + (given.isEmpty
            ? "no entity has such a key"
            : "no row was found whose required values are taken again, in "
              + given.map(\.name).joined(separator: ", ")))
    }
    plan.refusal = try foreignKey() ?? check() ?? notNull()
    if plan.refusal == nil {
      leftOut.append(
        "a refusal: no foreign key, CHECK or NOT NULL was found that refuses an update")
    }
    return (plan, leftOut)
  }

  private var changeable: [Entity] {
    package.entities.filter { $0.operations.contains(.update) }
  }

  /// Text first: people see best what happened.
  private func update() throws -> Plan.Update? {
    for types in [[AttributeType.string], [.decimal, .double, .int, .long, .short]] {
      for entity in changeable {
        for row in try trial.rows(entity, limit: 3) {
          for position in free(entity) where types.contains(entity.attributes[position].type) {
            let attribute = entity.attributes[position]
            let values = Variants(attribute, of: row[position]).values
              .filter { trial.update(entity, row, position, $0).isAccepted }
            guard values.count >= PlanFinder.changes else { continue }
            return Plan.Update(
              entity: entity, key: entity.key(of: row), attribute: attribute.name, values: values)
          }
        }
      }
    }
    return nil
  }

  /// Attributes that are in no key, no reference, no unique set and no partition.
  private func free(_ entity: Entity) -> [Int] {
    var bound = Set(entity.key + entity.unique.flatMap { $0 })
    for relationship in entity.relationships {
      bound.formUnion(relationship.attributes.compactMap(entity.position(of:)))
    }
    if case .columns(let columns) = entity.partition {
      bound.formUnion(columns.compactMap { entity.position(of: $0.attribute) })
    }
    return entity.attributes.indices.filter { !bound.contains($0) }
  }

  /// One with required values first: it shows more.
  private func create() throws -> Plan.Create? {
    var without: Plan.Create?
    for entity in package.entities
    where entity.keyOrigin == .businessSystem && entity.operations.contains(.create) {
      for row in try trial.rows(entity) {
        let values = required(entity, row)
        guard without == nil || !values.isEmpty, trial.create(entity, values).isAccepted else {
          continue
        }
        let create = Plan.Create(entity: entity, values: values)
        guard values.isEmpty else { return create }
        without = create
      }
    }
    return without
  }

  /// What a new row needs, as another row has it; changed where it must be unique.
  private func required(_ entity: Entity, _ row: [AttributeValue]) -> [(String, AttributeValue)] {
    let positions = entity.attributes.indices.filter {
      !entity.key.contains($0) && !entity.attributes[$0].isNullable
    }
    return positions.map { position in
      let attribute = entity.attributes[position]
      let isUnique = entity.unique.contains { $0.contains(position) }
      let variant = isUnique ? Variants(attribute, of: row[position]).values.last : nil
      return (attribute.name, variant ?? row[position])
    }
  }

  private func foreignKey() throws -> Plan.Refusal? {
    for entity in changeable {
      for relationship in entity.relationships {
        guard let name = relationship.attributes.last, let position = entity.position(of: name),
          !entity.key.contains(position), let row = try trial.rows(entity, limit: 1).first
        else { continue }
        let attribute = entity.attributes[position]
        for wrong in Variants(attribute, of: row[position]).strange
        where trial.update(entity, row, position, wrong).error?.isForeignKey == true {
          let others = try targets(relationship).filter { $0 != row[position] && !$0.isNull }
          return Plan.Refusal(
            rule: .foreignKey, entity: entity, key: entity.key(of: row), attribute: name,
            wrong: wrong,
            right: others.first { trial.update(entity, row, position, $0).isAccepted })
        }
      }
    }
    return nil
  }

  private func targets(_ relationship: Relationship) throws -> [AttributeValue] {
    guard let target = package.entity(named: relationship.target),
      let name = relationship.targetAttributes.last, let position = target.position(of: name)
    else { return [] }
    return try trial.rows(target).map { $0[position] }
  }

  private func check() throws -> Plan.Refusal? {
    try refusal(.check) { attribute, value in
      Variants(attribute, of: value).strange
    } isRefused: {
      $0.isCheck
    }
  }

  private func notNull() throws -> Plan.Refusal? {
    try refusal(.notNull) { attribute, _ in
      attribute.isNullable ? [] : [.null]
    } isRefused: {
      $0.isNotNull
    }
  }

  private func refusal(
    _ rule: Plan.Refusal.Rule, wrong: (Attribute, AttributeValue) -> [AttributeValue],
    isRefused: (SQLiteError) -> Bool
  ) throws -> Plan.Refusal? {
    for entity in changeable {
      guard let row = try trial.rows(entity, limit: 1).first else { continue }
      for position in free(entity) {
        let attribute = entity.attributes[position]
        for value in wrong(attribute, row[position]) {
          guard let error = trial.update(entity, row, position, value).error, isRefused(error)
          else { continue }
          let variants = Variants(attribute, of: row[position]).values
          return Plan.Refusal(
            rule: rule, entity: entity, key: entity.key(of: row), attribute: attribute.name,
            wrong: value,
            right: variants.first { trial.update(entity, row, position, $0).isAccepted })
        }
      }
    }
    return nil
  }
}

/// Other values for an attribute.
struct Variants {
  /// Ordinary ones, all different from the value that is there.
  let values: [AttributeValue]
  /// Such as a rule may refuse.
  let strange: [AttributeValue]

  init(_ attribute: Attribute, of value: AttributeValue) {
    let numbers = 1...9
    var ordinary: [AttributeValue] = []
    var odd: [AttributeValue] = []
    switch attribute.type {
    case .string:
      let limit = attribute.maxLength ?? 200
      let text = if case .text(let text) = value { text } else { "Ferry" }
      ordinary = numbers.map { number in
        .text(String(text.prefix(max(0, limit - 4))) + String(" (\(number))".suffix(limit)))
      }
      odd = ["?no such", "?", ""].map { .text(String($0.prefix(limit))) }
    case .byte, .short, .int, .long:
      ordinary = numbers.map { .integer(Int64($0)) }
      odd = [987_654_321, 32_011, 113, -1, 0, -32_011].map { .integer($0) }
    case .integer, .decimal:
      ordinary = numbers.map { .text(String($0)) }
      odd = ["987654321", "-1", "0", "-1000000"].map { .text($0) }
    case .double, .float:
      ordinary = numbers.map { .double(Double($0)) }
      odd = [-1, 0, 987_654_321].map { .double($0) }
    case .boolean: ordinary = [.boolean(value != .boolean(true))]
    case .date, .time, .dateTime, .binary, .list, .complex, .bigString, .bigBinary: break
    }
    values = ordinary.filter { $0 != value && attribute.type.canonical($0) == $0 }
    strange = odd.filter { $0 != value && attribute.type.canonical($0) == $0 }
  }
}
