import FerryConnector
import FerryModel

/// By what an operation is judged: the rights with which it arrived, and those that its user has at
/// the moment in which it is judged. Both must include a row.
struct JudgedRights: Sendable {
  let rules: PartitionRules
  let arrival: Rights
  /// Asked anew each time; nil where the user is gone, or may not use the package any more.
  let now: @Sendable () -> Rights?

  /// Whether the user may still log in and use the package.
  var isUserThere: Bool { now() != nil }

  func include(_ place: Place) -> Bool {
    arrival.include(place) && (now()?.include(place) ?? false)
  }

  /// The refusal where the user was removed or lacks a role, whatever the row is.
  func refusal(for kind: OperationKind, of entity: Entity) -> Refusal? {
    guard isUserThere else {
      return Refusal(code: 403, message: "This user may no longer change anything.")
    }
    return missingRole(for: kind, of: entity)
  }

  /// The refusal where the user lacks a role that the model asks for, then or now.
  func missingRole(for kind: OperationKind, of entity: Entity) -> Refusal? {
    guard let missing = missing(entity.permission(for: kind), of: entity) else { return nil }
    return Refusal(
      code: 403,
      message: "The roles of this user do not allow to "
        + "\(missing.rawValue) \(entity.name).")
  }

  private func missing(_ permission: Permission, of entity: Entity) -> Permission? {
    guard !entity.roles.isEmpty else { return nil }
    let now = now()
    return [Permission.read, permission].first { permission in
      !arrival.allow(permission, of: entity) || !(now?.allow(permission, of: entity) ?? false)
    }
  }

  /// Judges rows in the business transaction; nil where every row is everybody's.
  func judge(of entity: Entity, for kind: OperationKind) -> RowJudge? {
    guard rules.isJudged(entity), let position = rules.position(of: entity.name) else { return nil }
    return RowJudge(foreignReference: foreignReference(of: position)) {
      row, lookup throws(ConnectorError) in
      guard missingRole(for: kind, of: entity) == nil,
        let place = try rules.place(of: position, values: row, lookup: lookup)
      else { return false }
      return include(place)
    }
  }

  /// Only what the operation sets to another value is judged: a reference that the business system
  /// made across partitions stays.
  private func foreignReference(of entity: Int) -> RowJudge.References {
    { changed, before, lookup throws(ConnectorError) in
      for reference in rules.references[entity] {
        let path = reference.path
        guard
          path.attributes.contains(where: { position in
            changed[position].map { $0 != before?[position] } ?? false
          })
        else { continue }
        let count = rules.package.entities[entity].attributes.count
        var row = before ?? [AttributeValue](repeating: .null, count: count)
        for (position, value) in changed where row.indices.contains(position) {
          row[position] = value
        }
        guard let called = path.parentValues(of: row) else { continue }
        let target = rules.package.entities[path.target]
        guard let found = try lookup(target, path.targetPositions, called),
          let place = try rules.place(of: path.target, values: found, lookup: lookup),
          include(place)
        else { return reference.relationship }
      }
      return nil
    }
  }
}
