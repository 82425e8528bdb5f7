import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerrySQLite
import FerrySQLiteStore
import FerryServer
import FerryStoreConformance
import FerryWire
import FerryWorld

/// The server of the simulation: the very service that ships, stepped by hand as its hosts do it.
final class SimulatedServer {
  let folder: String
  private let package: Package
  let business: MemoryBusiness
  /// In place of a database, and what its connector does wrong.
  private let behind: (service: SimulatedService, flaws: Set<AttemptMachine.Flaw>)?
  let users: SimulatedUsers
  let clock: SimulatedClock
  private let world: World
  private let chance: SeededChance
  private let ledger: Ledger
  private let planted: Set<PlantedBug>
  private(set) var disk = SimulatedDisk()
  /// What the server asks of the users.
  private(set) var provider: any AuthenticationProvider
  private var running: Service?
  /// Counts starts.
  private(set) var life = 0
  private var replay: SimulatedReplay?
  private var load: SimulatedLoad?
  private var isLoadWanted = true
  /// How far the changes of others were followed; nil if the business system has no cursors.
  private var cursor: String?
  /// What the business system hinted at, before the service has it, and for how many steps.
  private var hinted: (changes: BusinessChanges, steps: Int)?
  /// The look that it was.
  private var looking: Int64?
  /// Rows that were read before the load began that will give them.
  private var early: EarlyRows?
  private var readBack: (task: ReadBackTask, rows: [RowImage])?
  /// Rows that a load lacked although the business system has them.
  private(set) var withheld: Set<RowName> = []
  private(set) var tornLoads = 0
  private(set) var truncatedLoads = 0
  /// What the replays of earlier lives came to.
  private var ended = SimulatedReplay.Counts()
  var hasFaults = true

  init(
    folder: String, package: Package, business: MemoryBusiness,
    service: (SimulatedService, Set<AttemptMachine.Flaw>)?, users: SimulatedUsers, world: World,
    clock: SimulatedClock, chance: SeededChance, ledger: Ledger, planted: Set<PlantedBug>
  ) {
    self.planted = planted
    provider = users
    self.ledger = ledger
    self.folder = folder
    self.package = package
    self.business = business
    behind = service
    self.users = users
    self.world = world
    self.clock = clock
    self.chance = chance
  }

  /// Small, so that rounds have many pages, leaves are purged and days count.
  static let limits: ServiceLimits = {
    var limits = ServiceLimits()
    limits.pageRows = 3
    limits.longestHoldSeconds = 60
    limits.roundRows = 8
    limits.firstLoadRows = 7
    limits.loadRows = 9
    limits.massDeletionRows = 2
    limits.readBackKeys = 3
    limits.tombstonesKept = 2
    limits.tombstoneDays = 3
    limits.operationMemoryDays = 12
    limits.bigValueBytes = MadeContents.limitBytes
    limits.contentDays = 2
    return limits
  }()

  var isRunning: Bool { running != nil }

  var service: Service {
    guard let running else { preconditionFailure("the server is not running") }
    return running
  }

  var storePath: String { "\(folder)/server.sqlite" }

  /// Starts the server, for the first time or again; everything in memory is gone, what was
  /// committed is there. Throws where the disk fails.
  func start() throws(ServerError) {
    stop()
    life += 1
    var limits = SimulatedServer.limits
    if planted.contains(.endlessRound) { (limits.roundRows, limits.roundBytes) = (.max, .max) }
    let service = try Service(
      package: package, world: world, limits: limits
    ) { package throws(ServerError) in
      let store = try SQLiteStore(folder: folder, package: package, world: world, vfs: disk.vfs)
      return planted.isEmpty ? store : FlawedStore(store, planted)
    }
    provider = planted.isEmpty ? users : FlawedUsers(users, planted)
    service.provider = provider
    if business.notesChanges {
      cursor = try service.sourceCursor()
      isLoadWanted = cursor == nil
    }
    running = service
    let connector: any Connector =
      behind.map { ServiceConnector($0.service, business, clock, flaws: $0.flaws) }
      ?? MemoryConnector(business)
    replay = SimulatedReplay(
      service: service, business: business, connector: connector, world: world, chance: chance,
      ledger: ledger, users: users, planted: planted)
  }

  func stop() {
    // The folder's lock goes with the old service.
    running = nil
    if let replay { ended.add(replay.counts) }
    replay = nil
    load = nil
    readBack = nil
    (cursor, hinted, looking, early) = (nil, nil, nil, nil)
    isLoadWanted = true
  }

  /// The server's store is replaced by an earlier state of it.
  func restore(_ backup: SimulatedDisk) {
    stop()
    disk = backup.copy()
  }

