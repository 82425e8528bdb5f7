import FerryConnector
import FerryModel

/// A load of all entities of one connection, or of all, while it lasts.
package struct LoadTicket: Sendable, Hashable {
  let number: Int64
  /// Noted before the business system was asked.
  package let mark: Mark
  /// Whether no load has ended before it: devices see nothing until it has.
  let isFirst: Bool
  /// Nil: all connections.
  let connection: Int?
  /// The names of the entities that it reads; nil: all of the connection.
  let entities: [String]?

  var kind: LoadKind { LoadKind(connection: connection, entities: entities) }
}

/// What tells loads apart that confirm each other.
struct LoadKind: Hashable {
  let connection: Int?
  let entities: [String]?
}

/// What `Service.endLoad` did.
package enum LoadStep: Sendable, Equatable {
  /// A part was applied; call `endLoad` again.
  case again
  case done(LoadSummary)
}

/// What a load came to.
package struct LoadSummary: Sendable, Equatable {
  /// Rows that were new or different, and rows that were gone.
  package var changedRows: Int = 0
  package var deletedRows: Int = 0
  /// Objects that `nextReadBack` will ask for: somebody changed them meanwhile.
  package var readAgain: Int = 0
  /// Partitions in which so much was missing that a second load must say the same.
  package var doubtedPartitions: [Int64] = []
}

struct ActiveLoad {
  let ticket: LoadTicket
  /// Whether the cache may have rows that the load does not give.
  let compares: Bool
  var summary = LoadSummary()
}

/// Objects of one entity to be read from the business system.
package struct ReadBackTask: Sendable {
  package let id: Int64
  package let entity: Entity
  package let keys: [ObjectKey]
  let mark: Mark
}

/// Loads and read-backs.
extension Intake {
  /// Call it before the business system is asked. A load that was not ended is forgotten.
  ///
  /// `connection`: the one that is read; nil: all of them, as in a first load. `entities`: the names of
  /// those that are read; nil: all.
  func beginLoad(
    of connection: Int? = nil, only entities: [String]? = nil
  ) throws(ServerError) -> LoadTicket {
    if let load { abandonLoad(load.ticket) }
    try guarded { () throws(StoreError) in try loads.begin() }
    let isFirst = try !isLoaded()
    let compares = isFirst ? try hasRows() : true
    core.lastTask += 1
    let ticket = LoadTicket(
      number: core.lastTask, mark: core.marks.begin(clock: try clock()), isFirst: isFirst,
      connection: connection, entities: isFirst ? nil : entities)
    load = ActiveLoad(ticket: ticket, compares: compares)
    let isFollowed = entities?.allSatisfy { !core.cacheGroups.governs($0) } ?? true
    for index in followed.indices where isFollowed && connection.map({ $0 == index }) ?? true {
      followed[index].cursors.loadBegan()
    }
    return ticket
  }

  /// Takes rows as the load brings them.
  func stage(_ ticket: LoadTicket, _ entity: Entity, _ rows: [RowImage]) throws(ServerError) {
    guard load?.ticket == ticket, let position = rules.position(of: entity.name) else { return }
    let batch = LoadCoder(rules: rules).batch(position, rows, isFirst: ticket.isFirst)
    for piece in batch.pieces(of: limits.firstLoadRows) { try take(ticket, piece) }
  }

  /// Takes a batch that was encoded already; in a first load one numbered transaction.
  func take(_ ticket: LoadTicket, _ batch: LoadBatch) throws(ServerError) {
    guard let load, load.ticket == ticket else { return }
    let moment = core.marks.tick()
    if ticket.isFirst {
      try takeFirst(batch, load, moment: moment)
    } else {
      try guarded { () throws(StoreError) in try loads.stage(batch, moment: moment) }
    }
    tell(rejected: batch.rejected)
  }

