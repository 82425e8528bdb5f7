import FerryModel
import FerrySQLite
import FerryWire

/// What a device sent is taken in, and the device told so.
extension Service {
  func take(_ replay: Replay, _ state: inout ExchangeState) throws(ServerError) {
    let receipt = try guarded { () throws(SQLiteError) in
      try inbox.receive(replay, from: state.identity, device: state.hello.device)
    }
    // Sent again: it is open, whatever else the device has said.
    if queue.name(receipt.stored, of: state.owner) { arrivedOperations += 1 }
    for received in receipt.received {
      let missing = try guarded { () throws(SQLiteError) in try self.missing(received) }
      enqueue(received, missing: missing)
    }
    for refused in receipt.refused { try giveUpContents(of: refused.id, state.identity.user) }
    let stored = Stored(ids: receipt.stored, refused: receipt.refused)
    state.ready += Message.stored(stored).frame.encoded()
    if receipt.leftOut > 0 {
      world.log.warn("a device has too many unanswered operations", ("device", state.hello.device))
      state.lastWord = WireFailure(
        .tooManyOperations,
        "\(receipt.leftOut) operations were not taken; \(limits.unansweredPerDevice) wait already",
        hint: "They are kept on the device and sent again when some of these are answered.")
    }
    if let problem = receipt.unreadable {
      state.lastWord = WireFailure(
        .badMessage, "an operation cannot be read \(problem)",
        hint: "Update the app; its change is kept on the device.")
    }
  }

  func take(_ report: Report, _ state: inout ExchangeState) throws(ServerError) {
    let kept = try guarded { () throws(SQLiteError) in
      try reports.keep(report, from: state.identity, device: state.hello.device)
    }
    state.ready += Message.stored(Stored(ids: kept, refused: [])).frame.encoded()
  }
}