  func wantLoad() { isLoadWanted = true }
  func forgetWithheld(_ names: Set<RowName>) { withheld.subtract(names) }

  /// Whether it has claimed nothing that is not answered.
  var isReplayIdle: Bool { replay?.isIdle ?? true }

  var isIdle: Bool {
    replay?.isIdle ?? true && load == nil && readBack == nil && !isLoadWanted && hinted == nil
  }

  var replayCounts: SimulatedReplay.Counts {
    var counts = ended
    if let replay { counts.add(replay.counts) }
    return counts
  }

  // One small piece of work each; the errors are the store's.

  func stepReplay() throws {
    guard let replay else { return }
    try replay.step(hasFaults: hasFaults)
  }

  /// Whether its mark would show that the business system was set back to this backup, also after a
  /// crash. If the store has an earlier place it cannot know; what it has read and not written yet
  /// would be taken for the latest.
  func wouldNotice(_ backup: MemoryBackup) throws(ServerError) -> Bool {
    guard isReplayIdle, readBack == nil, let kept = try service.sourceCursor() else { return false }
    return backup.isBehind(kept)
  }

  /// Asks what others have changed. Of a business system that notes changes the answer may be long
  /// under way, comes in any order, and names too much.
  private func look() throws {
    if let (changes, steps) = hinted {
      hinted = steps > 0 ? (changes, steps - 1) : nil
      guard hinted == nil else { return }
      let needsLoad = try take(changes)
      if needsLoad { isLoadWanted = true }
      cursor = changes.cursor
      service.endLook(looking ?? service.beginLook(), needsLoad: needsLoad)
      return
    }
    guard business.notesChanges else {
      if load == nil, let changes = try replay?.changes(since: nil), !changes.hints.isEmpty {
        isLoadWanted = true
      }
      return
    }
    // With the planted bug the look begins when its findings are here, which then take their time.
    let beginsLate = planted.contains(.currentTooEarly)
    looking = beginsLate ? nil : service.beginLook()
    guard let changes = try replay?.changes(since: cursor) else { return }
    guard !changes.hints.isEmpty || changes.cursor != cursor else {
      service.endLook(looking ?? service.beginLook(), needsLoad: false)
      return
    }
    let isLate = hasFaults && (beginsLate || chance.happens(200))
    hinted = (
      BusinessChanges(cursor: changes.cursor, hints: disturbed(changes.hints)),
      isLate ? chance.number(below: 12) : 0
    )
  }

  private func take(_ changes: BusinessChanges) throws(ServerError) -> Bool {
    guard planted.contains(.cursorBeforeCache) else { return try service.take(changes) }
    _ = try service.take(BusinessChanges(cursor: changes.cursor, hints: []))
    return try service.take(BusinessChanges(cursor: nil, hints: changes.hints))
  }

  private func disturbed(_ hints: [ChangeHint]) -> [ChangeHint] {
    guard hasFaults, chance.happens(300) else { return hints }
    var keys = hints.flatMap { hint -> [ChangeHint] in
      guard case .objects(let entity, let keys) = hint else { return [hint] }
      return keys.map { .objects(entity: entity, keys: [$0]) }
    }
    if let doubled = keys.first { keys.append(doubled) }
    keys.append(.objects(entity: "Order", keys: [ObjectKey([.integer(1)])]))
    return keys.reversed()
  }

  /// Asks for changes; begins a load, reads or stages a part of it, or ends it.
  func stepLoad() throws {
    do { try look() } catch {
      guard error is ConnectorError else { throw error }
      guard isLoadWanted || load != nil else { return }
      if !business.notesChanges { return }
    }
    if let current = load {
      try goOn(current)
      return
    }
    guard isLoadWanted else { return }
    if planted.contains(.noMark), !readEarly() { return }
    isLoadWanted = false
    do {
      load = SimulatedLoad(
        package.entities, ticket: try service.beginLoad(), chance: chance, early: early?.rows ?? [:]
      )
      early = nil
    } catch {
      isLoadWanted = true
      throw error
    }
  }

  private func goOn(_ current: SimulatedLoad) throws {
    do {
      if let (entity, rows) = current.nextBatch() {
        try service.stage(current.ticket, entity, rows)
      } else if let pages = current.pages {
        try readPage(pages, current)
      } else if let entity = current.nextEntity() {
        if isPaged { current.pages = OffsetPages(entity) } else { try read(entity, current) }
      } else if case .done(let summary) = try service.endLoad(current.ticket, coverage) {
        load = nil
        // What was not believed is asked for once more.
        if !summary.doubtedPartitions.isEmpty { isLoadWanted = true }
      }
    } catch {
      // As the host does: nothing of a load that broke is applied, and it is tried again.
      service.abandonLoad(current.ticket)
      load = nil
      isLoadWanted = true
      guard error is ConnectorError else { throw error }
      tornLoads += 1
    }
  }