  /// Keeps why a row of the business system is not in the cache.
  func stage(_ ticket: LoadTicket, rejected row: RejectedRow) throws(ServerError) {
    guard load?.ticket == ticket else { return }
    tell(rejected: [row])
    try guarded { () throws(StoreError) in try store.stage(rejected: [row]) }
  }

  /// The load broke. Of a first load rows stay in the cache, where nobody sees them; the next one
  /// compares with them. Of another one nothing is applied.
  func abandonLoad(_ ticket: LoadTicket) {
    guard load?.ticket == ticket else { return }
    load = nil
    core.marks.end(ticket.mark)
  }

  /// The load ended properly: applies what differs. Call it until it says `.done`.
  ///
  /// `coverage`: what it has read; nil: every row, as at one moment. A first load reads every row.
  /// `unwritten`: objects whose images of a replay are not written yet.
  func endLoad(
    _ ticket: LoadTicket, _ coverage: LoadCoverage? = nil,
    unwritten: @autoclosure () -> Set<ObjectName>
  ) throws(ServerError) -> LoadStep {
    guard load?.ticket == ticket else { return .done(LoadSummary()) }
    let limit = ticket.isFirst ? limits.firstLoadRows : limits.loadRows
    let compares = load?.compares ?? true
    let staged = try guarded { () throws(StoreError) in try store.nextStaged(limit: limit) }
    let isLast = staged.count < limit
    let (absences, doubted) =
      try isLast && compares
      ? guarded { () throws(StoreError) in
        try believed(loads.absences(of: ticket.entities), coverage)
      }
      : ([], [])
    var machine = loadMachine(of: ticket.kind)
    let verdict = machine.judge(absences)
    var summary = load?.summary ?? LoadSummary()
    var later: [ObjectName: Int64] = [:]
    var all: RejectedRows?
    let (fresh, made) = try writeRows { transaction, machine throws(StoreError) in
      try store.dropStaged(staged.map(\.name))
      for row in staged { try apply(row, ticket, &machine, &summary, &later) }
      guard isLast else { return (Set<Int64>(), []) }
      for row in verdict.deleted {
        let isDoubted = doubted.contains(row)
        try delete(row, isDoubted: isDoubted, ticket, &machine, &summary, &later)
      }
      let entities =
        ticket.entities
        ?? ticket.connection.map { connection in
          connections.entities(package.entities, of: connection).map(\.name)
        }
      let fresh = try store.closeLoad(transaction, of: entities)
      all = try store.rejectedRows()
      return (fresh, [])
    }
    loads.see(made)
    for (name, moment) in later { readLater(name, metAt: moment) }
    summary.readAgain += later.count
    load?.summary = summary
    guard isLast else { return .again }
    keep(machine, of: ticket.kind)
    summary.doubtedPartitions = verdict.doubted
    load = nil
    let read = package.entities.filter { coverage?.isWhole($0) ?? true }
    for entity in read { core.marks.verify(entity: entity.name, since: ticket.mark) }
    core.marks.end(ticket.mark)
    // A look that waits for this load waits for the one that confirms it, or that reads everything.
    let whole = verdict.doubted.isEmpty ? followed.indices.filter { isWhole($0, read) } : []
    for connection in whole {
      noteLoaded(ticket.number, of: connection, unwritten: unwritten())
    }
    if !verdict.doubted.isEmpty {
      world.log.error(
        "a load has far fewer rows than before; it is used only if a second load gives the same result",
        ("partitions", verdict.doubted.map(String.init).joined(separator: ",")))
    }
    core.memory.committedAll()
    if let all { rejectedRows = all }
    core.tellChanged(partitions: fresh, answered: [])
    for connection in whole {
      followed[connection].cursors.loadEnded(names: toBeRead(unwritten(), of: connection))
      keepCursor(of: connection)
    }
    return .done(summary)
  }

