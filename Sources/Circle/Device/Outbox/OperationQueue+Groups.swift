import FerryModel
import FerrySQLite
import FerryWire

/// What a synchronization of some groups sends: what is submitted on their entities, and with it all
/// that is replayed as one with that, of whatever group.
extension OperationQueue {
  /// Some operations as one message; `isLast` if nothing of these groups remains to be sent.
  struct OutgoingPart {
    let message: Replay
    let ids: [OperationID]
    let isLast: Bool
  }

  private func entities(of groups: [String]) -> SQLiteValue {
    let names = transaction.model.entities.filter { groups.contains($0.group) }.map(\.name)
    return .text(SQLiteValue.list(names.map(SQLiteValue.text)) ?? "[]")
  }

  static let isOfGroups = """
    chain IN (SELECT chain FROM ferry_operation WHERE entity IN (SELECT value FROM json_each(?1)))
    """

  func outgoing(of groups: [String]) throws(FerryError) -> OutgoingPart? {
    guard let replay = try outgoing(where: Self.isOfGroups, entities(of: groups)) else {
      return nil
    }
    return OutgoingPart(
      message: replay.message, ids: replay.ids,
      isLast: try transaction.value(
        """
        SELECT 1 FROM ferry_operation WHERE \(Self.isOutgoing) AND \(Self.isOfGroups)
        LIMIT 1 OFFSET ?2
        """, entities(of: groups), .integer(Int64(replay.ids.count))) == nil)
  }

  func hasOutgoing(of groups: [String]) throws(FerryError) -> Bool {
    try transaction.value(
      "SELECT 1 FROM ferry_operation WHERE \(Self.isOutgoing) AND \(Self.isOfGroups) LIMIT 1",
      entities(of: groups)) != nil
  }

  /// Whether anything on entities of these groups was sent and is not answered.
  func hasUnanswered(of groups: [String]) throws(FerryError) -> Bool {
    try transaction.value(
      """
      SELECT 1 FROM ferry_operation WHERE state IN ('submitted', 'withdrawn') AND sent = 1
      AND entity IN (SELECT value FROM json_each(?1)) LIMIT 1
      """, entities(of: groups)) != nil
  }
}
