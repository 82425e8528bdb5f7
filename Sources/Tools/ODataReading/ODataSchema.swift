import FerryGenerator
import FerryModel
import FerryOData
import FerryODataClient
import FerryODataConnector

/// Reads what a service of OData says of itself, as the schema of a business system; changes nothing.
package enum ODataSchema {
  /// Asks for the service document and the metadata.
  package static func read(
    _ address: String, session: ODataSession = ODataSession()
  ) async throws(GeneratorError) -> DatabaseSchema {
    do throws(ODataClientError) {
      return schema(of: try await ODataService.open(address, session: session).metadata)
    } catch {
      throw GeneratorError(
        "\(address) cannot be read: \(error.request): \(error.message)", hint: error.hint)
    }
  }

  /// A table for each set that can be read by itself and has a key.
  package static func schema(of metadata: EdmMetadata) -> DatabaseSchema {
    var tables: [DatabaseSchema.Table] = []
    var leftOut: [Note] = []
    for set in metadata.entitySets.sorted(by: { $0.name < $1.name }) {
      if let note = obstacle(set, metadata) {
        leftOut.append(note)
      } else if let type = metadata.entityType(set.entityType) {
        tables.append(SetTable(set, type, metadata, &leftOut).table)
      }
    }
    for singleton in metadata.containers.flatMap(\.singletons) {
      leftOut.append(
        Note(
          .leftOut, singleton.name, "is a single object, not a set",
          cure: "Read it from the service when it is needed."))
    }
    var schema = DatabaseSchema(inOrder: tables, views: [])
    schema.leftOut = leftOut
    return schema
  }

  private static func obstacle(_ set: EdmEntitySet, _ metadata: EdmMetadata) -> Note? {
    let view = metadata.view(of: set)
    guard let type = metadata.entityType(set.entityType) else {
      return Note(
        .leftOut, set.name, "has objects of \(set.entityType), which the metadata does not declare",
        cure: "Correct the service.")
    }
    if !set.sap.addressable {
      return Note(
        .leftOut, set.name, "cannot be read by itself (sap:addressable)",
        cure: "Its objects come with those that lead to them; open the set at the service.")
    }
    if view.requiresFilter {
      return Note(
        .leftOut, set.name, "cannot be read without a filter",
        cure: "Open the set at the service.")
    }
    if type.sap.isParameters || type.sap.isAggregate {
      return Note(
        .leftOut, set.name, "holds parameters or sums, not objects",
        cure: "Use the set that the values come from.")
    }
    return nil
  }
}

/// One set as a table.
private struct SetTable {
  private let set: EdmEntitySet
  private let type: EdmStructuredType
  private let metadata: EdmMetadata
  private(set) var table: DatabaseSchema.Table

  init(
    _ set: EdmEntitySet, _ type: EdmStructuredType, _ metadata: EdmMetadata,
    _ leftOut: inout [Note]
  ) {
    self.set = set
    self.type = type
    self.metadata = metadata
    let keys = metadata.keys(of: type).map(\.name)
    let columns = SetTable.columns(of: type, [], keys, metadata, depth: 0)
    let counted = keys.count == 1 ? metadata.property(keys[0], of: type) : nil
    let isGiven = counted.map { SetTable.isGiven($0, type, metadata) } ?? false
    table = DatabaseSchema.Table(
      named: set.name, columns: columns, primaryKey: keys, countedKey: isGiven ? keys.first : nil,
      uniqueKeys: SetTable.alternateKeys(of: set, type, metadata),
      foreignKeys: SetTable.foreignKeys(of: set, type, metadata, &leftOut), triggers: [],
      hasChecks: false, comment: SetTable.comment(metadata.view(of: set), type.documentation))
    table.objectName = type.name
    table.forbidden = SetTable.forbidden(set, metadata)
    if metadata.hasStream(type) {
      leftOut.append(
        Note(
          .leftOut, "\(set.name).$value", "is a media resource",
          cure: "Media are not synchronized yet; read them from the service."))
    }
  }

  private static func comment(_ view: EdmAnnotationView, _ documentation: String?) -> String? {
    let parts = [view.label, documentation ?? view.quickInfo].compactMap { $0 }
    return parts.isEmpty
      ? nil
      : parts.reduce(into: [String]()) { all, part in
        if !all.contains(part) { all.append(part) }
      }.joined(separator: ": ")
  }

  private static func forbidden(
    _ set: EdmEntitySet, _ metadata: EdmMetadata
  ) -> Set<OperationKind> {
    let view = metadata.view(of: set)
    var kinds: Set<OperationKind> = []
    if !view.isCreatable { kinds.insert(.create) }
    if !view.isUpdatable { kinds.insert(.update) }
    if !view.isDeletable { kinds.insert(.delete) }
    return kinds
  }

  /// Whether the service makes the values.
  private static func isGiven(
    _ property: EdmProperty, _ type: EdmStructuredType, _ metadata: EdmMetadata
  ) -> Bool {
    let view = metadata.view(of: property, in: type)
    return view.isComputed || property.sap.serverGenerated
      || property.attributes["StoreGeneratedPattern"] == "Identity"
  }

