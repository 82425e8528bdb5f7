import FerryConnector
import FerryModel

/// Which connection a chain is replayed over.
extension PackageConnections {
  func position(of operations: [ConnectorOperation]) -> Int {
    operations.first.map { position(of: $0.entity.name) } ?? 0
  }

  /// Nothing is performed as one in two business systems: one could refuse what the other has done.
  /// Ferry's own devices refuse it when it is submitted.
  func refusal(
    of operations: [ConnectorOperation]
  ) -> (Int, Refusal)? {
    guard areSeveral, let first = operations.first?.entity,
      let place = operations.firstIndex(where: { $0.entity.connection != first.connection })
    else { return nil }
    let other = operations[place].entity
    return (
      place,
      Refusal(
        code: 422,
        message:
          "Changes of \(first.name) and \(other.name) cannot be performed as one: their rows "
          + "are in two business systems, \(first.shownConnection) and \(other.shownConnection).")
    )
  }
}
