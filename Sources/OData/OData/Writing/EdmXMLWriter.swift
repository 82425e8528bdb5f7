/// Writes `$metadata` in XML: that of V4, and that of V1 to V3 with its associations.
struct EdmXMLWriter {
  var writer = XMLWriter(declaration: true)
  /// Prefixes of foreign namespaces, such as `sap`.
  let prefixes: [(namespace: String, prefix: String)]
  let version: ODataVersion

  static let edmx = "http://docs.oasis-open.org/odata/ns/edmx"
  static let edm = "http://docs.oasis-open.org/odata/ns/edm"
  static let oldEdmx = "http://schemas.microsoft.com/ado/2007/06/edmx"
  static let metadataSpace = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
  static let sapSpace = "http://www.sap.com/Protocols/SAPData"

  var isV4: Bool { version >= .v4 }

  static func write(_ metadata: EdmMetadata) throws(ODataError) -> [UInt8] {
    var writer = EdmXMLWriter(metadata)
    try writer.document(metadata)
    if let character = writer.writer.unwritable {
      throw ODataError(
        .unwritable, "XML cannot hold \(character)", hint: "take it out of the metadata")
    }
    return writer.writer.bytes
  }

  private init(_ metadata: EdmMetadata) {
    version = metadata.version
    var found: [(namespace: String, prefix: String)] = []
    if metadata.version < .v4 { found.append((Self.metadataSpace, "m")) }
    var taken: Set<String> = ["m", "edmx", "xml"]
    for attribute in metadata.schemas.flatMap({ EdmXMLWriter.foreign(in: $0) })
    where !found.contains(where: { $0.namespace == attribute.namespace }) {
      var prefix = EdmAttributes.isSAP(attribute.namespace) ? "sap" : "n\(found.count)"
      if !taken.insert(prefix).inserted { prefix = "n\(found.count)" }
      found.append((attribute.namespace, prefix))
    }
    prefixes = found
  }

  private mutating func document(_ metadata: EdmMetadata) throws(ODataError) {
    writer.open("edmx:Edmx")
    let standard = isV4 ? "4.0" : "1.0"
    writer.attribute("Version", metadata.edmxVersion.isEmpty ? standard : metadata.edmxVersion)
    writer.attribute("xmlns:edmx", isV4 ? Self.edmx : Self.oldEdmx)
    for (namespace, prefix) in prefixes where prefix != "m" {
      writer.attribute("xmlns:\(prefix)", Self.address(namespace))
    }
    for reference in metadata.references { self.reference(reference) }
    writer.open("edmx:DataServices")
    if !isV4 {
      writer.attribute("xmlns:m", Self.metadataSpace)
      writer.attribute("m:DataServiceVersion", "\(version.rawValue).0")
    }
    for schema in metadata.schemas { try self.schema(schema) }
    writer.close("edmx:DataServices")
    writer.close("edmx:Edmx")
  }

  private mutating func reference(_ reference: EdmReference) {
    writer.open("edmx:Reference")
    writer.attribute(isV4 ? "Uri" : "Url", reference.uri)
    for include in reference.includes {
      writer.open("edmx:Include")
      writer.attribute("Namespace", include.namespace)
      writer.optional("Alias", include.alias)
      writer.close("edmx:Include")
    }
    for space in reference.includedAnnotations {
      writer.open("edmx:IncludeAnnotations")
      writer.attribute("TermNamespace", space)
      writer.close("edmx:IncludeAnnotations")
    }
    writer.close("edmx:Reference")
  }

