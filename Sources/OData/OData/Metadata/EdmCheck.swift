/// Looks for names that lead nowhere or in circles, and for parts that cannot work.
struct EdmCheck {
  let metadata: EdmMetadata
  private(set) var diagnostics: EdmDiagnostics
  private let locate: ([String]) -> ODataPlace
  private let included: Set<String>

  init(
    _ metadata: EdmMetadata, _ diagnostics: EdmDiagnostics,
    locate: @escaping ([String]) -> ODataPlace
  ) {
    self.metadata = metadata
    self.diagnostics = diagnostics
    self.locate = locate
    included = Set(metadata.references.flatMap(\.includes).map(\.namespace))
  }

  mutating func report(_ message: String, _ path: [String], _ consequence: String) {
    let locate = locate
    diagnostics.add(message, locate(path), consequence)
  }

  /// A name of another document that a Reference includes cannot be judged here.
  func isElsewhere(_ name: String) -> Bool {
    EdmNames.namespace(of: name).map { included.contains($0) } ?? false
  }

  func isKnown(_ name: String) -> Bool {
    (name.hasPrefix("Edm.") && EdmPrimitive(name: name) != nil) || Self.abstract.contains(name)
      || metadata.structuredType(name) != nil || metadata.enumType(name) != nil
      || metadata.typeDefinition(name) != nil || isElsewhere(name)
  }

  private static let abstract: Set<String> = [
    "Edm.EntityType", "Edm.ComplexType", "Edm.PrimitiveType", "Edm.Untyped", "Edm.PropertyPath",
    "Edm.NavigationPropertyPath", "Edm.AnnotationPath", "Edm.AnyPropertyPath",
    "Edm.ModelElementPath",
  ]

  mutating func run() {
    var names: Set<String> = []
    defaultContainer()
    endlessTypes()
    for schema in metadata.schemas {
      alias(schema.alias, of: schema.namespace)
      let declared =
        (schema.entityTypes + schema.complexTypes).map(\.qualifiedName)
        + schema.enumTypes.map(\.qualifiedName) + schema.typeDefinitions.map(\.qualifiedName)
      for name in declared {
        identifier(EdmNames.last(name), [name])
        if !names.insert(name).inserted {
          report("\(name) is declared twice", [name], "the first declaration is used")
        }
      }
      for type in schema.entityTypes + schema.complexTypes { structured(type) }
      for association in schema.associations { self.association(association) }
      for operation in schema.functions + schema.actions { self.operation(operation) }
      for container in schema.containers { self.container(container) }
      for target in schema.targetedAnnotations { self.target(target, schema) }
      for type in schema.enumTypes {
        var members: Set<String> = []
        for member in type.members where !members.insert(member.name).inserted {
          report(
            "the member \(member.name) is declared twice", [type.qualifiedName, member.name],
            "both are kept")
        }
      }
    }
  }

  private mutating func identifier(_ name: String, _ path: @autoclosure () -> [String]) {
    if !EdmNames.isIdentifier(name) {
      report("\"\(name)\" is not an identifier", path(), "it is kept as it is")
    }
  }

  private mutating func structured(_ type: EdmStructuredType) {
    let name = type.qualifiedName
    let line = metadata.lineage(of: type)
    if let base = type.baseType {
      if let found = metadata.structuredType(base) {
        if found.kind != type.kind {
          report("the base type \(base) is of another kind", [name], "its properties are inherited")
        }
        if line.count >= EdmMetadata.lineageLimit {
          report("\(name) has too many base types", [name], "those above are not read")
        } else if line[0].baseType.flatMap({ metadata.structuredType($0) }) != nil {
          report("\(name) derives from itself", [name], "the circle is cut")
        }
      } else if !isElsewhere(base) {
        report("the base type \(base) is not declared", [name], "nothing is inherited")
      }
    }
    var seen: Set<String> = []
    for level in line.dropLast() {
      for property in level.properties { seen.insert(property.name) }
      for property in level.navigationProperties { seen.insert(property.name) }
    }
    for property in type.properties {
      identifier(property.name, [name, property.name])
      if !seen.insert(property.name).inserted {
        report(
          "the property \(property.name) is declared twice", [name, property.name],
          "the last declaration of the most derived type is used")
      }
      if !isKnown(property.type.name) {
        report(
          "the type \(property.type.name) is not declared", [name, property.name],
          "values are read as strings")
      }
    }
    for property in type.navigationProperties {
      identifier(property.name, [name, property.name])
      if !seen.insert(property.name).inserted {
        report(
          "the property \(property.name) is declared twice", [name, property.name],
          "the last declaration of the most derived type is used")
      }
      navigation(property, name)
    }
    for key in type.keys {
      let path = key.name.split(separator: "/").map(String.init)
      guard let first = path.first, let property = metadata.property(first, of: type) else {
        if path.count > 1, let first = path.first,
          metadata.navigationProperty(first, of: type) != nil
        {
          continue
        }
        report("the key property \(key.name) is not declared", [name], "it stays part of the key")
        continue
      }
      if path.count == 1, metadata.structuredType(property.type.name) != nil {
        report("the key property \(key.name) is not primitive", [name], "it stays part of the key")
      }
    }
  }

