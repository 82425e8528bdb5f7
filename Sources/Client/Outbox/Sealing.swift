import FerryModel
import FerrySQLite
import FerryWire

// What is submitted gets its final bytes, or waits for what must end first.
extension Store {
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

  /// Fixes the bytes of what is submitted as one, or leaves it waiting where something must end first.
  func seal(_ members: [PendingOperation], _ connection: Connection) throws(FerryError) {
    let members = try sql { () throws(SQLiteError) in try self.joined(members, connection) }
    let verdict = try sql { () throws(SQLiteError) in
      var dependencies = Dependencies(self, connection)
      return try dependencies.verdict(on: members)
    }
    switch verdict {
    case .ready(let all): try send(all, connection)
    case .waits: try hold(members, connection)
    case .behind(let others):
      try hold(members, connection)
      try sql { () throws(SQLiteError) in try self.operations.mark(others, connection) }
    }
  }

  /// Members in the order in which they are performed, with their bytes.
  private func payloads(
    of members: [PendingOperation], _ connection: Connection
  ) throws(FerryError) -> [(member: PendingOperation, bytes: [UInt8])] {
    let references = try sql { () throws(SQLiteError) in
      try members.count > 1 ? self.references(of: members, connection) : []
    }
    var ordered = ChainMachine.ordered(members, references, in: model, newID: newOperationID)
    if world.has(.idAtSubmit) {
      for place in ordered.indices { ordered[place].id = newOperationID() }
    }
    guard let first = ordered.first else { return [] }
    guard ordered.count <= WireLimits.operationsInChain else {
      throw FerryError(
        .invalidChange,
        "\(ordered.count) changes are to be replayed as one, \(WireLimits.operationsInChain) can be",
        hint: "Change less in one transaction.", entity: first.entity)
    }
    for place in ordered.indices { ordered[place].chain = first.id }
    let payloads: [(member: PendingOperation, bytes: [UInt8])] = try ordered.enumerated().map {
      index, member throws(FerryError) in
      if let entity = self.model.entity(named: member.entity) {
        try Uploads(Transaction(self, connection)).check(member, entity)
        try self.checkReferences(member, entity, connection)
      }
      return (member, try self.payload(member, first.id, index, ordered.count))
    }
    let bytes = payloads.reduce(0) { $0 + $1.bytes.count }
    guard bytes <= WireLimits.chainBytes else {
      throw FerryError(
        .invalidChange,
        "\(ordered.count) changes that are to be replayed as one have \(bytes) bytes, "
          + "\(WireLimits.chainBytes) are allowed",
        hint: "Change less in one transaction, or make its texts and binary values smaller.",
        entity: first.entity)
    }
    return payloads
  }

  private func references(
    of members: [PendingOperation], _ connection: Connection
  ) throws(SQLiteError) -> [[ChainMachine.Reference]] {
    let references = References(self, connection)
    return try members.map { member throws(SQLiteError) in
      var image: [Value]?
      if member.kind != .create, let entity = self.model.entity(named: member.entity) {
        image = try self.rows(of: entity).original(connection, object: member.object)?.values
      }
      let made = try references.made(by: member)
      let ended = try references.ended(by: member, image: image)
      return made.map { ChainMachine.Reference($0, isMade: true) }
        + ended.map { ChainMachine.Reference($0, isMade: false) }
    }
  }

  private func send(
    _ members: [PendingOperation], _ connection: Connection
  ) throws(FerryError) {
    let payloads = try payloads(of: members, connection)
    let transaction = Transaction(self, connection)
    for (member, bytes) in payloads {
      var sealed = member.submitted(self)
      (sealed.wanted, sealed.state) = (.no, .submitted)
      try sql { () throws(SQLiteError) in
        if sealed.sequence == 0 {
          sealed.sequence = try self.operations.insert(
            sealed, made: self.world.clock.now.milliseconds, connection)
        } else {
          try self.operations.update(sealed, connection)
        }
      }
      guard let entity = model.entity(named: sealed.entity) else { continue }
      try transaction.run(
        "UPDATE ferry_operation SET payload = ? WHERE sequence = ?", .blob(bytes),
        .integer(sealed.sequence))
      try Uploads(transaction).note(sealed, entity)
      try sql { () throws(SQLiteError) in
        try self.show(entity, sealed.object, shown: nil, connection)
      }
    }
  }

  private func hold(
    _ members: [PendingOperation], _ connection: Connection
  ) throws(FerryError) {
    let chain = try payloads(of: members, connection).first?.member.id
    try sql { () throws(SQLiteError) in
      let references = References(self, connection)
      for member in members {
        var held = member.submitted(self)
        (held.wanted, held.state) = (.yes, .waiting)
        held.chain = chain ?? held.chain
        try self.operations.update(held, connection)
        try references.noteMade(by: held)
        guard let entity = self.model.entity(named: held.entity) else { continue }
        try self.show(entity, held.object, shown: nil, connection)
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

  /// Seals what is submitted and may be ready now: what may have waited for something that has ended
  /// or changed, and chains that lost a member after they were sealed. Called when answers have been
  /// taken, and before something is sent. What waits on is not looked at.
  ///
  /// True where something of it cannot be sent: the app is owed a callback of that.
  @discardableResult
  package func sealWanted(_ connection: Connection) throws(FerryError) -> Bool {
    var isRefused = false
    var marked = try sql { () throws(SQLiteError) in
      try References(self, connection).noteAll()
      return try self.operations.marked(connection)
    }
    while !marked.isEmpty {
      for mark in marked {
        // One that was looked at before may have taken it along, or a reference from it.
        let now = try sql { () throws(SQLiteError) in
          try self.operations.with(mark.id, connection)
        }
        guard let operation = now, operation.wanted == .again else { continue }
        let members = try sql { () throws(SQLiteError) in
          try self.chain(of: [operation], where: Store.isHeld, connection)
        }
        // A refused change goes again when the app says so, and with it what is replayed as one.
        if members.contains(where: { $0.state == .replayFailed }) {
          try sql { () throws(SQLiteError) in
            for var member in members where member.wanted == .again {
              member.wanted = .yes
              try self.operations.update(member, connection)
              try References(self, connection).noteMade(by: member)
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
      // Those that may go before another one; each time one of them goes.
      marked = try sql { () throws(SQLiteError) in try self.operations.marked(connection) }
    }
    return isRefused
  }
}

extension PendingOperation {
  /// It counts as submitted once, however often it is looked at.
  fileprivate func submitted(_ store: Store) -> PendingOperation {
    var submitted = self
    if wanted == .no { submitted.counter = store.counter(after: counter) }
    submitted.failure = 0
    return submitted
  }
}

extension ChainMachine.Reference {
  fileprivate init(_ target: References.Target, isMade: Bool) {
    self.init(
      target: ChainMachine.Name(entity: target.entity.name, key: Key(target.key)),
      positions: target.positions, isMade: isMade)
  }
}
