/// Reads `$metadata` in XML, V1 to V4, from its tree.
struct EdmXMLReader {
  var diagnostics: EdmDiagnostics
  var aliases: [String: String] = [:]
  private(set) var references: [EdmReference] = []

  init(limits: ODataLimits) { diagnostics = EdmDiagnostics(limit: limits.diagnostics) }

  static func read(_ bytes: [UInt8], limits: ODataLimits) throws(ODataError) -> EdmMetadata {
    let (tree, notes) = try XMLTree.read(bytes, limits: limits)
    var reader = EdmXMLReader(limits: limits)
    for note in notes { reader.diagnostics.add(note) }
    return try reader.metadata(tree.root)
  }

  private mutating func metadata(_ root: XMLElement) throws(ODataError) -> EdmMetadata {
    if let page = HTMLPage.error(root) { throw page }
    var schemaElements: [XMLElement] = []
    var edmxVersion = ""
    var dataVersion: String?
    if root.local == "Schema" {
      schemaElements = [root]
    } else if root.local == "Edmx" {
      edmxVersion = root.attribute("Version") ?? ""
      if edmxVersion.isEmpty {
        diagnostics.add(
          "the Edmx element has no Version", root.place, "the namespaces decide the version")
      }
      for part in root.children {
        switch part.local {
        case "DataServices":
          dataVersion =
            part.attribute("DataServiceVersion", .metadata) ?? part.attribute("DataServiceVersion")
          for child in part.children where child.local == "Schema" { schemaElements.append(child) }
        case "Reference": reference(part)
        case "Schema": schemaElements.append(part)
        default: break
        }
      }
    } else {
      throw ODataError(
        .unexpectedDocument, "the root is \(root.local), not Edmx", at: root.place)
    }
    if schemaElements.isEmpty {
      diagnostics.add("there is no Schema", root.place, "the metadata is empty")
    }
    for element in schemaElements {
      if let alias = element.attribute("Alias"), let space = element.attribute("Namespace") {
        aliases[alias] = space
      }
      for using in element.children where using.local == "Using" {
        if let alias = using.attribute("Alias"), let space = using.attribute("Namespace") {
          aliases[alias] = space
        }
      }
    }
    for include in references.flatMap(\.includes) {
      if let alias = include.alias { aliases[alias] = include.namespace }
    }
    let isV4 = edmxVersion.hasPrefix("4") || schemaElements.first?.address.contains("oasis") == true
    var version = isV4 ? ODataVersion.v4 : dataVersion.flatMap { ODataVersion(header: $0) } ?? .v2
    if !isV4, dataVersion == nil, schemaElements.first?.address.contains("/2006/") == true {
      version = .v1
    }
    var schemas: [EdmSchema] = []
    for element in schemaElements { schemas.append(schema(element)) }
    resolveNavigation(&schemas)
    var metadata = EdmMetadata(
      version: version, edmxVersion: edmxVersion, schemas: schemas, references: references)
    let places = EdmXMLPlaces(schemaElements)
    var check = EdmCheck(metadata, diagnostics) { places.place($0) }
    check.run()
    metadata.diagnostics = check.diagnostics.list
    return metadata
  }

  func resolve(_ name: String) -> String { EdmNames.resolve(name, aliases) }

  func type(_ text: String) -> EdmTypeReference {
    var reference = EdmTypeReference(text: text.trimmed)
    reference.name = resolve(reference.name)
    // V1 writes primitive types without their namespace.
    if let primitive = reference.primitive { reference.name = primitive.rawValue }
    return reference
  }

  mutating func required(_ element: XMLElement, _ name: String) -> String {
    if let value = element.attribute(name) { return value }
    diagnostics.add(
      "\(element.local) has no \(name)", element.place, "it is kept with an empty \(name)")
    return ""
  }