  /// Complex values come apart: `Address/City`.
  private static func columns(
    of type: EdmStructuredType, _ path: [String], _ keys: [String], _ metadata: EdmMetadata,
    depth: Int
  ) -> [DatabaseSchema.Column] {
    var columns: [DatabaseSchema.Column] = []
    for property in metadata.properties(of: type) {
      let names = path + [property.name]
      if depth < 4, !property.type.isCollection,
        let inner = metadata.complexType(property.type.name)
      {
        columns += self.columns(of: inner, names, keys, metadata, depth: depth + 1)
      } else {
        columns.append(column(property, names, keys, type, metadata))
      }
    }
    return columns
  }

  private static func column(
    _ property: EdmProperty, _ names: [String], _ keys: [String], _ type: EdmStructuredType,
    _ metadata: EdmMetadata
  ) -> DatabaseSchema.Column {
    let name = names.joined(separator: "/")
    let view = metadata.view(of: property, in: type)
    let isKey = keys.contains(name)
    var known: KnownType
    var values: [AttributeValue] = []
    switch ODataPropertyType(property, in: metadata) {
    case .attribute(let type, let maxLength, let precision, let scale, let listed):
      known = .type(type, maxLength: maxLength, precision: precision, scale: scale)
      values = listed
    case .none(let reason, let cure): known = .none(reason: reason, cure: cure)
    }
    var remark: DatabaseSchema.Remark?
    let isOpen = view.isCreatable || view.isUpdatable
    if !isKey, isGiven(property, type, metadata) || !isOpen {
      remark = DatabaseSchema.Remark(
        "is made by the service", cure: "Apps should only read it: the service ignores a change.")
    } else if !isKey, !view.isUpdatable {
      remark = DatabaseSchema.Remark(
        "cannot be changed once the object is there",
        cure: "Set it when the object is created: the service refuses a later change.")
    }
    // Who is not to give a value need not; within a complex value all may be missing.
    let mayBeNull = property.facets.isNullable || !isOpen || names.count > 1
    return DatabaseSchema.Column(
      named: name, declaredType: property.type.description, isNotNull: isKey || !mayBeNull,
      hasDefault: property.facets.defaultValue != nil, isGenerated: false, known: known,
      remark: remark, comment: comment(view, property.documentation), values: values)
  }

  private static func alternateKeys(
    of set: EdmEntitySet, _ type: EdmStructuredType, _ metadata: EdmMetadata
  ) -> [[String]] {
    let term = "Core.V1.AlternateKeys"
    let ofType = metadata.annotations(of: type.qualifiedName).first { $0.term.hasSuffix(term) }
    let found = ofType?.value ?? metadata.view(of: set).value(term)
    return (found?.elements ?? []).compactMap { key -> [String]? in
      let names = (key["Key"]?.elements ?? []).compactMap { $0["Name"]?.anyPath }
      return names.isEmpty ? nil : names
    }
  }

  private static func foreignKeys(
    of set: EdmEntitySet, _ type: EdmStructuredType, _ metadata: EdmMetadata,
    _ leftOut: inout [Note]
  ) -> [DatabaseSchema.ForeignKey] {
    var keys: [DatabaseSchema.ForeignKey] = []
    for navigation in metadata.navigationProperties(of: type) {
      let pairs = constraints(navigation, metadata)
      guard let target = metadata.target(of: navigation.name, from: set), !pairs.isEmpty else {
        let isMany = navigation.type?.isCollection ?? false
        // The many are reached by what leads back.
        if !isMany, pairs.isEmpty, !hasMirror(navigation, metadata) {
          leftOut.append(
            Note(
              .leftOut, "\(set.name).\(navigation.name)",
              "leads to an object by no property that the metadata names",
              cure: "Declare a referential constraint at the service."))
        }
        continue
      }
      keys.append(
        DatabaseSchema.ForeignKey(from: pairs.map(\.0), to: target.name, pairs.map(\.1)))
    }
    return keys
  }

  /// Dependent and principal property of each.
  private static func constraints(
    _ navigation: EdmNavigationProperty, _ metadata: EdmMetadata
  ) -> [(String, String)] {
    if !navigation.constraints.isEmpty {
      return navigation.constraints.map { ($0.property, $0.referencedProperty) }
    }
    guard let name = navigation.relationship,
      let constraint = metadata.association(name)?.constraint,
      constraint.dependentRole == navigation.fromRole
    else { return [] }
    return Array(zip(constraint.dependentProperties, constraint.principalProperties))
  }

  /// Whether the other side names the properties.
  private static func hasMirror(
    _ navigation: EdmNavigationProperty, _ metadata: EdmMetadata
  ) -> Bool {
    navigation.partner != nil
      || navigation.relationship.flatMap { metadata.association($0)?.constraint } != nil
  }
}
