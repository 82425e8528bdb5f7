import FerryModel
import FerrySQLite
import FerryWire

/// What is submitted gets its final bytes, or waits for what must end first.
package struct ChainSealing {
  let transaction: Transaction

  package init(_ transaction: Transaction) { self.transaction = transaction }

  var store: Store { transaction.store }
  private var connection: Connection { transaction.connection }
  var pending: PendingStore { PendingStore(store, connection) }

  /// Submits what waits of an object, and all that is replayed with it; see `Outbox.submit`.
  func submit(
    _ entity: Entity, _ object: Int64
  ) throws(FerryError) -> Set<OperationID>? {
    let own = LocalObject(entity.name, object)
    let seeds = try unsealed(own)
    guard !seeds.isEmpty else { return nil }
    let members = try chain(of: seeds)
    try seal(members)
    let places = Set(
      members.filter { $0.root == own || LocalObject($0.entity, $0.object) == own }
        .map(\.sequence))
    let submitted = try SubmittedOperations(transaction).of(own)
    return Set(submitted.filter { places.contains($0.sequence) }.map(\.id))
  }

  /// What waits of the object itself, else of what it owns.
  func unsealed(_ object: LocalObject) throws(FerryError) -> [PendingOperation] {
    try transaction.sql { connection throws(SQLiteError) in
      try Chains(self.store, connection).unsealed(object)
    }
  }

  /// Everything that waits and is replayed with these; see `Chains.of`.
  func chain(of seeds: [PendingOperation]) throws(FerryError) -> [PendingOperation] {
    try transaction.sql { connection throws(SQLiteError) in
      try Chains(self.store, connection).of(seeds)
    }
  }

  /// What was submitted and had to wait, and what was changed since, are one operation when it is
  /// submitted again.
  private func joined(
    _ members: [PendingOperation]
  ) throws(SQLiteError) -> [PendingOperation] {
    var changes: [LocalObject: [PendingOperation]] = [:]
    for member in members {
      changes[LocalObject(member.entity, member.object), default: []].append(member)
    }
    guard changes.count < members.count else { return members }
    var gone: [PendingOperation] = []
    var left: [PendingOperation] = []
    for member in members {
      guard let own = changes.removeValue(forKey: LocalObject(member.entity, member.object))
      else { continue }
      let joined = try pending.join(own)
      gone += joined.gone
      // Two may have been submitted: where what kept them apart was recalled with a cancelled part.
      for part in joined.joined where part.wanted != .no {
        store.ended(
          AnsweredOperation(part, joined.left.map { .joined($0.id) } ?? .cancelled))
      }
      if let operation = joined.left { left.append(operation) }
    }
    guard !gone.isEmpty else { return left }
    try pending.forget(gone)
    // Others of the chain went with a new object that is gone, or gave their reference to it back.
    var rest: [PendingOperation] = []
    for member in left {
      rest += try pending.operations.select("WHERE sequence = ?", [.integer(member.sequence)])
    }
    return rest
  }

  /// Fixes the bytes of what is submitted as one, or leaves it waiting where something must end first.
  func seal(_ members: [PendingOperation]) throws(FerryError) {
    let members = try transaction.sql { connection throws(SQLiteError) in try self.joined(members) }
    let verdict = try transaction.sql { connection throws(SQLiteError) in
      var dependencies = Dependencies(self.store, connection)
      return try dependencies.verdict(on: members)
    }
    switch verdict {
    case .ready(let all): try send(all)
    case .waits: try hold(members)
    case .behind(let others):
      try hold(members)
      try transaction.sql { connection throws(SQLiteError) in
        try pending.operations.mark(others)
      }
    }
  }

  /// Members in the order in which they are performed, with their bytes.
  private func payloads(
    of members: [PendingOperation]
  ) throws(FerryError) -> [(member: PendingOperation, bytes: [UInt8])] {
    let references = try transaction.sql { connection throws(SQLiteError) in
      try members.count > 1 ? self.references(of: members) : []
    }
    var ordered = ChainMachine.ordered(members, references, in: store.model)
    if store.world.has(.idAtSubmit) {
      for place in ordered.indices { ordered[place].id = store.newOperationID() }
    }
    guard let first = ordered.first else { return [] }
    guard ordered.count <= WireLimits.operationsInChain else {
      throw FerryError(
        .tooLarge,
        "\(ordered.count) changes are to be replayed as one, \(WireLimits.operationsInChain) can be",
        hint: "Change less in one transaction.", entity: first.entity)
    }
    try checkConnections(ordered)
    for place in ordered.indices { ordered[place].chain = first.id }
    let payloads: [(member: PendingOperation, bytes: [UInt8])] = try ordered.enumerated().map {
      index, member throws(FerryError) in
      if let entity = self.store.model.entity(named: member.entity) {
        try Uploads(self.transaction).check(member, entity)
        try self.checkReferences(member, entity)
      }
      return (member, try self.payload(member, first.id, index, ordered.count))
    }
    let bytes = payloads.reduce(0) { $0 + $1.bytes.count }
    guard bytes <= WireLimits.chainBytes else {
      throw FerryError(
        .tooLarge,
        "\(ordered.count) changes that are to be replayed as one have \(bytes) bytes, "
          + "\(WireLimits.chainBytes) are allowed",
        hint: "Change less in one transaction, or make its texts and binary values smaller.",
        entity: first.entity)
    }
    return payloads
  }

  private func references(
    of members: [PendingOperation]
  ) throws(SQLiteError) -> [[ChainMachine.Reference]] {
    let references = References(self.store, connection)
    return try members.map { member throws(SQLiteError) in
      var image: [AttributeValue]?
      if member.kind != .create, let entity = self.store.model.entity(named: member.entity) {
        image = try self.store.rows(of: entity).original(connection, object: member.object)?.values
      }
      let made = try references.made(by: member)
      let ended = try references.ended(by: member, image: image)
      return made.map { ChainMachine.Reference($0, isMade: true) }
        + ended.map { ChainMachine.Reference($0, isMade: false) }
    }
  }

  private func send(
    _ members: [PendingOperation]
  ) throws(FerryError) {
    let payloads = try payloads(of: members)
    var parts: [PendingOperation] = []
    for (member, bytes) in payloads {
      var sealed = member.submitted(in: pending)
      (sealed.wanted, sealed.state) = (.no, .submitted)
      try transaction.sql { connection throws(SQLiteError) in
        if sealed.sequence == 0 {
          sealed.sequence = try pending.operations.insert(
            sealed, made: self.store.world.clock.now.milliseconds)
          parts.append(sealed)
        } else {
          try pending.operations.update(sealed)
        }
      }
      guard let entity = store.model.entity(named: sealed.entity) else { continue }
      try transaction.run(
        "UPDATE ferry_operation SET payload = ? WHERE sequence = ?", .blob(bytes),
        .integer(sealed.sequence))
      try Uploads(transaction).note(sealed, entity)
    }
    try transaction.sql { connection throws(SQLiteError) in
      // What the app has changed since goes behind what a change was parted in.
      for part in parts {
        let own = try pending.operations.select(
          "WHERE entity = ? AND (object = ? OR key = ?) ORDER BY sequence",
          [.text(part.entity), .integer(part.object), .text(part.key.text)])
        for later in PendingMachine.behind(part, own) { try pending.operations.moveToEnd(later) }
      }
      for (member, _) in payloads {
        guard let entity = self.store.model.entity(named: member.entity) else { continue }
        try pending.show(entity, member.object, shown: nil)
      }
    }
  }

  private func hold(
    _ members: [PendingOperation]
  ) throws(FerryError) {
    let chain = try payloads(of: members).first?.member.id
    try transaction.sql { connection throws(SQLiteError) in
      let references = References(self.store, connection)
      for member in members {
        var held = member.submitted(in: pending)
        (held.wanted, held.state) = (.yes, .waiting)
        held.chain = chain ?? held.chain
        try pending.operations.update(held)
        try references.noteMade(by: held)
        guard let entity = self.store.model.entity(named: held.entity) else { continue }
        try pending.show(entity, held.object, shown: nil)
      }
    }
  }

  /// The bytes of one member of a chain.
  func payload(
    _ member: PendingOperation, _ chain: OperationID, _ position: Int, _ count: Int
  ) throws(FerryError) -> [UInt8] {
    guard let entity = store.model.entity(named: member.entity) else { return [] }
    let isNew = member.kind == .create && member.isTemporary
    var changed = member.changed
    // The others of a chain call a new object by its temporary key.
    if isNew, count > 1, let key = member.key.values(of: entity) {
      for (position, value) in zip(entity.key, key) { changed[position] = value }
    }
    let payload = Operation(
      id: member.id, chain: chain, position: position, count: count, entity: entity.name,
      kind: member.kind, key: isNew ? nil : member.key, changed: changed, base: member.base
    ).encoded(for: entity)
    guard payload.count <= WireLimits.operationBytes else {
      throw FerryError(
        .tooLarge,
        "the change of \(member.title) has \(payload.count) bytes, "
          + "\(WireLimits.operationBytes) are allowed",
        hint: "Make its texts or binary values smaller, or give the attribute the type bigString "
          + "or bigBinary in the model.",
        entity: entity.name,
        attribute: longest(changed, entity))
    }
    return payload
  }

  private func longest(_ values: [Int: AttributeValue], _ entity: Entity) -> String? {
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
  package func sealWanted() throws(FerryError) -> Bool {
    var isRefused = false
    var marked = try transaction.sql { connection throws(SQLiteError) in
      try References(self.store, connection).noteAll()
      return try pending.operations.marked()
    }
    while !marked.isEmpty {
      for mark in marked {
        // One that was looked at before may have taken it along, or a reference from it.
        let now = try transaction.sql { connection throws(SQLiteError) in
          try pending.operations.with(mark.id)
        }
        guard let operation = now, operation.wanted == .again else { continue }
        let members = try transaction.sql { connection throws(SQLiteError) in
          try Chains(self.store, connection).of([operation], where: Chains.isHeld)
        }
        // A refused change goes again when the app says so, and with it what is replayed as one.
        if members.contains(where: { $0.state == .replayFailed }) {
          try transaction.sql { connection throws(SQLiteError) in
            for var member in members where member.wanted == .again {
              member.wanted = .yes
              try pending.operations.update(member)
              try References(self.store, connection).noteMade(by: member)
            }
          }
          continue
        }
        // A savepoint: what was joined to be sealed is apart again where it cannot be.
        do throws(FerryError) {
          try store.withTransaction { _ throws(FerryError) in try seal(members) }
        } catch {
          guard error.code.keepsChange else { throw error }
          // It grew while it waited. The import must not fail for it.
          isRefused = true
          try transaction.sql { _ throws(SQLiteError) in try refuse(members, for: error) }
        }
      }
      // Those that may go before another one; each time one of them goes.
      marked = try transaction.sql { connection throws(SQLiteError) in
        try pending.operations.marked()
      }
    }
    return isRefused
  }

  /// Refuses a change that refers to a new object which is no more: nobody will ever replace its
  /// temporary key, and no business system may see that.
  func checkReferences(
    _ member: PendingOperation, _ entity: Entity
  ) throws(FerryError) {
    let made = try transaction.sql { connection throws(SQLiteError) in
      try References(self.store, connection).made(by: member).filter(\.isTemporary)
    }
    for reference in made {
      let target = reference.entity
      let isThere = try transaction.sql { connection throws(SQLiteError) in
        let create = try connection.value(
          "SELECT 1 FROM ferry_operation WHERE entity = ? AND key = ? AND kind = 'create' LIMIT 1",
          .text(target.name), .text(ObjectKey(reference.key).text))
        guard create == nil else { return true }
        return try self.store.rows(of: target).visible(connection, key: reference.key) != nil
      }
      guard !isThere else { continue }
      throw FerryError(
        .invalidReference,
        "the \(member.kind.rawValue) of \(member.title) refers to a new \(target.name) that is "
          + "not in this database: it was deleted after its create was refused, or is of another database",
        hint: "Let it refer to another one, or cancel it.", entity: entity.name,
        attribute: reference.relationship.attributes.first)
    }
  }
}

extension PendingOperation {
  /// It counts as submitted once, however often it is looked at.
  fileprivate func submitted(in pending: PendingStore) -> PendingOperation {
    var submitted = self
    if wanted == .no { submitted.counter = pending.counter(after: counter) }
    submitted.failure = 0
    return submitted
  }
}

extension ChainMachine.Reference {
  fileprivate init(_ target: References.Target, isMade: Bool) {
    self.init(
      target: ChainMachine.Name(entity: target.entity.name, key: ObjectKey(target.key)),
      positions: target.positions, isMade: isMade)
  }
}
