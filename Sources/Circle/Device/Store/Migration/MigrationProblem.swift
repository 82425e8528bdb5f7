import FerryModel

/// Why a pending change cannot go over into a newer model.
struct MigrationProblem: Hashable, CustomStringConvertible {
  let entity: String
  let attribute: String?
  private let reason: String

  private init(_ entity: String, _ attribute: String?, _ reason: String) {
    self.entity = entity
    self.attribute = attribute
    self.reason = reason
  }

  var description: String { "\(entity)\(attribute.map { ".\($0)" } ?? ""), \(reason)" }

  /// Nil where it can.
  ///
  /// What still waits (`isOpen`) is judged as a save under the newer model would be, and would be
  /// refused after it was sent. What is on its way is the server's to judge; its bytes stay.
  /// `types`: those by whose limits the parts of complex values are judged. What did not fit before
  /// either was saved by a Ferry that did not judge them, and goes over.
  static func of(
    _ kind: OperationKind, _ changed: [Int: AttributeValue], isOpen: Bool, _ before: Entity,
    _ entity: Entity?, types: (before: [ComplexType], now: [ComplexType])
  ) -> MigrationProblem? {
    guard let entity else {
      return MigrationProblem(before.name, nil, "which the model no longer has")
    }
    let keys = (before.key.map { before.attributes[$0] }, entity.key.map { entity.attributes[$0] })
    guard keys.0.map(\.name) == keys.1.map(\.name), keys.0.map(\.type) == keys.1.map(\.type) else {
      return MigrationProblem(before.name, nil, "whose key is another one now")
    }
    if isOpen, !entity.operations.contains(kind) {
      return MigrationProblem(before.name, nil, "of which the model allows no \(kind.rawValue) now")
    }
    for (position, value) in changed.sorted(by: { $0.key < $1.key }) {
      let attribute = before.attributes[position]
      guard let place = entity.position(of: attribute.name) else {
        guard value.isNull else {
          return MigrationProblem(before.name, attribute.name, "which the model no longer has")
        }
        continue
      }
      if let problem = of(value, attribute, entity, place, isOpen, types) { return problem }
    }
    return isOpen && kind == .create ? missing(changed, before, entity) : nil
  }

  private static func of(
    _ value: AttributeValue, _ attribute: Attribute, _ entity: Entity, _ place: Int, _ isOpen: Bool,
    _ types: (before: [ComplexType], now: [ComplexType])
  ) -> MigrationProblem? {
    let type = entity.attributes[place].type
    guard type.canonical(value) != nil else {
      return MigrationProblem(
        entity.name, attribute.name, "\(value.shown) of which is no \(type.rawValue)")
    }
    let (_, misfit) = AttributeCheck.canonical(
      value, of: entity.attributes[place], types: types.now, isGiven: entity.isGiven(place))
    guard isOpen, let misfit else { return nil }
    if !misfit.part.isEmpty,
      AttributeCheck.canonical(value, of: attribute, types: types.before).misfit != nil
    {
      return nil
    }
    return MigrationProblem(
      entity.name, attribute.name + misfit.part, value.isNull ? required : "where \(misfit.problem)"
    )
  }

  private static let required = "which must have a value now"

  /// What a new object must have, this one lacks, and no default gives.
  private static func missing(
    _ changed: [Int: AttributeValue], _ before: Entity, _ entity: Entity
  ) -> MigrationProblem? {
    let given = Set(changed.filter { !$0.value.isNull }.map { before.attributes[$0.key].name })
    let attribute = entity.attributes.enumerated().first { position, attribute in
      position < entity.servedCount && !attribute.isNullable && attribute.defaultValue == nil
        && !entity.isGiven(position) && !given.contains(attribute.name)
    }
    return attribute.map { MigrationProblem(entity.name, $0.element.name, required) }
  }
}