  private mutating func navigation(_ property: EdmNavigationProperty, _ owner: String) {
    let path = [owner, property.name]
    if let relationship = property.relationship {
      guard let association = metadata.association(relationship) else {
        if !isElsewhere(relationship) {
          report(
            "the association \(relationship) is not declared", path,
            "the navigation property leads nowhere")
        }
        return
      }
      for role in [property.fromRole, property.toRole] {
        guard let role, association.ends.contains(where: { $0.role == role }) else {
          report(
            "the role \(role ?? "(none)") is not one of \(relationship)", path,
            "the navigation property leads nowhere")
          return
        }
      }
    } else if property.type == nil {
      report("the navigation property has no type", path, "it leads nowhere")
    }
    if let type = property.type, metadata.structuredType(type.name) == nil,
      type.name != "Edm.EntityType", !isElsewhere(type.name)
    {
      report("the type \(type.name) is not declared", path, "the navigation property leads nowhere")
    }
  }

  private mutating func association(_ association: EdmAssociation) {
    let name = association.qualifiedName
    if association.ends.count != 2 {
      report("the association has \(association.ends.count) ends", [name], "it is kept as it is")
    }
    for end in association.ends {
      if metadata.entityType(end.type) == nil, !isElsewhere(end.type) {
        report("the type \(end.type) is not declared", [name], "the end leads nowhere")
      }
      if !["0..1", "1", "*"].contains(end.multiplicity) {
        report(
          "the multiplicity \"\(end.multiplicity)\" is not one of 0..1, 1 and *", [name],
          "one entity is assumed")
      }
    }
  }

  private mutating func operation(_ operation: EdmOperation) {
    let types = operation.parameters.map(\.type) + (operation.returnType.map { [$0.type] } ?? [])
    for type in types where !isKnown(type.name) {
      report(
        "the type \(type.name) is not declared", [operation.qualifiedName],
        "values are read as strings")
    }
    parameters(operation.parameters, [operation.qualifiedName])
    if operation.isBound, operation.parameters.isEmpty {
      report("a bound operation has no parameter", [operation.qualifiedName], "it is kept")
    }
    if operation.isFunction, operation.returnType == nil {
      report("the function returns nothing", [operation.qualifiedName], "it is kept")
    }
  }

  private mutating func container(_ container: EdmContainer) {
    let name = container.qualifiedName
    if let base = container.extends {
      let line = metadata.lineage(of: container)
      if metadata.container(base) == nil {
        if !isElsewhere(base) {
          report("the container \(base) is not declared", [name], "nothing is inherited")
        }
      } else if line[0].extends.flatMap({ metadata.container($0) }) != nil {
        report("\(name) extends itself", [name], "the circle is cut")
      }
    }
    var seen: Set<String> = []
    let members =
      container.entitySets.map(\.name) + container.singletons.map(\.name)
      + container.actionImports.map(\.name)
    for member in members where !seen.insert(member).inserted {
      report("\(member) is declared twice", [name, member], "the first declaration is used")
    }
    for set in container.entitySets {
      let path = [name, set.name]
      if let type = metadata.entityType(set.entityType) {
        // A base type in another document may bring the key.
        let root = metadata.lineage(of: type)[0]
        if metadata.keys(of: type).isEmpty, root.baseType == nil {
          report("\(set.entityType) has no key", path, "its entries can be read, not addressed")
        }
      } else if !isElsewhere(set.entityType) {
        report("the entity type \(set.entityType) is not declared", path, "its entries are untyped")
      }
      for binding in set.bindings { self.binding(binding, path) }
    }
    for singleton in container.singletons {
      if metadata.entityType(singleton.type) == nil, !isElsewhere(singleton.type) {
        report(
          "the entity type \(singleton.type) is not declared", [name, singleton.name],
          "the entity is untyped")
      }
      for binding in singleton.bindings { self.binding(binding, [name, singleton.name]) }
    }
    for joint in container.associationSets { associationSet(joint, container) }
    for item in container.functionImports { functionImport(item, container) }
    for item in container.actionImports
    where metadata.operations(item.action).isEmpty && !isElsewhere(item.action) {
      report("the action \(item.action) is not declared", [name, item.name], "it cannot be called")
    }
  }

