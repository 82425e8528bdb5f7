import FerryModel
import FerrySQLite
import FerryWire

extension Store {
  /// Fixes the bytes of what is pending of an object and of everything that is replayed with it, or
  /// remembers the wish where something must be answered first (sync/P2).
  ///
  /// Returns what it submitted of the object and of what it owns, nothing where together that left
  /// nothing to send; nil when nothing is pending (sync/P4).
  package func submit(
    _ entity: Entity, _ object: Int64
  ) throws(FerryError) -> Set<OperationID>? {
    let found = try write { connection throws(FerryError) in
      try self.submit(entity, object, connection)
    }
    if found != nil { bell.ring() }
    return found
  }

  private func submit(
    _ entity: Entity, _ object: Int64, _ connection: Connection
  ) throws(FerryError) -> Set<OperationID>? {
    let own = ObjectReference(entity.name, object)
    let seeds = try sql { () throws(SQLiteError) in try self.unsealed(own, connection) }
    guard !seeds.isEmpty else { return nil }
    let members = try sql { () throws(SQLiteError) in try self.chain(of: seeds, connection) }
    try seal(members, connection)
    let places = Set(
      members.filter { $0.root == own || ObjectReference($0.entity, $0.object) == own }
        .map(\.sequence))
    let submitted = try sql { () throws(SQLiteError) in
      try self.submitted(entity, object, connection)
    }
    return Set(submitted.filter { places.contains($0.sequence) }.map(\.id))
  }

  /// What waits of the object itself, else of what it owns.
  func unsealed(
    _ object: ObjectReference, _ connection: Connection
  ) throws(SQLiteError) -> [PendingOperation] {
    let own = try operations.select(
      "WHERE entity = ? AND object = ? AND \(OperationTable.isUnsealed)",
      [.text(object.entity), .integer(object.object)], connection)
    guard own.isEmpty, model.entity(named: object.entity)?.ownsChildren == true else { return own }
    return try operations.select(
      "WHERE root_entity = ? AND root_object = ? AND \(OperationTable.isUnsealed)",
      [.text(object.entity), .integer(object.object)], connection)
  }

  /// Everything that waits and is replayed with these: the rest of their transactions, the rest of
  /// their composite graphs, and so on. In the order of the changes.
  ///
  /// `test` says what is asked for of what waits.
  func chain(
    of seeds: [PendingOperation], where test: String = OperationTable.isUnsealed,
    _ connection: Connection
  ) throws(SQLiteError) -> [PendingOperation] {
    var members: [Int64: PendingOperation] = [:]
    var chains: Set<OperationID> = []
    var roots: Set<ObjectReference> = []
    var queue = seeds
    while let next = queue.popLast() {
      guard members.updateValue(next, forKey: next.sequence) == nil else { continue }
      if chains.insert(next.chain).inserted {
        queue += try operations.select(
          "WHERE chain = ? AND \(test)", [.text(next.chain.text)], connection)
      }
      if roots.insert(next.root).inserted {
        queue += try operations.select(
          "WHERE root_entity = ? AND root_object = ? AND \(test)",
          [.text(next.root.entity), .integer(next.root.object)], connection)
      }
    }
    return members.values.sorted { $0.sequence < $1.sequence }
  }

  /// What was submitted and had to wait, and what was changed since, are one operation when it is
  /// submitted again.
  private func joined(
    _ members: [PendingOperation], _ connection: Connection
  ) throws(SQLiteError) -> [PendingOperation] {
    var changes: [ObjectReference: [PendingOperation]] = [:]
    for member in members {
      changes[ObjectReference(member.entity, member.object), default: []].append(member)
    }
    guard changes.count < members.count else { return members }
    var gone: [PendingOperation] = []
    var left: [PendingOperation] = []
    for member in members {
      guard let own = changes.removeValue(forKey: ObjectReference(member.entity, member.object))
      else { continue }
      let joined = try join(own, connection)
      gone += joined.gone
      // Two may have been submitted: where what kept them apart was recalled with a cancelled part.
      for id in joined.joined where own.contains(where: { $0.id == id && $0.wanted != .no }) {
        ended(
          AnsweredOperation(
            id: id, outcome: joined.left.map { .joined($0.id) } ?? .cancelled))
      }
      if let operation = joined.left { left.append(operation) }
    }
    guard !gone.isEmpty else { return left }
    try forget(gone, connection)
    // Others of the chain went with a new object that is gone, or gave their reference to it back.
    var rest: [PendingOperation] = []
    for member in left {
      rest += try operations.select("WHERE sequence = ?", [.integer(member.sequence)], connection)
    }
    return rest
  }