  mutating func flag(
    _ element: XMLElement, _ name: String, _ standard: Bool = false, space: XMLSpace = .none
  ) -> Bool {
    guard let text = element.attribute(name, space) else { return standard }
    switch text.trimmed {
    case "true", "1": return true
    case "false", "0": return false
    case "True", "TRUE", "False", "FALSE":
      diagnostics.add(
        "\(name)=\"\(text)\" is not written as XML writes it", element.place,
        "it is taken as \(text.lowercased())")
      return text.lowercased() == "true"
    default:
      diagnostics.add(
        "\(name)=\"\(text)\" is neither true nor false", element.place, "it is taken as \(standard)"
      )
      return standard
    }
  }

  private mutating func number(_ element: XMLElement, _ name: String) -> Int? {
    guard let text = element.attribute(name), text.lowercased() != "max" else { return nil }
    if let value = Int(text.trimmed), value >= 0 { return value }
    diagnostics.add(
      "\(name)=\"\(text)\" is not a number", element.place, "it is ignored")
    return nil
  }

  mutating func facets(_ element: XMLElement) -> EdmFacets {
    var facets = EdmFacets()
    facets.isNullable = flag(element, "Nullable", true)
    facets.maxLength = number(element, "MaxLength")
    if element.attribute("Precision")?.lowercased() != "variable" {
      facets.precision = number(element, "Precision")
    }
    switch element.attribute("Scale")?.lowercased() {
    case "variable": facets.scale = .variable
    case "floating": facets.scale = .floating
    default: facets.scale = number(element, "Scale").map { .fixed($0) }
    }
    if element.attribute("Unicode") != nil { facets.isUnicode = flag(element, "Unicode", true) }
    if element.attribute("FixedLength") != nil {
      facets.isFixedLength = flag(element, "FixedLength")
    }
    facets.srid = element.attribute("SRID")
    facets.collation = element.attribute("Collation")
    facets.defaultValue = element.attribute("DefaultValue") ?? element.attribute("Default")
    return facets
  }

  /// Attributes that the specification does not define for metadata: other namespaces.
  func attributes(_ element: XMLElement) -> EdmAttributes {
    var all: [EdmAttributes.Attribute] = []
    let names = element.tree.names
    element.eachAttribute { id, text in
      switch names.space(id) {
      case .none, .edm, .edmx: return
      default: break
      }
      let name = names[id]
      let space = name.address.isEmpty ? name.prefix : name.address
      all.append(
        .init(namespace: space, name: name.local, value: String(decoding: text, as: UTF8.self)))
    }
    return EdmAttributes(all)
  }

  private mutating func reference(_ element: XMLElement) {
    var reference = EdmReference(
      uri: element.attribute("Uri") ?? element.attribute("Url") ?? "", includes: [],
      includedAnnotations: [])
    if reference.uri.isEmpty {
      diagnostics.add("a Reference has no Uri", element.place, "it leads nowhere")
    }
    for child in element.children {
      if child.local == "Include" {
        reference.includes.append(
          .init(namespace: required(child, "Namespace"), alias: child.attribute("Alias")))
      } else if child.local == "IncludeAnnotations" {
        reference.includedAnnotations.append(child.attribute("TermNamespace") ?? "")
      }
    }
    references.append(reference)
  }

  private mutating func schema(_ element: XMLElement) -> EdmSchema {
    var schema = EdmSchema(
      namespace: required(element, "Namespace"), alias: element.attribute("Alias"))
    let space = schema.namespace
    schema.attributes = attributes(element)
    for child in element.children {
      switch child.local {
      case "EntityType": schema.entityTypes.append(structured(child, .entity, space))
      case "ComplexType": schema.complexTypes.append(structured(child, .complex, space))
      case "EnumType": schema.enumTypes.append(enumType(child, space))
      case "TypeDefinition": schema.typeDefinitions.append(definition(child, space))
      case "Association": schema.associations.append(association(child, space))
      case "Function": schema.functions.append(operation(child, space, isFunction: true))
      case "Action": schema.actions.append(operation(child, space, isFunction: false))
      case "EntityContainer": schema.containers.append(container(child, space))
      case "Term", "ValueTerm": schema.terms.append(term(child, space))
      case "Annotations":
        schema.targetedAnnotations.append(
          EdmTargetedAnnotations(
            target: resolve(required(child, "Target")), qualifier: child.attribute("Qualifier"),
            annotations: annotations(child)))
      case "Annotation", "ValueAnnotation": schema.annotations.append(annotation(child))
      case "Using", "Documentation", "TypeAnnotation": break
      default: unknown(child)
      }
    }
    return schema
  }

