import FerryModel
import FerryWire

/// The calls about users who ask without a device.
extension Service {
  func checkCaller(_ user: String) throws(ServerError) {
    defer { handOut() }
    _ = try callers.record(of: user)
  }

  func knows(_ id: OperationID, of user: String) throws(ServerError) -> Bool {
    defer { handOut() }
    return try callers.knows(id, of: user)
  }

  func earlier(
    _ id: OperationID, of user: String
  ) throws(ServerError) -> EarlierOperation? {
    defer { handOut() }
    return try callers.earlier(id, of: user)
  }

  func callerRows(
    of entity: Int, for user: String, after position: CallerPosition?, count: Int
  ) throws(ServerError) -> CallerPage {
    defer { handOut() }
    return try callers.rows(of: entity, for: user, after: position, count: count)
  }

  func callerRows(
    _ names: [RowName], for user: String
  ) throws(ServerError) -> [RowName: CallerRow] {
    defer { handOut() }
    return try callers.rows(names, for: user)
  }

  func callerMark(of entity: Int, for user: String) throws(ServerError) -> CallerMark? {
    defer { handOut() }
    return try callers.mark(of: entity, for: user)
  }

  func callerChanges(
    of entity: Int, for user: String, since mark: CallerMark, limit: Int
  ) throws(ServerError) -> CallerChanges {
    defer { handOut() }
    return try callers.changes(of: entity, for: user, since: mark, limit: limit)
  }

  /// What seals the marks that callers keep.
  func callerKey() throws(ServerError) -> [UInt8] {
    defer { handOut() }
    return try callers.accounts.secret("odata.key") { callers.world.chance.bytes(32) }
  }

  func take(
    _ chain: [Operation], _ bytes: [[UInt8]], for user: String
  ) throws(ServerError) -> CallerReceipt {
    defer { handOut() }
    return try callers.take(chain, bytes, for: user)
  }

  func callerAnswer(to id: OperationID, of user: String) throws(ServerError) -> Answer? {
    defer { handOut() }
    return try callers.answer(to: id, of: user)
  }

  func confirmCaller(_ answer: Answer, of user: String) throws(ServerError) {
    defer { handOut() }
    try callers.confirm(answer, of: user)
  }
}