  /// A service of REST gives its rows by pages.
  private var isPaged: Bool { behind?.service.traits.isREST ?? false }

  /// Of pages that move while they are read, what is absent may be there.
  private var coverage: LoadCoverage? {
    guard isPaged, !planted.contains(.offsetSkips) else { return nil }
    return LoadCoverage([
      LoadCoverage.Part(
        LoadScope(entities: package.entities),
        LoadEnd(isComplete: true, isSnapshot: false))
    ])
  }

  /// The next rows by their place in the list, as the list is now.
  private func readPage(_ given: OffsetPages, _ current: SimulatedLoad) throws {
    var pages = given
    let rows = pages.next(of: try rowsNow(pages.entity), isWhole: !hasFaults)
    current.pages = rows == nil ? nil : pages
    current.take(rows ?? [], of: pages.entity)
  }

  /// With the planted bug `noMark` the rows are read some steps before the load begins. Whether it may
  /// begin now.
  private func readEarly() -> Bool {
    if early == nil {
      var rows: [String: [RowImage]] = [:]
      for entity in package.entities {
        guard let found = try? rowsNow(entity) else { return false }
        rows[entity.name] = found
      }
      early = EarlyRows(rows: rows)
    }
    early?.steps -= 1
    return early.map { $0.steps < 0 } ?? false
  }

  private func rowsNow(_ entity: Entity) throws -> [RowImage] {
    var rows: [RowImage] = []
    _ = try MemoryConnector(business).load(
      LoadScope(entities: [entity]), from: nil,
      each: { page throws(ConnectorError) in rows += page.rows }, rejected: { _ in })
    return rows
  }

  /// The business system gives its tables one after the other, not from one snapshot.
  private func read(_ entity: Entity, _ current: SimulatedLoad) throws {
    var rows = try current.early[entity.name] ?? rowsNow(entity)
    if hasFaults, !business.notesChanges, rows.count > 3, chance.happens(15) {
      // Nothing but a load finds them again. Broken paging: half an answer that looks whole.
      let count = chance.number(below: rows.count)
      withheld.formUnion(rows[count...].map { RowName(entity: entity.name, key: $0.key) })
      rows.removeSubrange(count...)
      truncatedLoads += 1
      isLoadWanted = true
    }
    current.take(rows, of: entity)
  }

  func stepReadBack() throws {
    if let current = readBack {
      readBack = nil
      try service.finish(current.task, current.rows)
      return
    }
    guard let task = try service.nextReadBack() else { return }
    do throws(ConnectorError) {
      readBack = (task, try MemoryConnector(business).read(task.entity, keys: task.keys))
    } catch {
      service.abandon(task)
    }
  }
}

/// What a load will give, by entity, and for how many steps it does not begin yet.
private struct EarlyRows {
  var rows: [String: [RowImage]]
  var steps: Int = 5
}

/// A load while it lasts: its tables in any order, each in small pieces.
private final class SimulatedLoad {
  let ticket: LoadTicket
  /// Rows that were read before it began.
  let early: [String: [RowImage]]
  private var entities: [Entity]
  private var batches: [(Entity, [RowImage])] = []
  /// The list that is being read by pages.
  var pages: OffsetPages?
  private let chance: SeededChance

  init(
    _ entities: [Entity], ticket: LoadTicket, chance: SeededChance, early: [String: [RowImage]]
  ) {
    self.ticket = ticket
    self.early = early
    self.chance = chance
    // Parents and children come in any order.
    let first = chance.number(below: entities.count)
    self.entities = Array(entities[first...] + entities[..<first])
  }

  func nextEntity() -> Entity? { entities.isEmpty ? nil : entities.removeFirst() }
  func nextBatch() -> (Entity, [RowImage])? { batches.isEmpty ? nil : batches.removeFirst() }

  func take(_ rows: [RowImage], of entity: Entity) {
    var rest = rows[...]
    while !rest.isEmpty {
      let count = 1 + chance.number(below: 6)
      batches.append((entity, Array(rest.prefix(count))))
      rest = rest.dropFirst(count)
    }
  }
}

/// A row of the business system or of the cache.
struct RowName: Hashable, CustomStringConvertible {
  let entity: String
  let key: ObjectKey
  var description: String { "\(entity) \(key)" }
}