  mutating func unknown(_ element: XMLElement) {
    guard element.space == .edm || element.space == .none else { return }
    diagnostics.add(
      "the element \(element.local) is not known here", element.place, "it is skipped")
  }

  private mutating func structured(
    _ element: XMLElement, _ kind: EdmStructuredType.Kind, _ space: String
  ) -> EdmStructuredType {
    var type = EdmStructuredType(kind, namespace: space, name: required(element, "Name"))
    type.baseType = element.attribute("BaseType").map { resolve($0.trimmed) }
    type.isAbstract = flag(element, "Abstract")
    type.isOpen = flag(element, "OpenType")
    type.hasStream =
      flag(element, "HasStream") || flag(element, "HasStream", space: .metadata)
    type.attributes = attributes(element)
    type.mappings = Dictionary(
      grouping: mappings(element), by: { $0.source.isEmpty ? "" : $0.source }
    ).mapValues { $0.map(\.mapping) }
    for child in element.children {
      switch child.local {
      case "Key":
        for reference in child.children where reference.local == "PropertyRef" {
          type.keys.append(
            EdmKeyReference(
              name: required(reference, "Name"), alias: reference.attribute("Alias")))
        }
      case "Property": type.properties.append(property(child))
      case "NavigationProperty": type.navigationProperties.append(navigation(child))
      case "Annotation", "ValueAnnotation": type.annotations.append(annotation(child))
      case "Documentation": type.documentation = documentation(child)
      case "TypeAnnotation": break
      default: unknown(child)
      }
    }
    return type
  }