  private mutating func schema(_ schema: EdmSchema) throws(ODataError) {
    writer.open("Schema")
    let old =
      version == .v1
      ? "http://schemas.microsoft.com/ado/2006/04/edm"
      : version == .v2
        ? "http://schemas.microsoft.com/ado/2008/09/edm"
        : "http://schemas.microsoft.com/ado/2009/11/edm"
    writer.attribute("xmlns", isV4 ? Self.edm : old)
    writer.attribute("Namespace", schema.namespace)
    writer.optional("Alias", schema.alias)
    attributes(schema.attributes)
    for type in schema.entityTypes { try structured(type) }
    for type in schema.complexTypes { try structured(type) }
    for type in schema.enumTypes { try enumType(type) }
    for type in schema.typeDefinitions { try definition(type) }
    for association in schema.associations { self.association(association) }
    for operation in schema.functions { try self.operation(operation) }
    for operation in schema.actions { try self.operation(operation) }
    for term in schema.terms { try self.term(term) }
    for container in schema.containers { try self.container(container) }
    for target in schema.targetedAnnotations {
      writer.open("Annotations")
      writer.attribute("Target", target.target)
      writer.optional("Qualifier", target.qualifier)
      try annotations(target.annotations)
      writer.close("Annotations")
    }
    try annotations(schema.annotations)
    writer.close("Schema")
  }

  private mutating func structured(_ type: EdmStructuredType) throws(ODataError) {
    let element = type.kind == .entity ? "EntityType" : "ComplexType"
    writer.open(element)
    writer.attribute("Name", type.name)
    writer.optional("BaseType", type.baseType)
    flag("Abstract", type.isAbstract)
    flag("OpenType", type.isOpen)
    if type.hasStream, !isMarked("HasStream", type.attributes) {
      writer.attribute(isV4 ? "HasStream" : "m:HasStream", "true")
    }
    attributes(type.attributes)
    if !type.attributes.all.contains(where: { $0.name.hasPrefix("FC_TargetPath") }) {
      mappings(type.mappings.sorted { $0.key < $1.key }.flatMap(\.value))
    }
    documentation(type.documentation)
    if !type.keys.isEmpty {
      writer.open("Key")
      for key in type.keys {
        writer.open("PropertyRef")
        writer.attribute("Name", key.name)
        writer.optional("Alias", key.alias)
        writer.close("PropertyRef")
      }
      writer.close("Key")
    }
    for property in type.properties { try self.property(property) }
    for property in type.navigationProperties { try navigation(property) }
    try annotations(type.annotations)
    writer.close(element)
  }

  private mutating func property(_ property: EdmProperty) throws(ODataError) {
    writer.open("Property")
    writer.attribute("Name", property.name)
    writer.attribute("Type", property.type.description)
    facets(property.facets)
    if property.isConcurrencyToken { writer.attribute("ConcurrencyMode", "Fixed") }
    attributes(property.attributes)
    if !property.attributes.all.contains(where: { $0.name.hasPrefix("FC_TargetPath") }) {
      mappings(property.mappings)
    }
    documentation(property.documentation)
    try annotations(property.annotations)
    writer.close("Property")
  }

  /// Feed mappings of metadata that was made in code; what was read has them as attributes too.
  private mutating func mappings(_ mappings: [EdmFeedMapping]) {
    for (number, mapping) in mappings.enumerated() {
      let suffix = number == 0 ? "" : "_\(number)"
      writer.attribute("m:FC_TargetPath\(suffix)", mapping.targetPath)
      writer.optional("m:FC_SourcePath\(suffix)", mapping.sourcePath)
      writer.attribute("m:FC_KeepInContent\(suffix)", mapping.keepsInContent ? "true" : "false")
      writer.optional("m:FC_ContentKind\(suffix)", mapping.contentKind)
      writer.optional("m:FC_NsPrefix\(suffix)", mapping.namespacePrefix)
      writer.optional("m:FC_NsUri\(suffix)", mapping.namespace)
    }
  }

