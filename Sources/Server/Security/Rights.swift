import FerryModel
import FerrySQLite

/// The places whose rows a user may have.
struct Rights {
  private let rules: PartitionRules
  private let user: String
  private let claims: [String: [String]]

  init(rules: PartitionRules, user: String, claims: [String: [String]]) {
    self.rules = rules
    self.user = user
    self.claims = claims
  }

  /// Whether rows in this place are the user's.
  func include(_ place: Place) -> Bool {
    for (entity, rule) in zip(rules.package.entities, rules.rules)
    where entity.group == place.group && rule.root.rule == place.rule {
      guard let values = values(of: place, rule.root) else { continue }
      if zip(rule.root.columns, zip(rule.root.types, values)).allSatisfy({ column, pair in
        guard case .claim(let name) = column.source else { return true }
        return self.values(ofClaim: name, pair.0).contains(pair.1)
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
  ) throws(SQLiteError) -> [Place] {
    var found: Set<Place> = []
    var roots: Set<PartitionRules.Root> = []
    for (entity, rule) in zip(rules.package.entities, rules.rules)
    where entity.group == group && roots.insert(rule.root).inserted {
      if rule.root.columns.contains(where: { $0.source == .open }) {
        for place in try directory.places(group: group, rule: rule.root.rule) where include(place) {
          found.insert(place)
        }
        continue
      }
      for values in product(rule.root, limit: limit) {
        let text = values.isEmpty ? "" : Key(values).text
        found.insert(Place(group: group, rule: rule.root.rule, values: text))
        if found.count > limit { break }
      }
    }
    return found.sorted { ($0.rule, $0.values) < ($1.rule, $1.values) }
  }

  /// Whether the places may change while the claims stay: rules that ask for every value there is.
  func isOpen(in group: String) -> Bool {
    zip(rules.package.entities, rules.rules).contains { entity, rule in
      entity.group == group && rule.root.columns.contains { $0.source == .open }
    }
  }

  private func product(_ root: PartitionRules.Root, limit: Int) -> [[Value]] {
    var rows: [[Value]] = [[]]
    for (column, type) in zip(root.columns, root.types) {
      guard case .claim(let name) = column.source else { return [] }
      let values = values(ofClaim: name, type)
      var longer: [[Value]] = []
      for row in rows where longer.count <= limit { longer += values.map { row + [$0] } }
      rows = longer
    }
    return rows
  }

  private func values(ofClaim name: String, _ type: AttributeType) -> [Value] {
    let texts = name == "user" ? [user] : claims[name] ?? []
    var values: [Value] = []
    for text in texts {
      guard let value = ClaimText.value(text, of: type), !values.contains(value) else { continue }
      values.append(value)
    }
    return values
  }

  private func values(of place: Place, _ root: PartitionRules.Root) -> [Value]? {
    guard !root.columns.isEmpty else { return [] }
    return try? RowCoder.decode(Array("[\(place.values)]".utf8), types: root.types)
  }
}
