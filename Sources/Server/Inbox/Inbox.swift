import FerryCrypto
import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// An operation that the server has taken in.
struct ReceivedOperation {
  let sequence: Int64
  let device: String
  let user: String
  let roles: [String]
  let claims: [String: [String]]
  let operation: Operation
  let mayHaveRun: Bool
  /// As it travelled.
  let bytes: Int

  var owner: Owner { Owner(device: device, user: user) }
}

/// Takes operations in, each once.
struct Inbox {
  struct Receipt {
    var stored: [OperationID] = []
    var refused: [Answer] = []
    var received: [ReceivedOperation] = []
    /// Operations for which there was no room; the device sends them again.
    var leftOut: Int = 0
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

  let store: Store
  let limits: ServiceLimits

  /// One durable transaction; what it says is stored is stored.
  func receive(
    _ replay: Replay, from identity: Identity, device: String, room: Room
  ) throws(SQLiteError) -> Receipt {
    try store.writer.transaction { () throws(SQLiteError) in
      var receipt = Receipt()
      let machine = InboxMachine(
        package: store.package, user: ExactText(identity.user),
        bigValueBytes: limits.bigValueBytes, takesChosenKeys: store.world.has(.chosenKey))
      var room = room
      let mayHaveRun = Set(replay.mayHaveRun)
      var new: [(Operation, bytes: [UInt8], hash: [UInt8])] = []
      var hashes: Set<[UInt8]> = []
      var spoiled: Set<OperationID> = []
      for bytes in replay.operations {
        let hash = SHA256Digest.hash(bytes)
        // The same bytes twice in one message are one operation.
        guard hashes.insert(hash).inserted else { continue }
        let known = try (try? Operation.identity(of: bytes)).flatMap { id throws(SQLiteError) in
          try self.known(id)
        }
        switch machine.judge(bytes, hash: hash, known: known) {
        case .store(let operation): new.append((operation, bytes, hash))
        case .known(let id, let isEmptied):
          if isEmptied { try restoreAnswer(id) }
          receipt.stored.append(id)
        case .refuse(let id, let refused):
          if let chain = chain(of: bytes) { spoiled.insert(chain) }
          receipt.refused.append(answer(id, refused))
        case .unreadable(let problem): receipt.unreadable = problem
        }
      }
      for (chain, members) in Inbox.chains(new) {
        let bytes = members.reduce(0) { $0 + $1.bytes.count }
        let problem =
          try spoiled.contains(chain)
          ? ""
          : self.problem(
            members.map(\.0), bytes: bytes + (room.begun(chain)?.bytes ?? 0), identity, device)
        if let problem {
          receipt.refused += members.map { notTried($0.0, problem) }
        } else if try isOver(chain, room, identity, device) {
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
          for member in members {
            let received = try keep(member, identity, device, mayHaveRun.contains(member.0.id))
            receipt.received.append(received)
            receipt.stored.append(member.0.id)
          }
        }
      }
      return receipt
    }
  }

  /// The device keeps these answers: payload and answer are emptied; what remains knows the
  /// operation again, from today on for as long as operations are remembered.
  func confirm(_ confirm: Confirm, user: String) throws(SQLiteError) {
    guard !confirm.answers.isEmpty else { return }
    try store.writer.transaction { () throws(SQLiteError) in
      for id in confirm.answers {
        try store.writer.run(
          """
          UPDATE operation SET state = 'confirmed', payload = NULL, answer = NULL,
            day = (SELECT days FROM server)
          WHERE id = ? AND user = ? AND state = 'answered' AND answer_version <= ?
            AND outcome <> 'unknown'
          """, .text(id.text), .text(user), .integer(confirm.version))
        try store.writer.run(
          """
          UPDATE operation SET state = 'confirmed'
          WHERE id = ? AND user = ? AND state = 'answered' AND answer_version <= ?
          """, .text(id.text), .text(user), .integer(confirm.version))
      }
    }
  }

  /// What is known of operations that the device says are open. An answer that was confirmed once
  /// is told again: the device may be a restored copy.
  func statuses(_ open: [OperationID], user: String) throws(SQLiteError) -> [OperationStatus] {
    var statuses: [OperationStatus] = []
    for id in open {
      guard let known = try known(id), known.user == ExactText(user) else {
        statuses.append(OperationStatus(id: id, state: .neverSeen))
        continue
      }
      if known.state == .confirmed { try restoreAnswer(id) }
      let isAnswered = known.state == .answered || known.state == .confirmed
      statuses.append(OperationStatus(id: id, state: isAnswered ? .answered : .inWork))
    }
    return statuses
  }

  /// Chains of the device whose operations are all answered, and some not confirmed.
  func finishedChains(device: String, user: String) throws(SQLiteError) -> [OperationID] {
    try store.writer.rows(
      """
      SELECT chain FROM operation WHERE device = ? AND user = ? AND package = ?
        AND state IN ('stored', 'claimed', 'answered')
      GROUP BY chain HAVING sum(state <> 'answered') = 0 ORDER BY min(sequence)
      """, .text(device), .text(user), .integer(store.packageNumber)
    ).compactMap { $0[0].text.flatMap { OperationID($0) } }
  }

