import FerryCrypto
import FerryJSON
import FerryModel
import FerryWire
import FerryWorld

/// Takes operations in, each once.
struct Inbox {
  struct Receipt {
    var stored: [OperationID] = []
    var refused: [Answer] = []
    var received: [ReceivedOperation] = []
    /// Operations for which there was no room; the device sends them again.
    var leftOut: Int = 0
    /// Whether an answer that was confirmed is to be given again.
    var restored: Bool = false
    /// Why bytes were no operation at all.
    var unreadable: String?
  }

  /// What a device and its user may still leave here until some of it is answered.
  struct Room {
    /// Operations of the device, and of all devices of the user.
    var device: Int
    var user: Int
    /// Of all devices of the user. Negative where groups that had begun needed more.
    var bytes: Int
    var begun: (OperationID) -> Begun?

    /// A group that has begun.
    struct Begun {
      let bytes: Int
      /// It did not come whole in time: what comes of it now is not tried.
      let isOver: Bool
    }

    /// A group is asked for as a whole, before its first operation: half a group that fills the room
    /// would wait for a rest that has none.
    mutating func takes(_ chain: OperationID, of count: Int, bytes new: Int) -> Bool {
      if begun(chain) != nil {
        guard bytes - new >= -WireLimits.chainBytes else { return false }
        bytes -= new
        return true
      }
      guard count <= device, count <= user, new <= bytes else { return false }
      device -= count
      user -= count
      bytes -= new
      return true
    }
  }

  let store: any Store
  let package: Package
  let limits: ServiceLimits
  let world: World

  /// One durable transaction; what it says is stored is stored.
  func receive(
    _ replay: Replay, from identity: Identity, _ owner: Owner, room: Room
  ) throws(StoreError) -> Receipt {
    try store.transaction { () throws(StoreError) in
      var receipt = Receipt()
      let machine = InboxMachine(
        package: package, user: owner.user, bigValueBytes: limits.bigValueBytes,
        takesChosenKeys: world.has(.chosenKey))
      var room = room
      let mayHaveRun = Set(replay.mayHaveRun)
      var new: [Arrival] = []
      var spoiled: Set<OperationID> = []
      for (bytes, hash, known) in try arrivals(replay) {
        switch machine.judge(bytes, hash: hash, known: known) {
        case .store(let operation): new.append((operation, bytes, hash))
        case .known(let id, let isEmptied):
          if isEmptied {
            try restoreAnswer(id)
            receipt.restored = true
          }
          receipt.stored.append(id)
        case .refuse(let id, let refused):
          if let chain = chain(of: bytes) { spoiled.insert(chain) }
          receipt.refused.append(answer(id, refused))
        case .unreadable(let problem): receipt.unreadable = problem
        }
      }
      var taken: [NewOperation] = []
      let chains = Inbox.chains(new)
      let there = try store.members(of: chains.map(\.0), owner)
      for (chain, members) in chains {
        let bytes = members.reduce(0) { $0 + $1.bytes.count }
        let problem =
          spoiled.contains(chain)
          ? ""
          : self.problem(
            members.map(\.0), bytes: bytes + (room.begun(chain)?.bytes ?? 0), there[chain] ?? [])
        if let problem {
          receipt.refused += members.map { notTried($0.0, problem) }
        } else if room.begun(chain)?.isOver
          ?? there[chain]?.contains(where: { $0.outcome == .notTried }) ?? false
        {
          // The group was answered before all of it had come.
          receipt.refused += members.map { member in
            Answer(
              id: member.0.id, version: 0, outcome: .notTried, newKey: nil, logRecords: [],
              isToBeSentAgain: true)
          }
        } else if let count = members.first?.0.count,
          !room.takes(chain, of: count, bytes: bytes)
        {
          receipt.leftOut += members.count
          // What comes behind it waits with it, so that nothing changes places.
          room.device = 0
        } else {
          taken += members.map { operation, bytes, hash in
            NewOperation(
              operation: operation, bytes: bytes, hash: hash, owner: owner, roles: identity.roles,
              claims: identity.claims, mayHaveRun: mayHaveRun.contains(operation.id))
          }
          receipt.stored += members.map(\.0.id)
        }
      }
      receipt.received = try store.receive(taken)
      return receipt
    }
  }

  private typealias Arrival = (Operation, bytes: [UInt8], hash: [UInt8])

  /// The same bytes twice in one message are one operation.
  private func arrivals(
    _ replay: Replay
  ) throws(StoreError) -> [([UInt8], hash: [UInt8], known: KnownOperation?)] {
    var hashes: Set<[UInt8]> = []
    var found: [(bytes: [UInt8], hash: [UInt8], id: OperationID?)] = []
    for bytes in replay.operations {
      let hash = SHA256Digest.hash(bytes)
      guard hashes.insert(hash).inserted else { continue }
      found.append((bytes, hash, try? Operation.identity(of: bytes)))
    }
    let ids = Array(Set(found.compactMap(\.id)))
    var known: [OperationID: KnownOperation] = [:]
    for (id, operation) in zip(ids, try store.known(ids)) { known[id] = operation }
    return found.map { ($0.bytes, $0.hash, $0.id.flatMap { known[$0] }) }
  }

