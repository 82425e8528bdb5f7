import FerryJSON

/// Reads CSDL JSON of V4.01.
package struct EdmJSONReader {
  var diagnostics: EdmDiagnostics
  var aliases: [String: String] = [:]
  private let places: TextPlaces

  static func read(_ bytes: [UInt8], limits: ODataLimits) throws(ODataError) -> EdmMetadata {
    let text = try decoded(bytes)
    let root = try parse(text, limits: limits)
    var reader = EdmJSONReader(
      diagnostics: EdmDiagnostics(limit: limits.diagnostics), text: text)
    return try reader.metadata(root)
  }

  /// The bytes as UTF-8 without a mark.
  package static func decoded(_ bytes: [UInt8]) throws(ODataError) -> [UInt8] {
    var decoding = TextDecoding()
    return try decoding.decode(bytes, isLast: true)
  }

  package static func parse(_ text: [UInt8], limits: ODataLimits) throws(ODataError) -> JSONNode {
    guard text.count <= limits.recordBytes else {
      throw ODataError(.limit, "the document is longer than \(limits.recordBytes) bytes")
    }
    do throws(JSONError) {
      return try JSONNode.parse(
        text, depthLimit: limits.depth, memberLimit: limits.members,
        nodeLimit: limits.recordBytes / 64)
    } catch {
      throw ODataError(json: error, in: text)
    }
  }

  private init(diagnostics: EdmDiagnostics, text: [UInt8]) {
    self.diagnostics = diagnostics
    places = TextPlaces(text)
  }

  func place(_ node: JSONNode, _ path: String) -> ODataPlace {
    let place = places.place(node.offset)
    return ODataPlace(line: place.line, column: place.column, path: path)
  }

  mutating func report(
    _ message: String, _ node: JSONNode, _ path: String, _ consequence: String
  ) {
    let place = place(node, path)
    diagnostics.add(message, place, consequence)
  }

  func resolve(_ name: String) -> String { EdmNames.resolve(name, aliases) }

  mutating func metadata(_ root: JSONNode) throws(ODataError) -> EdmMetadata {
    guard let members = root.object, let version = root["$Version"]?.string else {
      throw ODataError(
        .unexpectedDocument, "the JSON has no $Version, so it is not a CSDL", at: place(root, ""))
    }
    var references: [EdmReference] = []
    for member in root["$Reference"]?.object ?? [] {
      let includes = (member.value["$Include"]?.array ?? []).map {
        EdmReference.Include(
          namespace: $0["$Namespace"]?.string ?? "", alias: $0["$Alias"]?.string)
      }
      references.append(
        EdmReference(
          uri: member.key, includes: includes,
          includedAnnotations: (member.value["$IncludeAnnotations"]?.array ?? []).map {
            $0["$TermNamespace"]?.string ?? ""
          }))
    }
    for include in references.flatMap(\.includes) {
      if let alias = include.alias { aliases[alias] = include.namespace }
    }
    let spaces = members.filter { !$0.key.hasPrefix("$") && !$0.key.hasPrefix("@") }
    for space in spaces {
      if let alias = space.value["$Alias"]?.string { aliases[alias] = space.key }
    }
    let standard = root["$EntityContainer"]?.string.map { resolve($0) }
    var schemas: [EdmSchema] = []
    for space in spaces {
      guard space.value.object != nil else {
        report("the schema \(space.key) is not an object", space.value, space.key, "it is skipped")
        continue
      }
      schemas.append(schema(space.key, space.value, standard: standard))
    }
    var metadata = EdmMetadata(
      version: .v4, edmxVersion: version, schemas: schemas, references: references)
    let places = places
    let lookup = EdmJSONPlaces(root)
    var check = EdmCheck(metadata, diagnostics) { path in
      let place = places.place(lookup.offset(of: path))
      return ODataPlace(
        line: place.line, column: place.column, path: "/" + path.joined(separator: "/"))
    }
    check.run()
    metadata.diagnostics = check.diagnostics.list
    return metadata
  }

  mutating func schema(
    _ space: String, _ node: JSONNode, standard: String?
  ) -> EdmSchema {
    var schema = EdmSchema(namespace: space, alias: node["$Alias"]?.string)
    schema.annotations = annotations(node)
    for target in node["$Annotations"]?.object ?? [] {
      schema.targetedAnnotations.append(
        EdmTargetedAnnotations(
          target: resolve(target.key), qualifier: nil, annotations: annotations(target.value)))
    }
    for member in node.object ?? [] {
      if member.key.hasPrefix("$") || member.key.contains("@") { continue }
      let path = "/\(space)/\(member.key)"
      if let overloads = member.value.array {
        for overload in overloads {
          let isFunction = overload["$Kind"]?.string == "Function"
          let operation = operation(member.key, space, overload, isFunction: isFunction)
          if isFunction {
            schema.functions.append(operation)
          } else {
            schema.actions.append(operation)
          }
        }
        continue
      }
      switch member.value["$Kind"]?.string {
      case "EntityType":
        schema.entityTypes.append(structured(.entity, space, member.key, member.value))
      case "ComplexType":
        schema.complexTypes.append(structured(.complex, space, member.key, member.value))
      case "EnumType": schema.enumTypes.append(enumType(space, member.key, member.value))
      case "TypeDefinition":
        schema.typeDefinitions.append(
          EdmTypeDefinition(
            namespace: space, name: member.key,
            underlyingType: EdmTypeReference(
              member.value["$UnderlyingType"]?.string ?? "Edm.String"),
            facets: facets(member.value), annotations: annotations(member.value)))
      case "Term":
        schema.terms.append(
          EdmTerm(
            namespace: space, name: member.key, type: type(member.value),
            baseTerm: member.value["$BaseTerm"]?.string.map { resolve($0) },
            appliesTo: (member.value["$AppliesTo"]?.array ?? []).compactMap(\.string),
            facets: facets(member.value), annotations: annotations(member.value)))
      case "EntityContainer":
        var container = container(space, member.key, member.value)
        container.isDefault = container.qualifiedName == standard
        schema.containers.append(container)
      default:
        report("\(member.key) is of no known $Kind", member.value, path, "it is skipped")
      }
    }
    return schema
  }

  func type(_ node: JSONNode) -> EdmTypeReference {
    EdmTypeReference(
      resolve(node["$Type"]?.string ?? "Edm.String"),
      isCollection: node["$Collection"]?.boolean ?? false)
  }

  func facets(_ node: JSONNode) -> EdmFacets {
    var facets = EdmFacets()
    facets.isNullable = node["$Nullable"]?.boolean ?? false
    facets.maxLength = node["$MaxLength"]?.integer.flatMap { Int(exactly: $0) }
    facets.precision = node["$Precision"]?.integer.flatMap { Int(exactly: $0) }
    if let scale = node["$Scale"] {
      facets.scale =
        switch scale.string {
        case "variable": .variable
        case "floating": .floating
        default: scale.integer.flatMap { Int(exactly: $0) }.map { .fixed($0) }
        }
    }
    facets.isUnicode = node["$Unicode"]?.boolean
    facets.srid = node["$SRID"]?.string ?? node["$SRID"]?.integer.map { String($0) }
    if let standard = node["$DefaultValue"] {
      facets.defaultValue = scalar(standard)
    }
    return facets
  }

  func scalar(_ node: JSONNode) -> String? {
    switch node.content {
    case .string(let text), .number(let text): text
    case .boolean(let value): value ? "true" : "false"
    default: nil
    }
  }

  mutating func structured(
    _ kind: EdmStructuredType.Kind, _ space: String, _ name: String, _ node: JSONNode
  ) -> EdmStructuredType {
    var type = EdmStructuredType(kind, namespace: space, name: name)
    type.baseType = node["$BaseType"]?.string.map { resolve($0) }
    type.isAbstract = node["$Abstract"]?.boolean ?? false
    type.isOpen = node["$OpenType"]?.boolean ?? false
    type.hasStream = node["$HasStream"]?.boolean ?? false
    for key in node["$Key"]?.array ?? [] {
      if let name = key.string { type.keys.append(EdmKeyReference(name: name)) }
      for member in key.object ?? [] {
        type.keys.append(EdmKeyReference(name: member.value.string ?? "", alias: member.key))
      }
    }
    type.annotations = annotations(node)
    for member in node.object ?? [] {
      if member.key.hasPrefix("$") || member.key.contains("@") { continue }
      guard member.value.object != nil else {
        report(
          "the property \(member.key) is not an object", member.value, "/\(space)/\(name)",
          "it is skipped")
        continue
      }
      let reference = self.type(member.value)
      if member.value["$Kind"]?.string == "NavigationProperty" {
        var property = EdmNavigationProperty(member.key, reference)
        property.isNullable = member.value["$Nullable"]?.boolean ?? false
        property.partner = member.value["$Partner"]?.string
        property.containsTarget = member.value["$ContainsTarget"]?.boolean ?? false
        property.onDelete = member.value["$OnDelete"]?.string
        for constraint in member.value["$ReferentialConstraint"]?.object ?? [] {
          if constraint.key.contains("@") { continue }
          property.constraints.append(
            EdmReferentialConstraint(
              property: constraint.key, referencedProperty: constraint.value.string ?? ""))
        }
        property.annotations = annotations(member.value)
        type.navigationProperties.append(property)
      } else {
        var property = EdmProperty(member.key, reference, facets: facets(member.value))
        property.annotations = annotations(member.value)
        type.properties.append(property)
      }
    }
    return type
  }

  mutating func enumType(_ space: String, _ name: String, _ node: JSONNode) -> EdmEnumType {
    var type = EdmEnumType(
      namespace: space, name: name,
      underlyingType: node["$UnderlyingType"]?.string.flatMap { EdmPrimitive(name: $0) } ?? .int32,
      isFlags: node["$IsFlags"]?.boolean ?? false, members: [], annotations: annotations(node))
    let groups = annotated(node.object ?? [])
    for member in node.object ?? [] {
      if member.key.hasPrefix("$") || member.key.contains("@") { continue }
      guard let value = member.value.integer else {
        report(
          "the member \(member.key) has no integer", member.value, "/\(space)/\(name)",
          "it is skipped")
        continue
      }
      let own = annotations(in: groups[member.key] ?? [], of: member.key)
      type.members.append(.init(name: member.key, value: value, annotations: own))
    }
    return type
  }

  mutating func operation(
    _ name: String, _ space: String, _ node: JSONNode, isFunction: Bool
  ) -> EdmOperation {
    var operation = EdmOperation(
      isFunction: isFunction, namespace: space, name: name,
      isBound: node["$IsBound"]?.boolean ?? false,
      isComposable: node["$IsComposable"]?.boolean ?? false,
      entitySetPath: node["$EntitySetPath"]?.string, parameters: [], returnType: nil,
      annotations: annotations(node))
    for parameter in node["$Parameter"]?.array ?? [] {
      operation.parameters.append(
        EdmParameter(
          name: parameter["$Name"]?.string ?? "", type: type(parameter), mode: .in,
          facets: facets(parameter), attributes: EdmAttributes(),
          annotations: annotations(parameter)))
    }
    if let result = node["$ReturnType"] {
      operation.returnType = EdmReturnType(
        type: type(result), facets: facets(result), annotations: annotations(result))
    }
    return operation
  }

  mutating func container(
    _ space: String, _ name: String, _ node: JSONNode
  ) -> EdmContainer {
    var container = EdmContainer(
      namespace: space, name: name, extends: node["$Extends"]?.string.map { resolve($0) },
      isDefault: false)
    container.annotations = annotations(node)
    for member in node.object ?? [] {
      if member.key.hasPrefix("$") || member.key.contains("@") { continue }
      let value = member.value
      let bindings = (value["$NavigationPropertyBinding"]?.object ?? []).map {
        EdmNavigationBinding(path: $0.key, target: resolve($0.value.string ?? ""))
      }
      if let action = value["$Action"]?.string {
        container.actionImports.append(
          EdmActionImport(
            name: member.key, action: resolve(action), entitySet: value["$EntitySet"]?.string,
            annotations: annotations(value)))
      } else if let function = value["$Function"]?.string {
        container.functionImports.append(
          EdmFunctionImport(
            name: member.key, function: resolve(function), entitySet: value["$EntitySet"]?.string,
            isInServiceDocument: value["$IncludeInServiceDocument"]?.boolean ?? false,
            returnType: nil, method: "GET", isSideEffecting: false, isBindable: false,
            parameters: [], attributes: EdmAttributes(), annotations: annotations(value)))
      } else if value["$Collection"]?.boolean == true {
        container.entitySets.append(
          EdmEntitySet(
            name: member.key, entityType: resolve(value["$Type"]?.string ?? ""),
            isInServiceDocument: value["$IncludeInServiceDocument"]?.boolean ?? true,
            bindings: bindings, attributes: EdmAttributes(), annotations: annotations(value)))
      } else if let type = value["$Type"]?.string {
        container.singletons.append(
          EdmSingleton(
            name: member.key, type: resolve(type), isNullable: value["$Nullable"]?.boolean ?? false,
            bindings: bindings, annotations: annotations(value)))
      } else {
        report(
          "\(member.key) is not a part of a container", value, "/\(space)/\(name)", "it is skipped")
      }
    }
    return container
  }
}
