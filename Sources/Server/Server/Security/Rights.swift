import FerryModel

/// The places whose rows a user may have.
struct Rights: Sendable {
  private let rules: PartitionRules
  private let user: String
  private let roles: Set<ExactText>
  private let claims: [String: [String]]
  /// Sets of parameter values, by name; each is a subscription of its own.
  private let sets: [[String: String]]

  /// `keys` are the user's personalization keys; they hold in every set.
  init(
    rules: PartitionRules, user: String, roles: [String], claims: [String: [String]],
    sets: [[String: String]] = [], keys: [String: String] = [:]
  ) {
    self.rules = rules
    self.user = user
    self.roles = Set(roles.map { ExactText($0) })
    self.claims = claims
    self.sets = (sets.isEmpty ? [[:]] : sets).map { $0.merging(keys) { $1 } }
  }

  /// Whether rows in this place are the user's.
  func include(_ place: Place) -> Bool {
    let (group, name) = (place.group.text, place.rule.text)
    for (entity, rule) in zip(rules.package.entities, rules.rules)
    where entity.group.hasBytes(of: group) && rule.root.rule.hasBytes(of: name) {
      guard mayRead(rule.root), let values = values(of: place, rule.root) else { continue }
      if zip(rule.root.columns, zip(rule.root.types, values)).allSatisfy({ column, pair in
        switch column.source {
        case .claim(let name), .parameter(_, within: let name?):
          self.values(ofClaim: name, pair.0).contains(pair.1)
        case .constant(let text): pair.0.value(plainText: text) == pair.1
        case .open, .parameter(_, within: nil): true
        }
      }) {
        return true
      }
    }
    return false
  }

  /// All places of a synchronization group: the product of what each column may be, in order.
  /// At most `limit + 1` are given.
  func places(
    in group: String, directory: PartitionDirectory, limit: Int
  ) throws(StoreError) -> [Place] {
    var found: Set<Place> = []
    var roots: Set<PartitionRules.Root> = []
    for (entity, rule) in zip(rules.package.entities, rules.rules)
    where entity.group == group && mayRead(rule.root) && roots.insert(rule.root).inserted {
      if rule.root.columns.contains(where: { $0.source == .open }) {
        for place in try directory.places(group: group, rule: rule.root.rule) where include(place) {
          found.insert(place)
        }
        continue
      }
      for set in sets where found.count <= limit {
        for values in product(rule.root, set, limit: limit) {
          let text = values.isEmpty ? "" : ObjectKey(values).text
          found.insert(Place(group: group, rule: rule.root.rule, values: text))
          if found.count > limit { break }
        }
      }
    }
    return found.sorted { ($0.rule, $0.values) < ($1.rule, $1.values) }
  }

  /// Whether the places may change while the claims stay: rules that ask for every value there is,
  /// and roles, which are asked for anew each time.
  func isOpen(in group: String) -> Bool {
    zip(rules.package.entities, rules.rules).contains { entity, rule in
      entity.group == group
        && (rule.root.readers != nil || rule.root.columns.contains { $0.source == .open })
    }
  }

  /// Whether the user has a role that the model asks for, or it asks for none.
  func allow(_ permission: Permission, of entity: Entity) -> Bool {
    guard let named = entity.roles[permission] else { return true }
    return named.contains { roles.contains(ExactText($0)) }
  }

  private func mayRead(_ root: PartitionRules.Root) -> Bool {
    root.readers?.contains(where: roles.contains) ?? true
  }

  private func product(
    _ root: PartitionRules.Root, _ set: [String: String], limit: Int
  ) -> [[AttributeValue]] {
    var rows: [[AttributeValue]] = [[]]
    for (column, type) in zip(root.columns, root.types) {
      let values = values(of: column.source, type, in: set)
      var longer: [[AttributeValue]] = []
      for row in rows where longer.count <= limit { longer += values.map { row + [$0] } }
      rows = longer
    }
    return rows
  }

  private func values(
    of source: PartitionSource, _ type: AttributeType, in set: [String: String]
  ) -> [AttributeValue] {
    switch source {
    case .open: return []
    case .constant(let text): return type.value(plainText: text).map { [$0] } ?? []
    case .claim(let name): return values(ofClaim: name, type)
    case .parameter(let name, let claim):
      let value = rules.package.value(ofParameter: name, chosen: set)
      guard !value.isNull else { return [] }
      guard let claim else { return [value] }
      return values(ofClaim: claim, type).filter { $0 == value }
    }
  }

  private func values(ofClaim name: String, _ type: AttributeType) -> [AttributeValue] {
    let texts =
      name.hasBytes(of: "user")
      ? [user] : claims.first { $0.key.hasBytes(of: name) }?.value ?? []
    var values: [AttributeValue] = []
    for text in texts {
      guard let value = type.value(plainText: text), !values.contains(value) else { continue }
      values.append(value)
    }
    return values
  }

  private func values(of place: Place, _ root: PartitionRules.Root) -> [AttributeValue]? {
    guard !root.columns.isEmpty else { return [] }
    return try? RowCoder.decode(Array("[\(place.values)]".utf8), types: root.types)
  }
}
