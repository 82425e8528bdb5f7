import FerryModel
import FerryOData

/// Relationships as V2 declares them: an association with two ends, and the sets that it joins.
extension FaceMetadata {
  static let source = "Source"
  static let target = "Target"

  /// A relationship, seen from the entity that has it.
  struct Ends {
    let name: String
    let entity: Entity
    let relationship: Relationship
  }

  /// Each relationship that is a navigation property of one side or the other.
  var ends: [Ends] {
    faces.flatMap { face in
      face.entity.relationships.compactMap { relationship in
        guard faces.contains(where: { $0.entity.name == relationship.target }) else { return nil }
        return Ends(
          name: "\(face.entity.name)_\(relationship.name)", entity: face.entity,
          relationship: relationship)
      }
    }
  }

  /// The relationship behind a navigation property.
  func end(_ navigation: FaceModel.Navigation, _ entity: Entity) -> Ends {
    let isForward = isOfMany(navigation, entity)
    let owner = isForward ? entity.name : navigation.target
    let name = isForward ? navigation.name : navigation.partner
    guard
      let end = ends.first(where: { $0.entity.name == owner && $0.relationship.name == name })
    else { preconditionFailure("\(navigation.name) of \(entity.name) has no relationship") }
    return end
  }

  func association(_ ends: Ends) -> EdmAssociation {
    let (entity, relationship) = (ends.entity, ends.relationship)
    let isNeeded = relationship.attributes.allSatisfy { name in
      entity.attributes.first { $0.name == name }?.isNullable == false
    }
    var association = EdmAssociation(namespace: package.name, name: ends.name)
    association.ends = [
      EdmAssociation.End(
        role: Self.source, type: "\(package.name).\(entity.name)",
        multiplicity: entity.isOneToOne(relationship) ? "0..1" : "*"),
      EdmAssociation.End(
        role: Self.target, type: "\(package.name).\(relationship.target)",
        multiplicity: isNeeded ? "1" : "0..1",
        onDelete: relationship.isComposite ? "Cascade" : nil),
    ]
    let other = faces.first { $0.entity.name == relationship.target }?.entity
    let key = other?.key.compactMap { other?.attributes[$0].name } ?? []
    if key == relationship.targetAttributes {
      association.constraint = EdmAssociation.Constraint(
        principalRole: Self.target, principalProperties: relationship.targetAttributes,
        dependentRole: Self.source, dependentProperties: relationship.attributes)
    }
    return association
  }

  func associationSet(_ ends: Ends) -> EdmAssociationSet {
    let sets = [ends.entity.name, ends.relationship.target].map { name in
      faces.first { $0.entity.name == name }?.set ?? ""
    }
    return EdmAssociationSet(
      name: ends.name, association: "\(package.name).\(ends.name)",
      ends: [
        EdmAssociationSet.End(role: Self.source, entitySet: sets[0]),
        EdmAssociationSet.End(role: Self.target, entitySet: sets[1]),
      ])
  }
}
