import FerryModel
import FerryOData
import FerryServer

/// Makes the metadata of a package.
struct FaceMetadata {
  static let core = "Org.OData.Core.V1"
  static let capabilities = "Org.OData.Capabilities.V1"
  static let validation = "Org.OData.Validation.V1"
  static let repeatability = "Org.OData.Repeatability.V1"

  /// For how long a request is safe to repeat.
  private static let window: String =
    "The answer to a request with Repeatability-Request-ID is kept for \(CallerDesk.answerDays) "
    + "days. For \(CallerDesk.memoryDays) days the request is not performed again."

  let values: FaceValues
  let faces: [FaceModel.Face]
  var package: Package { values.package }
  var isV4: Bool { values.version >= .v4 }

  init(_ values: FaceValues, _ faces: [FaceModel.Face]) {
    self.values = values
    self.faces = faces
  }

  var metadata: EdmMetadata {
    var schema = EdmSchema(namespace: package.name)
    schema.entityTypes = faces.map { entityType($0) }
    schema.complexTypes = package.complexTypes.filter { type in
      type.attributes.allSatisfy { $0.type.isBig || values.isShown($0) }
    }.map { complexType($0) }
    schema.associations = isV4 ? [] : ends.map { association($0) }
    var container = EdmContainer(namespace: package.name, name: "Container", isDefault: true)
    container.entitySets = faces.map { set($0) }
    container.associationSets = isV4 ? [] : ends.map { associationSet($0) }
    guard isV4 else {
      schema.containers = [container]
      return EdmMetadata(version: .v2, schemas: [schema])
    }
    container.annotations = [
      EdmAnnotation(term: "\(Self.repeatability).Supported"),
      EdmAnnotation(term: "\(Self.repeatability).DeleteWithRequestIDSupported"),
      EdmAnnotation(term: "\(Self.core).LongDescription", value: .string(Self.window)),
    ]
    schema.containers = [container]
    return EdmMetadata(
      version: .v4, schemas: [schema],
      references: [Self.core, Self.capabilities, Self.validation, Self.repeatability].map { name in
        EdmReference(
          uri: "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/\(name).xml",
          includes: [EdmReference.Include(namespace: name)])
      })
  }

  private func qualified(_ name: String) -> String { "\(package.name).\(name)" }

  private func entityType(_ face: FaceModel.Face) -> EdmStructuredType {
    let entity = face.entity
    var type = EdmStructuredType(.entity, namespace: package.name, name: entity.name)
    type.keys = entity.key.map { EdmKeyReference(name: entity.attributes[$0].name) }
    type.properties = face.shown.map { position in
      var property = property(entity.attributes[position])
      if entity.key.contains(position) {
        property.facets.isNullable = false
        guard isV4 else { return property }
        if entity.keyOrigin == .businessSystem {
          property.annotations.append(EdmAnnotation(term: "\(Self.core).Computed"))
        } else {
          property.annotations.append(EdmAnnotation(term: "\(Self.core).Immutable"))
        }
      }
      return property
    }
    type.navigationProperties = face.navigations.map { navigation($0, entity) }
    guard isV4 else {
      type.documentation = entity.documentation
      return type
    }
    if let text = entity.documentation { type.annotations.append(description(text)) }
    let alternates = entity.unique.filter { set in set.allSatisfy(face.shown.contains) }
    if !alternates.isEmpty { type.annotations.append(alternateKeys(alternates, entity)) }
    return type
  }

  private func complexType(_ complex: ComplexType) -> EdmStructuredType {
    var type = EdmStructuredType(.complex, namespace: package.name, name: complex.name)
    type.properties = complex.attributes.filter { !$0.type.isBig }.map { property($0) }
    return type
  }

