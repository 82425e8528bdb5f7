import FerryConnector
import FerryModel

/// By what an operation is judged: the rights with which it arrived, and those that its user has at
/// the moment in which it is judged. Both must include a row.
struct JudgedRights: Sendable {
  let rules: PartitionRules
  let arrival: Rights
  /// Asked anew each time; nil where the user is gone.
  let now: @Sendable () -> Rights?

  /// Whether the user may still log in.
  var isUserThere: Bool { now() != nil }

  func include(_ place: Place) -> Bool {
    arrival.include(place) && (now()?.include(place) ?? false)
  }

  /// Judges rows in the business transaction; nil where every row is everybody's.
  func judge(of entity: Entity) -> RowJudge? {
    guard !entity.isOperation, let position = rules.position(of: entity.name),
      !rules.isForEveryone(position)
    else { return nil }
    return RowJudge { row, lookup throws(ConnectorError) in
      guard let place = try rules.place(of: position, values: row, lookup: lookup) else {
        return false
      }
      return include(place)
    }
  }
}
