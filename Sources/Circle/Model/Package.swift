/// The model of one application's business data: entities, how they hang together, who gets what.
///
/// `name:version` names it on the wire and in the stores. Two packages that differ in either share
/// nothing.
public struct Package: Sendable, Hashable {
  public let name: String
  /// `major.minor`.
  public let version: String
  /// In the order of the model; names are unique.
  public let entities: [Entity]
  /// The units of one checkpoint; each entity is in exactly one.
  public let groups: [SynchronizationGroup]
  /// The values of several parts that attributes can have.
  public let complexTypes: [ComplexType]
  /// What partition rules name as `parameter:…`; names are unique.
  public let parameters: [Parameter]
  private let positions: [String: Int]

  public init(
    name: String, version: String, entities: [Entity], groups: [SynchronizationGroup],
    complexTypes: [ComplexType] = [], parameters: [Parameter] = []
  ) {
    self.name = name
    self.version = version
    self.entities = entities
    self.groups = groups
    self.complexTypes = complexTypes
    self.parameters = parameters
    var positions: [String: Int] = [:]
    for (position, entity) in entities.enumerated() { positions[entity.name] = position }
    self.positions = positions
  }

  public var id: String { "\(name):\(version)" }

  public func entity(named name: String) -> Entity? { positions[name].map { entities[$0] } }

  /// The package without what only devices have, as servers and business systems know it and as it
  /// travels.
  public var served: Package {
    guard entities.contains(where: { $0.isClientOnly || $0.servedCount < $0.attributes.count })
    else { return self }
    return Package(
      name: name, version: version, entities: entities.filter { !$0.isClientOnly }.map(\.served),
      groups: groups, complexTypes: complexTypes, parameters: parameters)
  }

  /// Every role that an entity names, each once, in the order of the model.
  public var roles: [String] {
    var seen: Set<ExactText> = []
    return entities.flatMap(\.roles.all).filter { seen.insert(ExactText($0)).inserted }
  }

  /// The parameter of this name, whatever its kind; nil where there is none.
  public func parameter(named name: String) -> Parameter? {
    parameters.first { $0.name == name }
  }

  /// The value of a parameter in one subscription; null where nothing gives one.
  ///
  /// The first of these counts: what was chosen in the set, the user's value of the key that the
  /// parameter is taken from, the default of that key, the default of the parameter. `chosen`: the set
  /// and all personalization keys by name, as plain text. A text of another type counts as none.
  public func value(ofParameter name: String, chosen: [String: String]) -> AttributeValue {
    guard let parameter = parameter(named: name) else { return .null }
    if let value = chosen[name].flatMap({ parameter.type.value(plainText: $0) }), !value.isNull {
      return value
    }
    if let key = parameter.from.flatMap({ self.parameter(named: $0) }), key.from == nil {
      let value = value(ofParameter: key.name, chosen: chosen)
      if !value.isNull { return value }
    }
    return parameter.defaultValue
  }

  /// The synchronization group that brings the rows of this entity.
  public func group(of entity: Entity) -> SynchronizationGroup? {
    groups.first { $0.name == entity.group }
  }

  /// The entities of a group, in the order of the model.
  public func entities(in group: SynchronizationGroup) -> [Entity] {
    entities.filter { $0.group == group.name }
  }
}

/// Entities that are imported together: the app sees them at one checkpoint.
public struct SynchronizationGroup: Sendable, Hashable {
  public let name: String

  public init(name: String) { self.name = name }
}
