import FerryModel
import FerryWire

/// What a device sent is taken in, and the device told so.
extension Service {
  func take(_ replay: Replay, _ state: inout ExchangeState) throws(ServerError) {
    // In one: what is stored and not enqueued would wait for the next start.
    let (receipt, missing) = try guarded { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        let receipt = try inbox.receive(
          replay, from: state.identity, state.owner, room: try room(of: state.owner))
        return (
          receipt,
          try receipt.received.map { received throws(StoreError) in
            try self.missing(received)
          }
        )
      }
    }
    // Sent again: it is open, whatever else the device has said.
    if queue.name(receipt.stored, of: state.owner) { core.arrivedOperations += 1 }
    if receipt.restored { core.memory.noteAnswersOfAnybody() }
    if !store.isShared {
      for (received, missing) in zip(receipt.received, missing) {
        enqueue(received, missing: missing)
      }
    } else if store.leads {
      // Behind what the device left at another node before.
      try catchUp()
    } else {
      try guarded { () throws(StoreError) in
        try store.tell(receipt.stored, of: state.owner, hasNews: false)
      }
    }
    for refused in receipt.refused { try giveUpContents(of: refused.id, state.identity.user) }
    let stored = Stored(ids: receipt.stored, refused: receipt.refused)
    state.ready += Message.stored(stored).frame.encoded()
    state.heldFor += receipt.stored
    if receipt.leftOut > 0 {
      world.log.warn(
        "a device or its user has too many unanswered operations",
        ("device", state.hello.device), ("user", state.identity.user))
      state.lastWord = WireFailure(
        .tooManyOperations,
        "\(receipt.leftOut) operations were not taken: \(limits.unansweredPerDevice) of a device, and "
          + "\(limits.unansweredPerUser) or \(limits.unansweredBytesPerUser >> 20) MB of its user, may "
          + "wait for their answers",
        hint: "The device keeps them and sends them again when earlier ones are answered.")
    }
    if let problem = receipt.unreadable {
      state.lastWord = WireFailure(
        .badMessage, "an operation cannot be read \(problem)",
        hint: "Update the app; its change is kept on the device.")
    }
  }

  private func room(of owner: Owner) throws(StoreError) -> Inbox.Room {
    let user = queue.load(of: owner.user)
    let waiting =
      try store.waiting(of: owner)
      ?? WaitingOperations(
        ofDevice: queue.load(of: owner).operations, ofUser: user.operations,
        bytesOfUser: user.bytes)
    return Inbox.Room(
      device: limits.unansweredPerDevice - waiting.ofDevice,
      user: limits.unansweredPerUser - waiting.ofUser,
      bytes: limits.unansweredBytesPerUser - waiting.bytesOfUser
    ) { chain in self.queue.begun(ReplayQueue.Name(owner: owner, chain: chain)) }
  }

  func take(_ report: Report, _ state: inout ExchangeState) throws(ServerError) {
    let kept = try guarded { () throws(StoreError) in
      try reports.keep(report, from: state.owner)
    }
    state.ready += Message.stored(Stored(ids: kept, refused: [])).frame.encoded()
  }
}
