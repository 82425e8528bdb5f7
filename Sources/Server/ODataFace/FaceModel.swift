import FerryModel
import FerryOData

/// A package in the words of OData: each entity with rows is a set, each relationship a navigation
/// property in both directions.
///
/// Names are those of the model, and of sets their plural. What devices alone have, big values and
/// operations of the business system are left out.
struct FaceModel: Sendable {
  /// An entity with the names that OData has for it.
  struct Face: Sendable {
    let entity: Entity
    /// The position in the package.
    let position: Int
    let set: String
    /// Positions of the attributes that are properties.
    let shown: [Int]
    let navigations: [Navigation]
  }

  /// A navigation property, as one of its two ends has it.
  struct Navigation: Sendable {
    let name: String
    /// Name of the entity that it leads to.
    let target: String
    /// Names of the attributes here, and of those that must be equal there.
    let own: [String]
    let others: [String]
    let isCollection: Bool
    let isComposite: Bool
    /// The navigation property that leads back.
    let partner: String?
  }

  let package: Package
  let values: FaceValues
  let faces: [Face]
  let metadata: EdmMetadata
  private let bySet: [String: Int]

  init(_ package: Package, _ version: ODataVersion = .v4) {
    self.package = package
    let values = FaceValues(package: package, version: version)
    self.values = values
    let rows = package.entities.enumerated().filter { !$0.element.isOperation }
    var taken: Set<String> = []
    var faces: [Face] = []
    for (position, entity) in rows {
      let set = Naming.free(Naming.plural(entity.name), taken: &taken) { _ in nil }
      let shown = entity.attributes.indices.filter { values.isShown(entity.attributes[$0]) }
      faces.append(
        Face(
          entity: entity, position: position, set: set, shown: shown,
          navigations: FaceModel.navigations(of: entity, rows.map(\.element))))
    }
    self.faces = faces
    bySet = Dictionary(uniqueKeysWithValues: faces.enumerated().map { ($1.set, $0) })
    metadata = FaceMetadata(values, faces).metadata
  }

  func face(ofSet name: String) -> Face? { bySet[name].map { faces[$0] } }

  func face(ofEntity name: String) -> Face? { faces.first { $0.entity.name == name } }

  private static func navigations(of entity: Entity, _ all: [Entity]) -> [Navigation] {
    var taken = Set(entity.attributes.map { $0.name.lowercased() })
    taken.insert(entity.name.lowercased())
    var found: [Navigation] = []
    for relationship in entity.relationships
    where all.contains(where: { $0.name == relationship.target }) {
      guard taken.insert(relationship.name.lowercased()).inserted else { continue }
      found.append(
        Navigation(
          name: relationship.name, target: relationship.target, own: relationship.attributes,
          others: relationship.targetAttributes, isCollection: false, isComposite: false,
          partner: relationship.inverse))
    }
    for other in all {
      for relationship in other.relationships where relationship.target == entity.name {
        guard let name = relationship.inverse, taken.insert(name.lowercased()).inserted else {
          continue
        }
        found.append(
          Navigation(
            name: name, target: other.name, own: relationship.targetAttributes,
            others: relationship.attributes, isCollection: !other.isOneToOne(relationship),
            isComposite: relationship.isComposite, partner: relationship.name))
      }
    }
    return found
  }
}