  private mutating func navigation(_ property: EdmNavigationProperty) throws(ODataError) {
    writer.open("NavigationProperty")
    writer.attribute("Name", property.name)
    if let relationship = property.relationship {
      writer.attribute("Relationship", relationship)
      writer.optional("FromRole", property.fromRole)
      writer.optional("ToRole", property.toRole)
    } else {
      writer.optional("Type", property.type?.description)
      if !property.isNullable { writer.attribute("Nullable", "false") }
    }
    writer.optional("Partner", property.partner)
    flag("ContainsTarget", property.containsTarget)
    attributes(property.attributes)
    // The association has those of V1 to V3.
    if property.relationship == nil {
      for constraint in property.constraints {
        writer.open("ReferentialConstraint")
        writer.attribute("Property", constraint.property)
        writer.attribute("ReferencedProperty", constraint.referencedProperty)
        writer.close("ReferentialConstraint")
      }
    }
    if let action = property.onDelete {
      writer.open("OnDelete")
      writer.attribute("Action", action)
      writer.close("OnDelete")
    }
    try annotations(property.annotations)
    writer.close("NavigationProperty")
  }

  private mutating func documentation(_ text: String?) {
    guard let text else { return }
    writer.open("Documentation")
    writer.element("Summary", text)
    writer.close("Documentation")
  }

  mutating func flag(_ name: String, _ isSet: Bool) {
    if isSet { writer.attribute(name, "true") }
  }

  mutating func facets(_ facets: EdmFacets) {
    if !facets.isNullable { writer.attribute("Nullable", "false") }
    writer.optional("MaxLength", facets.maxLength.map { String($0) })
    writer.optional("Precision", facets.precision.map { String($0) })
    switch facets.scale {
    case .fixed(let digits): writer.attribute("Scale", String(digits))
    case .variable: writer.attribute("Scale", "variable")
    case .floating: writer.attribute("Scale", "floating")
    case nil: break
    }
    writer.optional("Unicode", facets.isUnicode.map { $0 ? "true" : "false" })
    writer.optional("FixedLength", facets.isFixedLength.map { $0 ? "true" : "false" })
    writer.optional("SRID", facets.srid)
    writer.optional("Collation", facets.collation)
    writer.optional("DefaultValue", facets.defaultValue)
  }

  /// Attributes of foreign namespaces.
  mutating func attributes(_ attributes: EdmAttributes) {
    for attribute in attributes.all {
      guard let prefix = prefixes.first(where: { $0.namespace == attribute.namespace })?.prefix
      else { continue }
      writer.attribute("\(prefix):\(attribute.name)", attribute.value)
    }
  }

  /// Whether an attribute of the metadata namespace is among those that are written as they are.
  func isMarked(_ name: String, _ attributes: EdmAttributes) -> Bool {
    attributes.all.contains { $0.name == name && $0.namespace == Self.metadataSpace }
  }

  /// The address behind a namespace; that of SAP where the document declared none.
  private static func address(_ namespace: String) -> String {
    guard !namespace.contains(where: { $0 == ":" || $0 == "/" }) else { return namespace }
    return EdmAttributes.isSAP(namespace) ? sapSpace : "urn:\(namespace)"
  }

  /// All attributes of foreign namespaces in a schema.
  private static func foreign(in schema: EdmSchema) -> [EdmAttributes.Attribute] {
    var all = schema.attributes.all
    for type in schema.entityTypes + schema.complexTypes {
      all += type.attributes.all + type.properties.flatMap(\.attributes.all)
      all += type.navigationProperties.flatMap(\.attributes.all)
    }
    all += schema.associations.flatMap(\.attributes.all)
    for operation in schema.functions + schema.actions {
      all += operation.parameters.flatMap(\.attributes.all)
    }
    for container in schema.containers {
      all += container.attributes.all + container.entitySets.flatMap(\.attributes.all)
      all += container.associationSets.flatMap(\.attributes.all)
      for function in container.functionImports {
        all += function.attributes.all + function.parameters.flatMap(\.attributes.all)
      }
    }
    return all
  }
}

extension EdmMetadata {
  /// The document in XML: of V4, or of V1 to V3 where that is the version.
  ///
  /// What is written and read again is equal. Throws `unwritable` for a control character, and for
  /// an annotation whose value was not understood when it was read.
  public func xml() throws(ODataError) -> [UInt8] { try EdmXMLWriter.write(self) }
}
