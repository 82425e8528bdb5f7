import FerryConnector
import FerryModel
import FerryServer
import FerryWire

// What travels, and what the server keeps of it.
extension WalkModel {
  func operation(_ payload: WalkPayload) -> Operation {
    Operation(
      id: id(payload.id), chain: id(payload.chain), position: Int(payload.position),
      count: Int(payload.count), entity: WalkModel.name, kind: WalkModel.kind(payload.kind),
      key: payload.key == 0 ? nil : key(payload.key), changed: values(payload.changed),
      base: values(payload.base))
  }

  func bytes(_ payload: WalkPayload) -> [UInt8] { operation(payload).encoded(for: entity) }

  /// What is remembered of an operation; its bytes stand for their hash.
  func known(_ entry: WalkStored) -> KnownOperation {
    let outcome: Answer.Outcome? =
      switch (entry.state, entry.outcome) {
      case (.stored, _): nil
      case (.unknown, _), (.answered, .none): .unknown
      case (.answered, .accepted): .replayResult
      case (.answered, .refused): .replayFailed
      case (.answered, .notTried): .notTried
      }
    return KnownOperation(
      user: ExactText(WalkModel.user), hash: bytes(entry.payload),
      state: entry.state == .stored ? .stored : .answered, outcome: outcome)
  }

  func connectorOperation(_ payload: WalkPayload) -> ConnectorOperation {
    let isNew = payload.kind == .create && payload.key == 0
    let temporary = payload.changed.key
    return ConnectorOperation(
      id: id(payload.id), entity: entity, kind: WalkModel.kind(payload.kind),
      key: payload.key == 0 ? nil : key(payload.key), changed: values(payload.changed),
      base: values(payload.base),
      temporaryKey: isNew && temporary != WalkValues.absent ? key(temporary) : nil)
  }

  func body(_ row: WalkRow) -> [UInt8] { RowCoder.encode(values(row)) }
}
