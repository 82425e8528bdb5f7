/// What a service says of its types and sets, from `$metadata` of any version.
///
/// A value: types name each other and are looked up here, so that nothing can go in circles.
public struct EdmMetadata: Sendable {
  /// From the namespaces and `DataServiceVersion`; V2 where neither decides.
  public var version: ODataVersion
  /// The `Version` of the `edmx:Edmx` element, or `$Version`.
  public let edmxVersion: String
  /// In the order of the document.
  public let schemas: [EdmSchema]
  /// Other documents that this one names; none of them is fetched.
  public let references: [EdmReference]
  /// What is not as it should be; empty for a sound document.
  public internal(set) var diagnostics: [ODataDiagnostic]
  private let index: EdmIndex

  init(
    version: ODataVersion, edmxVersion: String, schemas: [EdmSchema], references: [EdmReference],
    diagnostics: [ODataDiagnostic] = []
  ) {
    self.version = version
    self.edmxVersion = edmxVersion
    self.schemas = schemas
    self.references = references
    self.diagnostics = diagnostics
    index = EdmIndex(schemas)
  }

  /// Makes metadata in code, for a service or a test.
  public init(version: ODataVersion, schemas: [EdmSchema], references: [EdmReference] = []) {
    self.init(
      version: version, edmxVersion: version == .v4 ? "4.0" : "1.0", schemas: schemas,
      references: references, diagnostics: [])
  }

  /// An entity or complex type by qualified name (or with a schema's alias).
  public func structuredType(_ name: String) -> EdmStructuredType? {
    index.place(resolve(name)).map { index.types[$0] }
  }

  /// An entity type by qualified name, or with a schema's alias.
  public func entityType(_ name: String) -> EdmStructuredType? {
    structuredType(name).flatMap { $0.kind == .entity ? $0 : nil }
  }

  /// A complex type by qualified name, or with a schema's alias.
  public func complexType(_ name: String) -> EdmStructuredType? {
    structuredType(name).flatMap { $0.kind == .complex ? $0 : nil }
  }

  /// An enumeration by qualified name, or with a schema's alias.
  public func enumType(_ name: String) -> EdmEnumType? { index.enums[resolve(name)] }
  /// A type definition by qualified name, or with a schema's alias.
  public func typeDefinition(_ name: String) -> EdmTypeDefinition? {
    index.definitions[resolve(name)]
  }
  /// An association of V1 to V3 by qualified name, or with a schema's alias.
  public func association(_ name: String) -> EdmAssociation? { index.associations[resolve(name)] }
  /// A term that one of these schemas declares.
  public func term(_ name: String) -> EdmTerm? {
    let name = resolve(name)
    return schemas.lazy.flatMap(\.terms).first { $0.qualifiedName == name }
  }

  /// All overloads of a function or action.
  public func operations(_ name: String) -> [EdmOperation] {
    index.operations[resolve(name)] ?? []
  }

  /// The name with an alias in front replaced by its namespace.
  public func resolve(_ name: String) -> String { index.resolve(name) }

  /// The primitive type behind a name: itself, or what a type definition or enum stands on.
  public func primitive(_ name: String) -> EdmPrimitive? {
    if let primitive = EdmPrimitive(name: name), name.hasPrefix("Edm.") { return primitive }
    return typeDefinition(name)?.underlyingType.primitive
  }

  /// Base types that one type may have above it; no service has ten.
  static let lineageLimit = 64

  /// The type and its base types, the root first. Ends where a type derives from itself, and after
  /// 64 levels.
  public func lineage(of type: EdmStructuredType) -> [EdmStructuredType] {
    guard let base = type.baseType else { return [type] }
    return index.line(from: resolve(base), below: type.qualifiedName).reversed().map {
      index.types[$0]
    } + [type]
  }

  /// Whether a type is another or derives from it.
  public func isType(_ name: String, derivedFrom base: String) -> Bool {
    guard let type = structuredType(name) else { return resolve(name) == resolve(base) }
    let base = resolve(base)
    return lineage(of: type).contains { $0.qualifiedName == base }
  }

  /// The key, from the type itself or the nearest base type that declares one.
  public func keys(of type: EdmStructuredType) -> [EdmKeyReference] {
    lineage(of: type).last { !$0.keys.isEmpty }?.keys ?? []
  }

  /// Properties of the type and its base types, those of the root first.
  public func properties(of type: EdmStructuredType) -> [EdmProperty] {
    lineage(of: type).flatMap(\.properties)
  }

  /// Navigation properties of the type and its base types.
  public func navigationProperties(of type: EdmStructuredType) -> [EdmNavigationProperty] {
    lineage(of: type).flatMap(\.navigationProperties)
  }