  private mutating func binding(_ binding: EdmNavigationBinding, _ path: [String]) {
    let first = binding.target.split(separator: "/").first.map(String.init) ?? ""
    let known =
      metadata.entitySet(binding.target) != nil || metadata.singleton(first) != nil
      || metadata.entitySet(first) != nil || metadata.container(first) != nil || isElsewhere(first)
    if !known {
      report(
        "the binding of \(binding.path) leads to \(binding.target), which is not declared", path,
        "the target is unknown")
    }
  }

  private mutating func associationSet(_ joint: EdmAssociationSet, _ container: EdmContainer) {
    let path = [container.qualifiedName, joint.name]
    guard let association = metadata.association(joint.association) else {
      if !isElsewhere(joint.association) {
        report("the association \(joint.association) is not declared", path, "it joins nothing")
      }
      return
    }
    for end in joint.ends {
      // An end may leave out its role where the set tells it.
      if !end.role.isEmpty, !association.ends.contains(where: { $0.role == end.role }) {
        report("the role \(end.role) is not one of \(joint.association)", path, "it joins nothing")
      }
      if metadata.entitySet(end.entitySet) == nil {
        report("the entity set \(end.entitySet) is not declared", path, "it joins nothing")
      }
    }
  }

  private mutating func functionImport(_ item: EdmFunctionImport, _ container: EdmContainer) {
    let path = [container.qualifiedName, item.name]
    if let function = item.function, metadata.operations(function).isEmpty, !isElsewhere(function) {
      report("the function \(function) is not declared", path, "it cannot be called")
    }
    if let type = item.returnType?.type, !isKnown(type.name) {
      report("the return type \(type.name) is not declared", path, "results are untyped")
    }
    serviceFunction(item, path)
    for parameter in item.parameters where !isKnown(parameter.type.name) {
      report(
        "the type \(parameter.type.name) of the parameter \(parameter.name) is not declared", path,
        "it is written as a string")
    }
    if let set = item.entitySet, !set.contains("/"), metadata.entitySet(set) == nil {
      report("the entity set \(set) is not declared", path, "results have no set")
    }
  }

  private mutating func target(_ target: EdmTargetedAnnotations, _ schema: EdmSchema) {
    let parts = target.target.split(separator: "/").map(String.init)
    guard let first = parts.first else { return }
    let head = first.split(separator: "(").first.map(String.init) ?? first
    let known =
      metadata.structuredType(head) != nil || metadata.enumType(head) != nil
      || metadata.typeDefinition(head) != nil || metadata.container(head) != nil
      || !metadata.operations(head).isEmpty || metadata.term(head) != nil
      || metadata.association(head) != nil || isElsewhere(head)
      || metadata.schemas.contains { $0.namespace == head }
    var missing: String? = known ? nil : head
    if missing == nil, parts.count == 2, !parts[1].hasPrefix("@") {
      if let type = metadata.structuredType(head), metadata.property(parts[1], of: type) == nil,
        metadata.navigationProperty(parts[1], of: type) == nil
      {
        missing = target.target
      } else if let container = metadata.container(head) {
        let name = parts[1]
        let isThere = metadata.lineage(of: container).contains { level in
          if level.entitySets.contains(where: { $0.name == name }) { return true }
          if level.singletons.contains(where: { $0.name == name }) { return true }
          if level.functionImports.contains(where: { $0.name == name }) { return true }
          if level.actionImports.contains(where: { $0.name == name }) { return true }
          return level.associationSets.contains { $0.name == name }
        }
        if !isThere { missing = target.target }
      }
    }
    if let missing {
      report(
        "annotations speak of \(missing), which is not declared", [schema.namespace],
        "they are kept under that name")
    }
  }
}
