import FerryModel
import FerrySQLite
import FerryWire

extension Outbox {
  /// Submits everything that is pending of one entity (sync/P3).
  package func submitAll(_ entity: Entity) throws(FerryError) { try submitAll([entity]) }

  /// Submits everything that is pending of these entities, a thousand objects in each transaction.
  ///
  /// What cannot be sent stays as it is and holds up nothing else; the first of it is thrown when all
  /// others are submitted.
  package func submitAll(_ entities: [Entity]) throws(FerryError) {
    var round = SubmitRound()
    for entity in entities {
      try eachThousand(of: entity) { objects, transaction throws(FerryError) in
        for object in objects { try self.submit(entity, object, &round, transaction) }
      }
    }
    if let error = round.error { throw error }
  }

  package func cancelAll(_ entity: Entity) throws(FerryError) { try cancelAll([entity]) }

  /// Discards everything that is pending of these entities, a thousand objects in each transaction
  /// (sync/P20).
  package func cancelAll(_ entities: [Entity]) throws(FerryError) {
    for entity in entities {
      try eachThousand(of: entity) { objects, transaction throws(FerryError) in
        for object in objects {
          _ = try PendingStore(self.store, transaction.connection).cancel(entity, object)
        }
        try transaction.sql { connection throws(SQLiteError) in
          try Contents(self.store).sweep(connection)
        }
      }
    }
  }

  /// Runs `body` for the pending objects of an entity, in transactions of a thousand.
  private func eachThousand(
    of entity: Entity, _ body: (ArraySlice<Int64>, Transaction) throws(FerryError) -> Void
  ) throws(FerryError) {
    var rest = try pendingObjects(entity)[...]
    while !rest.isEmpty {
      let now = rest.prefix(WireLimits.operationsInFlight)
      rest = rest.dropFirst(now.count)
      try store.withTransaction { transaction throws(FerryError) in try body(now, transaction) }
      store.bell.ring()
    }
  }

  private func submit(
    _ entity: Entity, _ object: Int64, _ round: inout SubmitRound,
    _ transaction: Transaction
  ) throws(FerryError) {
    let sealing = ChainSealing(transaction)
    let seeds = try sealing.unsealed(LocalObject(entity.name, object))
    guard seeds.contains(where: { !round.tried.contains($0.sequence) }) else { return }
    let members = try sealing.chain(of: seeds)
    round.tried.formUnion(members.map(\.sequence))
    do throws(FerryError) {
      try store.withTransaction { _ throws(FerryError) in try sealing.seal(members) }
    } catch {
      guard error.code.keepsChange else { throw error }
      if round.first == nil { round.first = error }
      round.stayed.formUnion(members.map { LocalObject($0.entity, $0.object) })
    }
  }

  private func pendingObjects(_ entity: Entity) throws(FerryError) -> [Int64] {
    try store.withSnapshot { transaction throws(FerryError) in
      try transaction.rows(
        """
        SELECT object FROM ferry_operation WHERE entity = ? AND state <> 'withdrawn'
        GROUP BY object ORDER BY min(sequence)
        """, .text(entity.name)
      ).compactMap { $0[0].integer }
    }
  }
}

/// What one call submits, and what stays.
private struct SubmitRound {
  /// By sequence: what is replayed as one is tried once.
  var tried: Set<Int64> = []
  var stayed: Set<LocalObject> = []
  var first: FerryError?

  var error: FerryError? {
    first.map { error in
      FerryError(
        error.code,
        "\(error.message); \(stayed.count) pending \(stayed.count == 1 ? "object" : "objects") "
          + "could not be submitted, everything else was",
        hint: error.hint, entity: error.entity, attribute: error.attribute, cause: error.cause)
    }
  }
}