  /// A property by name, that of the most derived type first.
  public func property(_ name: String, of type: EdmStructuredType) -> EdmProperty? {
    lineage(of: type).reversed().lazy.compactMap { level in
      level.properties.first { $0.name == name }
    }.first
  }

  /// A navigation property by name, that of the most derived type first.
  public func navigationProperty(
    _ name: String, of type: EdmStructuredType
  )
    -> EdmNavigationProperty?
  {
    lineage(of: type).reversed().lazy.compactMap { level in
      level.navigationProperties.first { $0.name == name }
    }.first
  }

  /// Whether the type or a base type may have properties that are not declared.
  public func isOpen(_ type: EdmStructuredType) -> Bool {
    lineage(of: type).contains(where: \.isOpen)
  }

  /// Whether entities of the type describe a media resource.
  public func hasStream(_ type: EdmStructuredType) -> Bool {
    lineage(of: type).contains(where: \.hasStream)
  }

  /// All containers, the default one first.
  public var containers: [EdmContainer] {
    let all = schemas.flatMap(\.containers)
    return all.filter(\.isDefault) + all.filter { !$0.isDefault }
  }

  /// A container by its name, qualified or not.
  public func container(_ name: String) -> EdmContainer? {
    let name = resolve(name)
    return containers.first { $0.qualifiedName == name || $0.name == name }
  }

  /// The container and those it extends, the root first. Ends where one extends itself.
  public func lineage(of container: EdmContainer) -> [EdmContainer] {
    var line = [container]
    var seen: Set<String> = [container.qualifiedName]
    while line.count < Self.lineageLimit, let base = line[0].extends,
      let next = self.container(base),
      seen.insert(next.qualifiedName).inserted
    {
      line.insert(next, at: 0)
    }
    return line
  }

  /// An entity set by its name, or by `Container.Name` or `NS.Container/Name`.
  public func entitySet(_ name: String) -> EdmEntitySet? {
    if let found = index.sets[name] { return found }
    guard let last = name.split(whereSeparator: { $0 == "/" || $0 == "." }).last else { return nil }
    return index.sets[String(last)]
  }

  /// A singleton of any container.
  public func singleton(_ name: String) -> EdmSingleton? {
    containers.lazy.flatMap(\.singletons).first { $0.name == name }
  }

  /// A function import of any container.
  public func functionImport(_ name: String) -> EdmFunctionImport? {
    containers.lazy.flatMap(\.functionImports).first { $0.name == name }
  }

  /// An action import of any container.
  public func actionImport(_ name: String) -> EdmActionImport? {
    containers.lazy.flatMap(\.actionImports).first { $0.name == name }
  }

  /// Those of all containers, in the order of the document.
  public var entitySets: [EdmEntitySet] { containers.flatMap(\.entitySets) }

  /// The set that a navigation property of a set leads to, from bindings or association sets.
  public func target(of navigation: String, from set: EdmEntitySet) -> EdmEntitySet? {
    if let binding = set.bindings.first(where: {
      $0.path == navigation || $0.path.hasSuffix("/" + navigation)
    }) {
      return entitySet(binding.target)
    }
    guard let type = entityType(set.entityType),
      let property = navigationProperty(navigation, of: type),
      let relationship = property.relationship, let toRole = property.toRole
    else { return nil }
    for joint in containers.flatMap(\.associationSets) where joint.association == relationship {
      let mine = joint.ends.contains { $0.role == property.fromRole && $0.entitySet == set.name }
      if mine, let end = joint.ends.first(where: { $0.role == toRole }) {
        return entitySet(end.entitySet)
      }
    }
    return nil
  }

  /// Annotations of a target such as `NS.Type/Property` or `NS.Container/Set`, inline ones first.
  public func annotations(of target: String) -> [EdmAnnotation] {
    inlineAnnotations(of: target) + (index.targeted[resolve(target)] ?? [])
  }

  private func inlineAnnotations(of target: String) -> [EdmAnnotation] {
    let parts = resolve(target).split(separator: "/").map(String.init)
    guard let first = parts.first else { return [] }
    if parts.count == 1 {
      return structuredType(first)?.annotations ?? enumType(first)?.annotations
        ?? typeDefinition(first)?.annotations
        ?? containers.first { $0.qualifiedName == first }?.annotations ?? []
    }
    if let type = structuredType(first), parts.count == 2 {
      return type.properties.first { $0.name == parts[1] }?.annotations
        ?? type.navigationProperties.first { $0.name == parts[1] }?.annotations ?? []
    }
    if let container = containers.first(where: { $0.qualifiedName == first }), parts.count == 2 {
      return container.entitySets.first { $0.name == parts[1] }?.annotations
        ?? container.singletons.first { $0.name == parts[1] }?.annotations
        ?? container.functionImports.first { $0.name == parts[1] }?.annotations
        ?? container.actionImports.first { $0.name == parts[1] }?.annotations ?? []
    }
    return enumType(first)?.members.first { $0.name == parts[1] }?.annotations ?? []
  }
}