  /// The device keeps these answers.
  func confirm(_ confirm: Confirm, user: String) throws(StoreError) {
    guard !confirm.answers.isEmpty else { return }
    try store.confirm(confirm.answers, upTo: confirm.version, user: user)
  }

  /// What is known of operations that the device says are open. An answer that was confirmed once
  /// is told again: the device may be a restored copy.
  func statuses(
    _ open: [OperationID], user: String
  ) throws(StoreError) -> (list: [OperationStatus], restored: Bool, elsewhere: [OperationID]) {
    guard !open.isEmpty else { return ([], false, []) }
    var restored = false
    var elsewhere: [OperationID] = []
    let list = try zip(open, try store.known(open)).map { id, known throws(StoreError) in
      guard let known, known.user == ExactText(user) else {
        return OperationStatus(id: id, state: .neverSeen)
      }
      if known.state == .confirmed {
        try restoreAnswer(id)
        restored = true
      }
      if known.isElsewhere { elsewhere.append(id) }
      let isAnswered = known.state == .answered || known.state == .confirmed
      return OperationStatus(id: id, state: isAnswered ? .answered : .inWork)
    }
    return (list, restored, elsewhere)
  }

  /// The reason of a refusal went with the answer that was confirmed; that it was refused stays.
  private func restoreAnswer(_ id: OperationID) throws(StoreError) {
    guard let ended = try store.ended(id) else { return }
    var records: [LogRecord] = []
    if ended.outcome == .replayFailed {
      let refused = InboxMachine.Refused(
        component: ended.entity, kind: ended.kind, entityKey: ended.objectKey,
        message:
          "this change was refused before; the reason was reported then and is no longer stored")
      records = answer(id, refused).logRecords
    }
    let made = Answer(
      id: id, version: ended.version, outcome: ended.outcome, newKey: ended.newKey,
      logRecords: records)
    try store.answerAgain(id, ended.answer ?? made.json)
  }

  /// Why the members of a chain can never be performed together; nil when they can.
  private func problem(
    _ members: [Operation], bytes: Int, _ there: [ChainMember]
  ) -> String? {
    guard let first = members.first else { return nil }
    guard bytes <= WireLimits.chainBytes else {
      return "the operations of one group have \(bytes) bytes; \(WireLimits.chainBytes) are allowed"
    }
    guard members.allSatisfy({ $0.count == first.count }) else {
      return "the operations of one group have different counts"
    }
    let taken = Set(there.map(\.position))
    let places = Set(members.map(\.position))
    guard places.count == members.count, Set(members.map(\.id)).count == members.count,
      taken.isDisjoint(with: places),
      there.allSatisfy({ $0.count == first.count })
    else { return "two operations of one group have the same position" }
    return nil
  }

  /// In the order of their first members.
  private static func chains(
    _ operations: [(Operation, bytes: [UInt8], hash: [UInt8])]
  )
    -> [(OperationID, [(Operation, bytes: [UInt8], hash: [UInt8])])]
  {
    var order: [OperationID] = []
    var members: [OperationID: [(Operation, bytes: [UInt8], hash: [UInt8])]] = [:]
    for operation in operations {
      if members[operation.0.chain] == nil { order.append(operation.0.chain) }
      members[operation.0.chain, default: []].append(operation)
    }
    return order.map { ($0, members[$0] ?? []) }
  }

  private func chain(of bytes: [UInt8]) -> OperationID? {
    (try? JSONNode.parse(bytes, depthLimit: WireLimits.nesting))?["chain"]?.string
      .flatMap { OperationID($0) }
  }

  private func notTried(_ operation: Operation, _ problem: String) -> Answer {
    if problem.isEmpty {
      return Answer(id: operation.id, version: 0, outcome: .notTried, newKey: nil, logRecords: [])
    }
    return answer(
      operation.id,
      InboxMachine.Refused(
        component: operation.entity, kind: operation.kind, entityKey: operation.key?.text ?? "",
        message: problem))
  }

  private func answer(_ id: OperationID, _ refused: InboxMachine.Refused) -> Answer {
    let record = LogRecord(
      component: refused.component, entityKey: refused.entityKey, code: 422,
      message: refused.message, operation: refused.kind, requestID: id,
      timestamp: world.clock.now.milliseconds, level: .error)
    return Answer(id: id, version: 0, outcome: .replayFailed, newKey: nil, logRecords: [record])
  }
}