  func seal(_ members: [PendingOperation], _ connection: Connection) throws(FerryError) {
    let members = try sql { () throws(SQLiteError) in try self.joined(members, connection) }
    var ordered = ChainMachine.ordered(members, in: model)
    if world.has(.idAtSubmit) {
      for place in ordered.indices { ordered[place].id = newOperationID() }
    }
    guard let first = ordered.first else { return }
    guard ordered.count <= WireLimits.operationsInChain else {
      throw FerryError(
        .invalidChange,
        "\(ordered.count) changes are to be replayed as one, \(WireLimits.operationsInChain) can be",
        hint: "Change less in one transaction.", entity: first.entity)
    }
    let payloads = try ordered.enumerated().map { index, member throws(FerryError) in
      if let entity = self.model.entity(named: member.entity) {
        try self.checkContents(member, entity, connection)
        try self.checkReferences(member, entity, connection)
      }
      return try self.payload(member, first.id, index, ordered.count)
    }
    let bytes = payloads.reduce(0) { $0 + $1.count }
    guard bytes <= WireLimits.chainBytes else {
      throw FerryError(
        .invalidChange,
        "\(ordered.count) changes that are to be replayed as one have \(bytes) bytes, "
          + "\(WireLimits.chainBytes) are allowed",
        hint: "Change less in one transaction, or make its texts and binary values smaller.",
        entity: first.entity)
    }
    try sql { () throws(SQLiteError) in
      let own = Set(ordered.map(\.sequence))
      let awaited = try ordered.map { member throws(SQLiteError) in
        try self.awaited(by: member, besides: own, connection)
      }
      let ready = awaited.allSatisfy(\.isEmpty)
      // What they waited for before they were one must not wake a part of them below.
      for member in ordered { try self.operations.noteWait(of: member, for: [], connection) }
      for (place, payload) in payloads.enumerated() {
        var member = ordered[place]
        member.chain = first.id
        if member.wanted == .no { member.counter = self.counter(after: member.counter) }
        member.wanted = ready ? .no : .yes
        member.state = ready ? .submitted : .waiting
        member.failure = 0
        try self.operations.update(member, connection)
        try self.operations.noteWait(of: member, for: awaited[place], connection)
        guard let entity = self.model.entity(named: member.entity) else { continue }
        if ready {
          try connection.run(
            "UPDATE ferry_operation SET payload = ? WHERE sequence = ?", .blob(payload),
            .integer(member.sequence))
          try self.noteUploads(member, entity, connection)
        }
        try self.show(entity, member.object, shown: nil, connection)
      }
    }
  }

  /// The bytes of one member of a chain.
  private func payload(
    _ member: PendingOperation, _ chain: OperationID, _ position: Int, _ count: Int
  ) throws(FerryError) -> [UInt8] {
    guard let entity = model.entity(named: member.entity) else { return [] }
    let isNew = member.kind == .create && member.isTemporary
    var changed = member.changed
    // The others of a chain call a new object by its temporary key.
    if isNew, count > 1, let key = member.key.values(of: entity) {
      for (position, value) in zip(entity.key, key) { changed[position] = value }
    }
    if world.has(.lostAttribute), member.kind == .update, changed.count > 1,
      let last = changed.keys.max()
    {
      changed[last] = nil
    }
    let payload = Operation(
      id: member.id, chain: chain, position: position, count: count, entity: entity.name,
      kind: member.kind, key: isNew ? nil : member.key, changed: changed, base: member.base
    ).encoded(for: entity)
    guard payload.count <= WireLimits.operationBytes else {
      throw FerryError(
        .invalidChange,
        "the change of \(entity.name) \(member.key) has \(payload.count) bytes, "
          + "\(WireLimits.operationBytes) are allowed",
        hint: "Make its texts or binary values smaller.", entity: entity.name,
        attribute: longest(changed, entity))
    }
    return payload
  }

  private func longest(_ values: [Int: Value], _ entity: Entity) -> String? {
    let sizes = values.map { position, value -> (Int, Int) in
      switch value {
      case .text(let text): (text.utf8.count, position)
      case .bytes(let bytes): (bytes.count, position)
      default: (0, position)
      }
    }
    return sizes.max { $0 < $1 }.map { entity.attributes[$0.1].name }
  }

  /// Seals what was wanted and may be ready now: what waited for an operation that has ended, and
  /// chains that lost a member after they were sealed. Called when answers have been taken, and before
  /// something is sent. What waits on is not looked at.
  ///
  /// True where something of it cannot be sent: the app is owed a callback of that.
  @discardableResult
  package func sealWanted(_ connection: Connection) throws(FerryError) -> Bool {
    var isRefused = false
    let wanted = try sql { () throws(SQLiteError) in try self.operations.marked(connection) }
    var done: Set<Int64> = []
    for marked in wanted where !done.contains(marked.sequence) {
      // One that was refused before may have taken it along, or a reference from it.
      let now = try sql { () throws(SQLiteError) in
        try self.operations.with(marked.id, connection)
      }
      guard let operation = now, operation.wanted == .again else { continue }
      let members = try sql { () throws(SQLiteError) in
        // What was changed since is not submitted.
        try self.chain(
          of: [operation], where: "(wanted = 2 OR state = 'replayFailed')", connection)
      }
      done.formUnion(members.map(\.sequence))
      // A refused change goes again when the app says so, and with it what is replayed as one.
      if let refused = members.first(where: { $0.state == .replayFailed }) {
        try sql { () throws(SQLiteError) in
          for var member in members where member.wanted == .again {
            member.wanted = .yes
            try self.operations.update(member, connection)
            try self.operations.noteWait(of: member, for: [refused.sequence], connection)
          }
        }
        continue
      }
      // A savepoint: what was joined to be sealed is apart again where it cannot be.
      do throws(FerryError) {
        try write { _ throws(FerryError) in try seal(members, connection) }
      } catch {
        guard error.code == .invalidChange else { throw error }
        // It grew while it waited. The import must not fail for it.
        isRefused = true
        try sql { () throws(SQLiteError) in
          try self.refuseHere(members, for: error, connection)
        }
      }
    }
    return isRefused
  }