  private func known(_ id: OperationID) throws(SQLiteError) -> InboxMachine.Known? {
    let row = try store.writer.row(
      "SELECT user, hash, state, outcome FROM operation WHERE id = ?", .text(id.text))
    guard let row, let user = row[0].text, let hash = row[1].blob,
      let state = row[2].text.flatMap(OperationState.init(rawValue:))
    else { return nil }
    return InboxMachine.Known(
      user: ExactText(user), hash: hash, state: state,
      outcome: row[3].text.flatMap(Answer.Outcome.init(rawValue:)))
  }

  /// The reason of a refusal went with the answer that was confirmed; that it was refused stays.
  private func restoreAnswer(_ id: OperationID) throws(SQLiteError) {
    let row = try store.writer.row(
      """
      SELECT outcome, answer_version, new_key, answer, entity, kind, object_key FROM operation
      WHERE id = ?
      """, .text(id.text))
    guard let row, let outcome = row[0].text.flatMap(Answer.Outcome.init(rawValue:)),
      let version = row[1].integer
    else { return }
    var records: [LogRecord] = []
    if outcome == .replayFailed {
      let refused = InboxMachine.Refused(
        component: row[4].text ?? "",
        kind: row[5].text.flatMap(OperationKind.init(rawValue:)) ?? .update,
        entityKey: row[6].text ?? "",
        message: "this change was refused before; its reason was told then and is not kept")
      records = answer(id, refused).logRecords
    }
    let answer =
      row[3].blob
      ?? Answer(
        id: id, version: version, outcome: outcome, newKey: row[2].text.map { Key(text: $0) },
        logRecords: records
      ).json
    try store.writer.run(
      "UPDATE operation SET state = 'answered', answer = ? WHERE id = ?", .blob(answer),
      .text(id.text))
  }

  private func keep(
    _ member: (Operation, bytes: [UInt8], hash: [UInt8]), _ identity: Identity, _ device: String,
    _ mayHaveRun: Bool
  ) throws(SQLiteError) -> ReceivedOperation {
    let operation = member.0
    let group = store.package.entity(named: operation.entity)?.group ?? ""
    try store.writer.run(
      """
      INSERT INTO operation
        (id, device, user, roles, claims, package, chain, position, count, entity, kind, object_key,
         group_name, payload, hash, state, may_have_run, day)
      SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'stored', ?, days FROM server
      """, .text(operation.id.text), .text(device), .text(identity.user),
      .text(ClaimText.encode(roles: identity.roles)), .text(ClaimText.encode(identity.claims)),
      .integer(store.packageNumber),
      .text(operation.chain.text), .integer(Int64(operation.position)),
      .integer(Int64(operation.count)), .text(operation.entity), .text(operation.kind.rawValue),
      .optional(operation.key?.text), .text(group), .blob(member.bytes), .blob(member.hash),
      .flag(mayHaveRun))
    return ReceivedOperation(
      sequence: store.writer.lastInsertRowID, device: device, user: identity.user,
      roles: identity.roles, claims: identity.claims, operation: operation, mayHaveRun: mayHaveRun,
      bytes: member.bytes.count)
  }

  /// The plus signs: found by the chain, which is a handful, and not by looking through all that the
  /// device ever sent, as SQLite would rather.
  static let membersOfChain: String =
    "SELECT position, count FROM operation WHERE chain = ? AND +user = ? AND +device = ?"

  /// Whether a group was answered before all of it had come.
  private func isOver(
    _ chain: OperationID, _ room: Room, _ identity: Identity, _ device: String
  ) throws(SQLiteError) -> Bool {
    if let begun = room.begun(chain) { return begun.isOver }
    return try store.writer.rows(
      Inbox.outcomesOfChain, .text(chain.text), .text(identity.user), .text(device)
    ).contains { $0[0].text == Answer.Outcome.notTried.rawValue }
  }

  private static let outcomesOfChain: String =
    "SELECT outcome FROM operation WHERE chain = ? AND +user = ? AND +device = ?"

  /// Why the members of a chain can never be performed together; nil when they can.
  private func problem(
    _ members: [Operation], bytes: Int, _ identity: Identity, _ device: String
  )
    throws(SQLiteError) -> String?
  {
    guard let first = members.first else { return nil }
    guard bytes <= WireLimits.chainBytes else {
      return "the operations of one group have \(bytes) bytes; \(WireLimits.chainBytes) are allowed"
    }
    guard members.allSatisfy({ $0.count == first.count }) else {
      return "the operations of one group do not agree on how many they are"
    }
    let there = try store.writer.rows(
      Inbox.membersOfChain, .text(first.chain.text), .text(identity.user), .text(device))
    let taken = Set(there.compactMap { $0[0].integer.map(Int.init) })
    let places = Set(members.map(\.position))
    guard places.count == members.count, Set(members.map(\.id)).count == members.count,
      taken.isDisjoint(with: places),
      there.allSatisfy({ $0[1].integer == Int64(first.count) })
    else { return "two operations of one group have the same place" }
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
      timestamp: store.world.clock.now.milliseconds, level: .error)
    return Answer(id: id, version: 0, outcome: .replayFailed, newKey: nil, logRecords: [record])
  }
}