/// The dictionaries behind the look-ups.
final class EdmIndex: Sendable {
  let types: [EdmStructuredType]
  private let places: [String: Int]
  /// Of each type the place of its base type; -1 where there is none.
  private let bases: [Int]
  let operations: [String: [EdmOperation]]
  let enums: [String: EdmEnumType]
  let definitions: [String: EdmTypeDefinition]
  let associations: [String: EdmAssociation]
  let sets: [String: EdmEntitySet]
  let targeted: [String: [EdmAnnotation]]
  private let aliases: [String: String]

  init(_ schemas: [EdmSchema]) {
    var types: [EdmStructuredType] = []
    var places: [String: Int] = [:]
    var operations: [String: [EdmOperation]] = [:]
    var enums: [String: EdmEnumType] = [:]
    var definitions: [String: EdmTypeDefinition] = [:]
    var associations: [String: EdmAssociation] = [:]
    var sets: [String: EdmEntitySet] = [:]
    var targeted: [String: [EdmAnnotation]] = [:]
    var aliases: [String: String] = [:]
    for schema in schemas {
      if let alias = schema.alias { aliases[alias] = schema.namespace }
      for type in schema.entityTypes + schema.complexTypes
      where places[type.qualifiedName] == nil {
        places[type.qualifiedName] = types.count
        types.append(type)
      }
      for operation in schema.functions + schema.actions {
        operations[operation.qualifiedName, default: []].append(operation)
      }
      for type in schema.enumTypes { enums[type.qualifiedName] = type }
      for type in schema.typeDefinitions { definitions[type.qualifiedName] = type }
      for association in schema.associations {
        associations[association.qualifiedName] = association
      }
      for container in schema.containers {
        for set in container.entitySets { sets[set.name] = sets[set.name] ?? set }
      }
      for target in schema.targetedAnnotations {
        targeted[target.target, default: []] += target.annotations.map { annotation in
          var annotation = annotation
          annotation.qualifier = annotation.qualifier ?? target.qualifier
          return annotation
        }
      }
    }
    self.types = types
    self.places = places
    self.operations = operations
    bases = types.map { type in
      type.baseType.flatMap { places[EdmNames.resolve($0, aliases)] } ?? -1
    }
    self.enums = enums
    self.definitions = definitions
    self.associations = associations
    self.sets = sets
    self.targeted = targeted
    self.aliases = aliases
  }

  func resolve(_ name: String) -> String { EdmNames.resolve(name, aliases) }

  func place(_ name: String) -> Int? { places[name] }

  /// The places of a base type and those above it, from below; ends where one comes again, and
  /// before a type would have more than 64 levels.
  func line(from base: String, below own: String) -> [Int] {
    guard var current = places[base] else { return [] }
    let start = places[own] ?? -2
    var line: [Int] = []
    while current >= 0, current != start, line.count < EdmMetadata.lineageLimit - 1,
      !line.contains(current)
    {
      line.append(current)
      current = bases[current]
    }
    return line
  }
}

/// How names with an alias become names with a namespace.
enum EdmNames {
  /// What the specification keeps for itself: neither an alias nor a namespace.
  static let reserved: Set<String> = ["Edm", "odata", "System", "Transient"]

  static func resolve(_ name: String, _ aliases: [String: String]) -> String {
    guard !aliases.isEmpty, !name.hasPrefix("Edm.") else { return name }
    let first = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let head = first.first, let dot = head.lastIndex(of: "."),
      let namespace = aliases[String(head[..<dot])], !reserved.contains(String(head[..<dot]))
    else { return name }
    let rest = first.count > 1 ? "/" + first[1] : ""
    return namespace + head[dot...] + rest
  }

  static func namespace(of name: String) -> String? {
    name.lastIndex(of: ".").map { String(name[..<$0]) }
  }

  /// `Name` of `NS.Name`.
  static func last(_ name: String) -> String {
    name.split(separator: ".").last.map(String.init) ?? name
  }

  /// What the specification calls a simple identifier: a letter or underscore, then letters,
  /// digits, marks; at most 128.
  static func isIdentifier(_ name: String) -> Bool {
    if name.utf8.count <= 128, let first = name.utf8.first, first > 0x39,
      name.utf8.allSatisfy({ byte in
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_")
      })
    {
      return true
    }
    guard let first = name.unicodeScalars.first, name.unicodeScalars.count <= 480 else {
      return false
    }
    guard first == "_" || first.properties.isXIDStart else { return false }
    return name.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
  }
}
