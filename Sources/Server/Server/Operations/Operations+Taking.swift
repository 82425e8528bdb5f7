import FerryModel
import FerryWire

/// What a device sent is taken in, and the device told so.
extension Operations {
  /// `problem`: why some were not taken.
  func take(
    _ replay: Replay, from identity: Identity, _ owner: Owner
  ) throws(ServerError) -> (stored: Stored, problem: WireFailure?) {
    // In one: what is stored and not enqueued would wait for the next start.
    let (receipt, missing) = try guarded { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        let receipt = try inbox.receive(
          replay, from: identity, owner, room: try room(of: owner))
        return (
          receipt,
          try receipt.received.map { received throws(StoreError) in
            try self.missing(received)
          }
        )
      }
    }
    // Sent again: it is open, whatever else the device has said.
    name(receipt.stored, of: owner)
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
        try store.tell(receipt.stored, of: owner, hasNews: false)
      }
    }
    for refused in receipt.refused { try giveUpContents(of: refused.id, identity.user) }
    let stored = Stored(ids: receipt.stored, refused: receipt.refused)
    var failure: WireFailure?
    if receipt.leftOut > 0 {
      world.log.warn(
        "a device or its user has too many unanswered operations",
        ("device", owner.device.text), ("user", identity.user))
      failure = WireFailure(
        .tooManyOperations,
        "\(receipt.leftOut) operations were not taken: \(limits.unansweredPerDevice) of a device, and "
          + "\(limits.unansweredPerUser) or \(limits.unansweredBytesPerUser >> 20) MB of its user, may "
          + "wait for their answers",
        hint: "The device keeps them and sends them again when earlier ones are answered.")
    }
    if let problem = receipt.unreadable {
      failure = WireFailure(
        .badMessage, "an operation cannot be read \(problem)",
        hint: "Update the app; its change is kept on the device.")
    }
    return (stored, failure)
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

  func take(_ report: Report, from owner: Owner) throws(ServerError) -> Stored {
    let kept = try guarded { () throws(StoreError) in
      try reports.keep(report, from: owner)
    }
    return Stored(ids: kept, refused: [])
  }
}