  /// Whether all entities of a connection are among these.
  private func isWhole(_ connection: Int, _ read: [Entity]) -> Bool {
    let names = Set(read.map(\.name))
    let all = connections.entities(package.entities, of: connection)
    return core.cacheGroups.followed(all).allSatisfy { names.contains($0.name) }
  }

  private func apply(
    _ row: StagedRow, _ ticket: LoadTicket, _ machine: inout CacheMachine,
    _ summary: inout LoadSummary, _ later: inout [ObjectName: Int64]
  ) throws(StoreError) {
    let name = ObjectName(entity: package.entities[row.name.entity].name, key: row.name.key)
    let (version, isThere) = try cache.state(of: name)
    if mayBeOld(name, version, isThere: isThere, ticket, readAt: row.moment) {
      later[name] = row.moment
    } else {
      try machine.apply(row.name, try loads.values(of: row), cache)
      summary.changedRows += 1
    }
  }

  /// Whether what a load read may be older than what is known, or than what is being done.
  func mayBeOld(
    _ name: ObjectName, _ version: Int64?, isThere: Bool, _ ticket: LoadTicket,
    readAt moment: Int64
  ) -> Bool {
    // The business system may give the key of an object that is gone to another.
    let mayBeNew = !isThere && core.claims.mayHaveCreated(name.entity, readAt: moment)
    let isTouched = core.marks.isTouched(name, version: version, since: ticket.mark)
    let isClaimed = (core.claims.holds(name) || mayBeNew) && !world.has(.loadIgnoresClaim)
    return isClaimed || isTouched
  }

  /// The absences that may be deletions, and the rows among them that must be absent twice: they are
  /// read by their keys, and deleted where they are not there either.
  private func believed(
    _ absences: [LoadMachine.Absence], _ coverage: LoadCoverage?
  ) throws(StoreError) -> (absences: [LoadMachine.Absence], doubted: Set<Int64>) {
    guard let coverage else { return (absences, []) }
    var doubted: Set<Int64> = []
    var believed: [LoadMachine.Absence] = []
    for absence in absences {
      var absence = absence
      let place = absence.partition == 0 ? nil : try cache.place(of: absence.partition)
      var rows: [Int64] = []
      for row in absence.rows {
        guard let (name, _) = try store.name(ofRow: row) else { continue }
        var place = place
        if place == nil, rules.limited.contains(name.entity), let known = try store.row(name) {
          place = try cache.placeWithoutWindow(of: known)
        }
        switch coverage.absence(of: name.entity, at: place, rules) {
        case .nothing: continue
        case .doubt: doubted.insert(row)
        case .gone: break
        }
        rows.append(row)
      }
      absence.rows = rows
      if !rows.isEmpty { believed.append(absence) }
    }
    return (believed, doubted)
  }

  private func delete(
    _ row: Int64, isDoubted: Bool, _ ticket: LoadTicket, _ machine: inout CacheMachine,
    _ summary: inout LoadSummary, _ later: inout [ObjectName: Int64]
  ) throws(StoreError) {
    guard let (found, version) = try store.name(ofRow: row) else { return }
    let name = ObjectName(entity: package.entities[found.entity].name, key: found.key)
    // A row written since the mark may be newer than the load: rows of this very load are not here.
    if isDoubted || core.claims.holds(name)
      || core.marks.isTouched(name, version: version, since: ticket.mark)
    {
      later[name] = core.marks.moment
    } else {
      try machine.apply(found, nil, cache)
      summary.deletedRows += 1
    }
  }

  /// A row that was not there waits for the creates that may have made it: those that were claimed
  /// when it was first met. Later ones do not count, so that it does not wait for ever.
  func readLater(_ name: ObjectName, metAt moment: Int64) {
    if readAgain[name] == nil { readAgain[name] = moment }
  }

