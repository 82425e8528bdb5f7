import FerryCachePolicies
import FerryConnector
import FerryJSON
import FerryModel

/// Where a row belongs: a combination of values of one rule in one synchronization group.
package struct Place: Hashable, Sendable {
  package let group: ExactText
  /// The sources of the root rule's columns; empty for everyone's.
  package let rule: ExactText
  /// The columns' values in canonical text.
  package let values: ExactText

  package init(group: ExactText, rule: ExactText, values: ExactText) {
    self.group = group
    self.rule = rule
    self.values = values
  }

  package init(group: String, rule: String, values: String) {
    self.init(group: ExactText(group), rule: ExactText(rule), values: ExactText(values))
  }
}

/// The partition rules of a package, followed to their roots.
package struct PartitionRules: Sendable {
  enum Path: Sendable {
    case everyone
    /// Positions of the row's own attributes.
    case columns([Int])
    case parent(ParentPath)
  }

  /// How a row finds the object that its partition comes from.
  struct ParentPath: Sendable {
    /// Position of the parent's entity in the package.
    let target: Int
    /// Positions in the child, in the order of `targetPositions`.
    let attributes: [Int]
    let targetPositions: [Int]
    let targetTypes: [AttributeType]
    /// Whether the target's primary key is meant; otherwise other attributes that are unique.
    let isKey: Bool

    /// The names under which other unique attributes are looked up.
    var name: String { targetPositions.map(String.init).joined(separator: ",") }

    /// What the child calls its parent; nil where an attribute is null.
    func parentKey(of values: [AttributeValue]) -> ObjectKey? {
      parentValues(of: values).map { ObjectKey($0) }
    }

    /// The values of `targetPositions` that it asks for; nil where an attribute is null.
    func parentValues(of values: [AttributeValue]) -> [AttributeValue]? {
      var found: [AttributeValue] = []
      for (position, type) in zip(attributes, targetTypes) {
        guard let value = type.canonical(values[position]), !value.isNull else { return nil }
        found.append(value)
      }
      return found
    }

    /// What children call this parent; nil where an attribute is null.
    func name(of parent: [AttributeValue]) -> ObjectKey? {
      let found = targetPositions.map { parent[$0] }
      return found.contains { $0.isNull } ? nil : ObjectKey(found)
    }
  }

  /// An object that a row refers to, which users may only name where it is among theirs.
  struct Reference: Sendable {
    let relationship: Relationship
    let path: ParentPath
  }

  struct Root: Hashable, Sendable {
    let rule: String
    let columns: [PartitionColumn]
    let types: [AttributeType]
    /// Users with one of these roles have the rows; nil: the entity takes no role to be read.
    var readers: [ExactText]?

    /// The rows of an entity that not everybody may read have partitions of their own, so that a role
    /// brings and takes away nothing else. No rule without roles has a name that begins like this.
    func limited(to roles: [String]?) -> Root {
      guard let roles else { return self }
      let readers = Set(roles.map { ExactText($0) }).sorted()
      var writer = JSONWriter()
      writer.array(readers) { $0.string($1.text) }
      return Root(
        rule: "roles:\(writer.text) \(rule)", columns: columns, types: types, readers: readers)
    }
  }

  struct Rule: Sendable {
    let path: Path
    let root: Root
  }

  let package: Package
  /// In the order of the package's entities.
  let rules: [Rule]
  /// Positions of the entities that find their partition through this one.
  let children: [[Int]]
  /// For each entity, the references to objects that are not everybody's.
  let references: [[Reference]]
  /// Which connection has the rows of which entity.
  package let connections: PackageConnections
  package internal(set) var windows: PartitionWindows
  /// The entities whose rows a window may take from everybody, their own or that of a parent.
  let limited: Set<Int>
  private let positions: [String: Int]

  /// `zone`: the time zone of a name; nil where there is none.
  package init(
    _ package: Package, zone: (String) -> ZoneClock? = { $0 == "UTC" ? .utc : nil }
  ) throws(ServerError) {
    self.package = package
    let windows = try PartitionWindows(package, zone: zone)
    self.windows = windows
    connections = PackageConnections(package)
    var positions: [String: Int] = [:]
    for (position, entity) in package.entities.enumerated() { positions[entity.name] = position }
    self.positions = positions
    var rules: [Rule] = []
    var children = [[Int]](repeating: [], count: package.entities.count)
    for (position, entity) in package.entities.enumerated() {
      let root = try PartitionRules.root(of: entity, in: package, limit: package.entities.count)
        .limited(to: entity.roles[.read])
      let path = try PartitionRules.path(of: entity, in: package, positions)
      if case .parent(let parent) = path { children[parent.target].append(position) }
      rules.append(Rule(path: path, root: root))
    }
    self.rules = rules
    self.children = children
    let limited = PartitionRules.limited(rules, windows)
    self.limited = limited
    references = try package.entities.map { entity throws(ServerError) in
      var found: [Reference] = []
      for relationship in entity.relationships
      where !relationship.allowsAnyTarget
        || entity.partition == .through(relationship: relationship.name)
      {
        guard let target = positions[relationship.target] else { continue }
        let root = rules[target].root
        let isOpen = root.readers == nil && root.columns.allSatisfy { $0.source == .open }
        if isOpen, !limited.contains(target) { continue }
        let path = try PartitionRules.path(of: relationship, from: entity, in: package, target)
        found.append(Reference(relationship: relationship, path: path))
      }
      return found
    }
  }

  func position(of entity: String) -> Int? { positions[entity] }

  /// Parents before their children: a row whose parent is there knows its place at once.
  var loadOrder: [Entity] {
    var depth = [Int](repeating: 0, count: rules.count)
    for entity in rules.indices {
      var next = entity
      while case .parent(let path) = rules[next].path {
        depth[entity] += 1
        next = path.target
      }
    }
    return rules.indices.sorted { (depth[$0], $0) < (depth[$1], $1) }.map { package.entities[$0] }
  }

  /// Whether every row of the entity is everybody's, wherever it stands.
  func isForEveryone(_ entity: Int) -> Bool {
    if windows.windows[entity] != nil { return false }
    if case .parent = rules[entity].path { return false }
    return rules[entity].root.columns.allSatisfy { $0.source == .open }
  }

  /// Whether its rows are judged in the business transaction: not every row is everybody's.
  func isJudged(_ entity: Entity) -> Bool {
    guard !entity.isOperation, let position = positions[entity.name] else { return false }
    return !isForEveryone(position) || !entity.roles.isEmpty || !references[position].isEmpty
  }

  /// The place of a row, by the parents that `lookup` finds; nil: nobody's.
  func place(
    of entity: Int, values: [AttributeValue], lookup: RowJudge.Lookup
  ) throws(ConnectorError) -> Place? {
    guard windows.include(entity, values) else { return nil }
    let group = package.entities[entity].group
    switch rules[entity].path {
    case .everyone: return Place(group: group, rule: rules[entity].root.rule, values: "")
    case .columns(let positions):
      let found = positions.map { values[$0] }
      if found.contains(where: \.isNull) { return nil }
      return Place(group: group, rule: rules[entity].root.rule, values: ObjectKey(found).text)
    case .parent(let path):
      guard let called = path.parentValues(of: values),
        let parent = try lookup(package.entities[path.target], path.targetPositions, called),
        let place = try place(of: path.target, values: parent, lookup: lookup)
      else { return nil }
      return self.place(of: entity, at: place)
    }
  }

  /// The place of a row, by the place of its parent; nil: nobody's. `isWindowed`: whether a row of a
  /// day that is not in its window is nobody's.
  func place(
    of entity: Int, values: [AttributeValue],
    isWindowed: Bool = true, parentPlace: (ParentName) throws(StoreError) -> Place?
  ) throws(StoreError) -> Place? {
    guard !isWindowed || windows.include(entity, values) else { return nil }
    let group = package.entities[entity].group
    switch rules[entity].path {
    case .everyone: return Place(group: group, rule: rules[entity].root.rule, values: "")
    case .columns(let positions):
      let found = positions.map { values[$0] }
      if found.contains(where: \.isNull) { return nil }
      return Place(group: group, rule: rules[entity].root.rule, values: ObjectKey(found).text)
    case .parent(let path):
      guard let key = path.parentKey(of: values) else { return nil }
      let name = ParentName(path.target, attributes: path.isKey ? nil : path.name, key)
      return try parentPlace(name).map { place(of: entity, at: $0) }
    }
  }

  /// How a row calls the one from which it has its partition; nil where it has it from no other.
  func parentKey(of entity: Int, _ values: [AttributeValue]) -> ObjectKey? {
    guard case .parent(let path) = rules[entity].path else { return nil }
    return path.parentKey(of: values)
  }

  /// The place of a row whose parent is at `parent`.
  func place(of entity: Int, at parent: Place) -> Place {
    Place(
      group: ExactText(package.entities[entity].group), rule: ExactText(rules[entity].root.rule),
      values: parent.values)
  }

  private static func limited(_ rules: [Rule], _ windows: PartitionWindows) -> Set<Int> {
    Set(
      rules.indices.filter { entity in
        var next = entity
        while windows.windows[next] == nil {
          guard case .parent(let path) = rules[next].path else { return false }
          next = path.target
        }
        return true
      })
  }

  private static func root(
    of entity: Entity, in package: Package, limit: Int
  ) throws(ServerError)
    -> Root
  {
    guard limit >= 0 else {
      throw ServerError(
        .badModel, "the partition rule of \(entity.name) leads back to itself",
        hint: "Give one entity of the circle a rule with columns; `ferry check` shows the circle.")
    }
    switch entity.partition {
    case nil: return Root(rule: "", columns: [], types: [])
    case .columns(let columns):
      var types: [AttributeType] = []
      var names: [String] = []
      for column in columns {
        guard let position = entity.position(of: column.attribute) else {
          throw missing(column.attribute, of: entity)
        }
        types.append(entity.attributes[position].type)
        names.append(column.source == .open ? "open:\(column.attribute)" : column.source.text)
      }
      return Root(rule: names.joined(separator: ","), columns: columns, types: types)
    case .through(let name):
      guard
        let target = entity.relationship(named: name).flatMap({ package.entity(named: $0.target) })
      else { throw missing(name, of: entity) }
      return try root(of: target, in: package, limit: limit - 1)
    }
  }

  private static func path(
    of entity: Entity, in package: Package, _ positions: [String: Int]
  )
    throws(ServerError) -> Path
  {
    switch entity.partition {
    case nil: return .everyone
    case .columns(let columns):
      return .columns(columns.compactMap { entity.position(of: $0.attribute) })
    case .through(let name):
      guard let relationship = entity.relationship(named: name),
        let position = positions[relationship.target]
      else { throw missing(name, of: entity) }
      return .parent(try self.path(of: relationship, from: entity, in: package, position))
    }
  }

  private static func path(
    of relationship: Relationship, from entity: Entity, in package: Package, _ position: Int
  ) throws(ServerError) -> ParentPath {
    let target = package.entities[position]
    var pairs: [(target: Int, own: Int)] = []
    for (own, other) in zip(relationship.attributes, relationship.targetAttributes) {
      guard let ownPosition = entity.position(of: own), let position = target.position(of: other)
      else { throw missing(own, of: entity) }
      pairs.append((position, ownPosition))
    }
    let isKey = Set(pairs.map(\.target)) == Set(target.key) && pairs.count == target.key.count
    if isKey {
      pairs = target.key.compactMap { key in pairs.first { $0.target == key } }
    }
    return ParentPath(
      target: position, attributes: pairs.map(\.own), targetPositions: pairs.map(\.target),
      targetTypes: pairs.map { target.attributes[$0.target].type }, isKey: isKey)
  }

  private static func missing(_ name: String, of entity: Entity) -> ServerError {
    ServerError(
      .badModel, "the partition rule of \(entity.name) names \(name), which does not exist",
      hint: "Correct the model; `ferry check` shows the place.")
  }
}