  private func documentation(_ element: XMLElement) -> String {
    element.children.map { $0.text.trimmed }.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private mutating func property(_ element: XMLElement) -> EdmProperty {
    let name = required(element, "Name")
    var reference = type(element.attribute("Type") ?? "Edm.String")
    if element.attribute("Type") == nil {
      diagnostics.add(
        "the property \(name) has no Type", element.place, "it is taken as Edm.String")
    }
    switch element.attribute("CollectionKind") {
    case "List", "Bag": reference.isCollection = true
    default: break
    }
    var property = EdmProperty(name, reference, facets: facets(element))
    property.isConcurrencyToken = element.attribute("ConcurrencyMode") == "Fixed"
    property.mappings = mappings(element).map(\.mapping)
    property.attributes = attributes(element)
    if element.attribute("HasStream", .metadata) != nil {
      diagnostics.add(
        "the property \(name) has HasStream", element.place, "only a type can have a stream")
    }
    if let media = element.attribute("MimeType", .metadata), !Self.isMediaType(media) {
      diagnostics.add(
        "MimeType=\"\(media)\" is not a media type", element.place, "it is kept as an attribute")
    }
    for child in element.children {
      switch child.local {
      case "Annotation", "ValueAnnotation": property.annotations.append(annotation(child))
      case "Documentation": property.documentation = documentation(child)
      case "TypeAnnotation", "TypeRef": break
      default: unknown(child)
      }
    }
    return property
  }

  /// Whether a text begins as `text/plain` does.
  private static func isMediaType(_ text: String) -> Bool {
    let parts = text.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
    let isWord: (Substring) -> Bool = { word in
      !word.isEmpty
        && word.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#"()<>@,;:\"[]?="#.utf8.contains($0) }
    }
    return parts.count == 2 && isWord(parts[0]) && isWord(String(parts[1]).trimmed[...])
  }

  /// `FC_TargetPath`, `FC_TargetPath_1`, … with what belongs to each.
  private func mappings(_ element: XMLElement) -> [(source: String, mapping: EdmFeedMapping)] {
    var isMapped = false
    element.eachAttribute { id, _ in
      if element.tree.names.space(id) == .metadata, element.tree.names.local(id).hasPrefix("FC_") {
        isMapped = true
      }
    }
    guard isMapped else { return [] }
    var found: [(String, EdmFeedMapping)] = []
    for number in 0..<32 {
      let suffix = number == 0 ? "" : "_\(number)"
      guard let target = element.attribute("FC_TargetPath\(suffix)", .metadata) else {
        if number > 0 { break }
        continue
      }
      let source = element.attribute("FC_SourcePath\(suffix)", .metadata)
      found.append(
        (
          source.map { $0.split(separator: "/").first.map(String.init) ?? "" } ?? "",
          EdmFeedMapping(
            targetPath: target, sourcePath: source,
            keepsInContent: element.attribute("FC_KeepInContent\(suffix)", .metadata) != "false",
            contentKind: element.attribute("FC_ContentKind\(suffix)", .metadata),
            namespacePrefix: element.attribute("FC_NsPrefix\(suffix)", .metadata),
            namespace: element.attribute("FC_NsUri\(suffix)", .metadata))
        ))
    }
    return found
  }

  private mutating func navigation(_ element: XMLElement) -> EdmNavigationProperty {
    var property = EdmNavigationProperty(
      required(element, "Name"), element.attribute("Type").map { type($0) })
    property.isNullable = flag(element, "Nullable", true)
    property.partner = element.attribute("Partner")
    property.containsTarget = flag(element, "ContainsTarget")
    property.relationship = element.attribute("Relationship").map { resolve($0.trimmed) }
    property.fromRole = element.attribute("FromRole")
    property.toRole = element.attribute("ToRole")
    property.attributes = attributes(element)
    for child in element.children {
      switch child.local {
      case "ReferentialConstraint":
        property.constraints.append(
          EdmReferentialConstraint(
            property: required(child, "Property"),
            referencedProperty: required(child, "ReferencedProperty")))
      case "OnDelete": property.onDelete = child.attribute("Action")
      case "Annotation", "ValueAnnotation": property.annotations.append(annotation(child))
      case "Documentation": break
      default: unknown(child)
      }
    }
    return property
  }

  /// V1 to V3 say where a navigation property leads by an association of any schema.
  private mutating func resolveNavigation(_ schemas: inout [EdmSchema]) {
    var associations: [String: EdmAssociation] = [:]
    for association in schemas.flatMap(\.associations) {
      associations[association.qualifiedName] = association
    }
    for schema in schemas.indices {
      for type in schemas[schema].entityTypes.indices {
        for index in schemas[schema].entityTypes[type].navigationProperties.indices {
          let property = schemas[schema].entityTypes[type].navigationProperties[index]
          guard property.type == nil, let name = property.relationship,
            let association = associations[name],
            let end = association.ends.first(where: { $0.role == property.toRole })
          else { continue }
          schemas[schema].entityTypes[type].navigationProperties[index].type =
            EdmTypeReference(end.type, isCollection: end.multiplicity == "*")
          schemas[schema].entityTypes[type].navigationProperties[index].isNullable =
            end.multiplicity != "1"
          if let constraint = association.constraint,
            constraint.dependentRole == property.fromRole
          {
            schemas[schema].entityTypes[type].navigationProperties[index].constraints =
              zip(constraint.dependentProperties, constraint.principalProperties).map {
                EdmReferentialConstraint(property: $0, referencedProperty: $1)
              }
          }
        }
      }
    }
  }
}

extension String {
  /// Without white space at either end.
  var trimmed: String {
    // Most texts begin and end with what cannot be a space.
    if let first = utf8.first, let last = utf8.last, first > 0x20, first < 0x80, last > 0x20,
      last < 0x80
    {
      return self
    }
    let isSpace: (Character) -> Bool = { $0.isWhitespace }
    guard let first = first, let last = last, isSpace(first) || isSpace(last) else { return self }
    let head = drop(while: isSpace)
    guard let end = head.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(head[...end])
  }
}