  /// Objects that must be read again and that nobody is changing at present; nil when there are
  /// none. Ask after each load and after each replay. `connection`: only what it has; nil: any.
  func nextReadBack(of connection: Int? = nil) throws(ServerError) -> ReadBackTask? {
    let busy = Set(
      reads.values.flatMap { task in
        task.keys.map { ObjectName(entity: task.entity.name, key: $0) }
      })
    var free: [ObjectName] = []
    for name in readAgain.keys.sorted() where !core.claims.holds(name) && !busy.contains(name) {
      if let connection, connections.position(of: name.entity) != connection { continue }
      if try !mayBeNew(name, metAt: readAgain[name] ?? 0) { free.append(name) }
    }
    guard let first = free.first, let entity = package.entity(named: first.entity) else {
      return nil
    }
    let keys = free.prefix { $0.entity == first.entity }.prefix(limits.readBackKeys).map(\.key)
    core.lastTask += 1
    let task = ReadBackTask(
      id: core.lastTask, entity: entity, keys: Array(keys),
      mark: core.marks.begin(clock: try clock()))
    reads[task.id] = task
    for key in keys { readAgain[ObjectName(entity: first.entity, key: key)] = nil }
    return task
  }

  /// Whether the object may be the work of a create that is not answered.
  private func mayBeNew(_ name: ObjectName, metAt moment: Int64) throws(ServerError) -> Bool {
    guard core.claims.mayHaveMade(name.entity, readAt: moment) else { return false }
    return try guarded { () throws(StoreError) in try !cache.state(of: name).isThere }
  }

  /// Applies what was read. Objects that were touched meanwhile are asked for once more.
  ///
  /// `unwritten`: objects whose images of a replay are not written yet. Gives what was put into the
  /// cache or left out.
  func finish(
    _ task: ReadBackTask, _ rows: [RowImage], unwritten: @autoclosure () -> Set<ObjectName>
  ) throws(ServerError) -> [ObjectName] {
    guard reads.removeValue(forKey: task.id) != nil else { return [] }
    defer { core.marks.end(task.mark) }
    guard rules.position(of: task.entity.name) != nil else { return [] }
    let later: Set<ObjectName>
    let met: MetRows
    do throws(ServerError) {
      (later, met) = try write(rows, readSince: task.mark)
    } catch {
      // The store did not take them; they are read once more.
      readAgain(task)
      throw error
    }
    for name in later { readLater(name, metAt: task.mark.moment) }
    for name in met.names { core.marks.confirm(name) }
    tell(met)
    settled(
      task.keys.lazy.map { ObjectName(entity: task.entity.name, key: $0) }, unwritten: unwritten())
    return met.names
  }

  /// Writes rows as they were read after the mark, but for those that were touched since.
  func write(
    _ rows: [RowImage], readSince mark: Mark
  ) throws(ServerError) -> (later: Set<ObjectName>, met: MetRows) {
    try write { _, machine throws(StoreError) in
      var later: Set<ObjectName> = []
      var met = MetRows()
      for row in rows {
        guard let position = rules.position(of: row.entity) else { continue }
        let name = ObjectName(entity: row.entity, key: row.key)
        let (version, isThere) = try cache.state(of: name)
        // A create that may have run was claimed while it was read.
        let mayBeNew =
          !isThere && core.claims.mayHaveMade(name.entity, readAt: Claims.always)
        if core.claims.holds(name) || mayBeNew
          || core.marks.isTouched(name, version: version, since: mark)
        {
          later.insert(name)
        } else {
          try met.take(row, position, &machine, cache)
        }
      }
      try keep(&met)
      return ((later, met), [])
    }
  }

  /// The business system could not be asked; the objects stay to be read.
  func abandon(_ task: ReadBackTask) {
    guard reads.removeValue(forKey: task.id) != nil else { return }
    core.marks.end(task.mark)
    readAgain(task)
  }

  private func readAgain(_ task: ReadBackTask) {
    for key in task.keys {
      readLater(ObjectName(entity: task.entity.name, key: key), metAt: task.mark.moment)
    }
  }
}