  private func property(_ attribute: Attribute) -> EdmProperty {
    var property = EdmProperty(attribute.name, values.type(attribute))
    property.facets.isNullable = attribute.isNullable
    property.facets.maxLength = attribute.type == .string ? attribute.maxLength : nil
    switch attribute.type {
    case .decimal:
      property.facets.precision = attribute.precision
      property.facets.scale = attribute.scale.map { .fixed($0) } ?? (isV4 ? .variable : nil)
    case .integer: property.facets.scale = .fixed(0)
    case .dateTime, .time: property.facets.precision = 9
    default: break
    }
    guard isV4 else {
      property.documentation = attribute.documentation
      return property
    }
    if let text = attribute.documentation { property.annotations.append(description(text)) }
    if !attribute.values.isEmpty {
      let values = attribute.values.map { value in
        EdmExpression.record(
          type: nil, [EdmPropertyValue(name: "Value", value: constant(value))], annotations: [])
      }
      property.annotations.append(
        EdmAnnotation(term: "\(Self.validation).AllowedValues", value: .collection(values)))
    }
    return property
  }

  private func constant(_ value: AttributeValue) -> EdmExpression {
    switch value {
    case .integer(let number): .integer(number)
    case .text(let text): .string(text)
    default: .string(value.shown)
    }
  }

  private func description(_ text: String) -> EdmAnnotation {
    EdmAnnotation(term: "\(Self.core).Description", value: .string(text))
  }

  private func alternateKeys(_ keys: [[Int]], _ entity: Entity) -> EdmAnnotation {
    let records = keys.map { set in
      let parts = set.map { position -> EdmExpression in
        let name = entity.attributes[position].name
        return .record(
          type: nil,
          [
            EdmPropertyValue(name: "Name", value: .propertyPath(name)),
            EdmPropertyValue(name: "Alias", value: .string(name)),
          ], annotations: [])
      }
      return EdmExpression.record(
        type: nil, [EdmPropertyValue(name: "Key", value: .collection(parts))], annotations: [])
    }
    return EdmAnnotation(term: "\(Self.core).AlternateKeys", value: .collection(records))
  }

  private func navigation(
    _ navigation: FaceModel.Navigation, _ entity: Entity
  ) -> EdmNavigationProperty {
    var property = EdmNavigationProperty(
      navigation.name,
      EdmTypeReference(qualified(navigation.target), isCollection: navigation.isCollection))
    guard isV4 else {
      property.relationship = qualified(end(navigation, entity).name)
      let isForward = isOfMany(navigation, entity)
      property.fromRole = isForward ? Self.source : Self.target
      property.toRole = isForward ? Self.target : Self.source
      if isForward { property.constraints = constraints(navigation) }
      return property
    }
    property.partner = navigation.partner.flatMap { name in
      faces.first { $0.entity.name == navigation.target }?.navigations
        .contains { $0.name == name } == true ? name : nil
    }
    if navigation.isComposite { property.onDelete = "Cascade" }
    if isOfMany(navigation, entity) { property.constraints = constraints(navigation) }
    return property
  }

  private func constraints(_ navigation: FaceModel.Navigation) -> [EdmReferentialConstraint] {
    zip(navigation.own, navigation.others).map {
      EdmReferentialConstraint(property: $0, referencedProperty: $1)
    }
  }

  /// Whether the entity has the relationship, and not the other one.
  func isOfMany(_ navigation: FaceModel.Navigation, _ entity: Entity) -> Bool {
    entity.relationships.contains { $0.name == navigation.name }
  }

  private func set(_ face: FaceModel.Face) -> EdmEntitySet {
    let entity = face.entity
    var set = EdmEntitySet(name: face.set, entityType: qualified(entity.name))
    set.bindings = face.navigations.compactMap { navigation in
      faces.first { $0.entity.name == navigation.target }.map {
        EdmNavigationBinding(path: navigation.name, target: $0.set)
      }
    }
    guard isV4 else { return set }
    let rights: [(String, String, OperationKind)] = [
      ("InsertRestrictions", "Insertable", .create), ("UpdateRestrictions", "Updatable", .update),
      ("DeleteRestrictions", "Deletable", .delete),
    ]
    for (term, name, kind) in rights where !entity.operations.contains(kind) {
      set.annotations.append(
        EdmAnnotation(
          term: "\(Self.capabilities).\(term)",
          value: .record(
            type: nil, [EdmPropertyValue(name: name, value: .boolean(false))], annotations: [])))
    }
    if !entity.operations.isDisjoint(with: [.update, .delete]) {
      set.annotations.append(
        EdmAnnotation(term: "\(Self.core).OptimisticConcurrency", value: .collection([])))
    }
    return set
  }
}