  /// The operations to send now, in order, as many as go into one message; they count as sent. The
  /// next exchange takes the rest.
  package func outgoing(_ connection: Connection) throws(SQLiteError) -> Replay? {
    let waiting = try connection.rows(
      """
      SELECT id, payload, may_have_run FROM ferry_operation
      WHERE \(Store.isOutgoing) ORDER BY sequence
      LIMIT \(WireLimits.operationsInFlight)
      """)
    guard !waiting.isEmpty else { return nil }
    var bytes = 0
    let rows = waiting.prefix { row in
      bytes += row[1].blob?.count ?? 0
      return bytes <= WireLimits.replayBytes
    }
    for row in rows {
      try connection.run("UPDATE ferry_operation SET sent = 1 WHERE id = ?", row[0])
    }
    return Replay(
      operations: rows.compactMap { $0[1].blob },
      mayHaveRun: rows.filter { $0[2].integer == 1 }.compactMap { OperationID($0[0].text ?? "") })
  }

  /// What is submitted and not acknowledged; and what was cancelled so, if others of its chain are
  /// there: the server performs a chain when it has all of it.
  private static let isOutgoing = """
    acknowledged = 0 AND state IN ('submitted', 'withdrawn') AND (state = 'submitted' OR EXISTS (
      SELECT 1 FROM ferry_operation AS other WHERE other.chain = ferry_operation.chain
        AND other.sequence <> ferry_operation.sequence))
    """

  /// Whether anything waits to be sent. Two questions: an "or" of both would look at everything.
  package func hasOutgoing(_ connection: Connection) throws(SQLiteError) -> Bool {
    let again = try connection.value(
      "SELECT 1 FROM ferry_operation WHERE wanted = 2 LIMIT 1")
    if again != nil { return true }
    return try connection.value(
      "SELECT 1 FROM ferry_operation WHERE \(Store.isOutgoing) LIMIT 1") != nil
  }

  /// Whether anything was sent, or may have been, and is not answered.
  package func hasUnanswered(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.value(
      """
      SELECT 1 FROM ferry_operation WHERE state IN ('submitted', 'withdrawn', 'unknown')
      AND sent = 1 LIMIT 1
      """) != nil
  }

  /// Operations that were sent, or may have been, and are not answered.
  package func unanswered(_ connection: Connection) throws(SQLiteError) -> [OperationID] {
    try connection.rows(
      """
      SELECT id FROM ferry_operation WHERE state IN ('submitted', 'withdrawn', 'unknown')
      AND sent = 1 ORDER BY sequence LIMIT \(WireLimits.operationsInFlight)
      """
    ).compactMap { OperationID($0[0].text ?? "") }
  }

  /// The server has these.
  package func acknowledge(_ ids: [OperationID], _ connection: Connection) throws(SQLiteError) {
    for id in ids {
      try connection.run(
        "UPDATE ferry_operation SET acknowledged = 1, may_have_run = 0 WHERE id = ?", .text(id.text)
      )
    }
  }

  /// Another server is asked from now on, which knows of no operation what became of it before.
  func mayHaveRun(_ connection: Connection) throws(SQLiteError) {
    try connection.run(
      "UPDATE ferry_operation SET acknowledged = 0, may_have_run = 1 WHERE sent = 1")
  }

  /// The server does not know an operation that was sent: it is sent again. If the server had
  /// acknowledged it, it was restored from an older state and must look before it performs. A
  /// withdrawn one is let go, unless others of its chain need it; should it have been done, the next
  /// import shows it.
  package func neverSeen(_ id: OperationID, _ connection: Connection) throws(SQLiteError) {
    let withdrawn = try operations.select(
      """
      WHERE id = ? AND state = 'withdrawn' AND NOT EXISTS (
        SELECT 1 FROM ferry_operation AS other WHERE other.chain = ferry_operation.chain
          AND other.sequence <> ferry_operation.sequence)
      """, [.text(id.text)], connection)
    for operation in withdrawn {
      try letGo(operation, connection)
      if let entity = model.entity(named: operation.entity) {
        try forgetKey(of: operation, entity, connection)
      }
    }
    try connection.run(
      """
      UPDATE ferry_operation SET acknowledged = 0, may_have_run = 1
      WHERE id = ? AND acknowledged = 1
      """, .text(id.text))
    try uploadAgain(id, connection)
  }
}
