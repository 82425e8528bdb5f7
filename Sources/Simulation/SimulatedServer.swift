import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerrySQLite
import FerryServer
import FerryWorld

/// The server of the simulation: the very service that ships, stepped by hand.
final class SimulatedServer {
  let folder: String
  let business: MemoryBusiness
  private let world: World
  private let chance: SeededChance
  private var replayConnector: MemoryConnector
  private var running: Service?
  private(set) var life = 0
  private var replay: (task: ReplayTask, step: ReplayStep)?
  private var report: ReplayReport?
  private var load: (ticket: LoadTicket, batches: [(Entity, [RowImage])])?
  private var isLoadWanted = true
  private var readBack: (task: ReadBackTask, rows: [RowImage])?
  /// Exchanges that have something new since they were last asked.
  var stirred: Set<ExchangeID> = []

  init(folder: String, business: MemoryBusiness, world: World, chance: SeededChance) throws {
    self.folder = folder
    self.business = business
    self.world = world
    self.chance = chance
    replayConnector = MemoryConnector(business)
    running = try SimulatedServer.open(folder, world)
    listen()
  }

  var service: Service {
    guard let running else { preconditionFailure("the server is not running") }
    return running
  }

  private static func open(_ folder: String, _ world: World) throws -> Service {
    try Service(
      package: SimulatedBusiness.package, folder: folder, world: world, synchronous: .normal)
  }

  private func listen() {
    service.onStir = { [unowned self] id in stirred.insert(id) }
  }

  /// Everything in memory is gone; what was committed is there.
  func restart() throws {
    life += 1
    replay = nil
    report = nil
    load = nil
    readBack = nil
    isLoadWanted = true
    stirred = []
    replayConnector = MemoryConnector(business)
    // The folder's lock goes with the old service.
    running = nil
    running = try SimulatedServer.open(folder, world)
    listen()
  }

  var isIdle: Bool { replay == nil && load == nil && readBack == nil && !isLoadWanted }

  /// One small piece of the replay's work: claim, ask the business system, or tell the service.
  func stepReplay() throws {
    if let report, let current = replay {
      self.report = nil
      let step = try service.report(current.task, report)
      switch step {
      case .done, .retry: replay = nil
      default: replay = (current.task, step)
      }
      return
    }
    guard let current = replay else {
      if let task = try service.nextReplay() { replay = (task, task.step) }
      return
    }
    switch current.step {
    case .perform(let operations):
      let result = replayConnector.perform(operations)
      if case .done(let outcomes, _) = result { try checkConflicts(operations, outcomes) }
      report = .performed(result)
    case .recall(let ids):
      do throws(ConnectorError) { report = .recalled(try replayConnector.recall(ids)) } catch {
        report = .failed(error)
      }
    case .read(let entity, let keys):
      do throws(ConnectorError) {
        report = .read(try replayConnector.read(entity, keys: keys))
      } catch {
        report = .failed(error)
      }
    case .done, .retry: replay = nil
    }
  }

  /// Invariant 6: nobody meets a conflict with a value that the business system never had; a change
  /// behind an accepted one is based on what that one became.
  private func checkConflicts(
    _ operations: [ConnectorOperation], _ outcomes: [OperationOutcome]
  )
    throws
  {
    for (operation, outcome) in zip(operations, outcomes) {
      guard case .refused(let refusal) = outcome, let base = refusal.baseValue,
        let position = refusal.attribute.flatMap(operation.entity.position(of:))
      else { continue }
      // What stood there between two commits; what a commit itself overwrote was never seen.
      let wasThere = business.history.contains { commit in
        let effects = commit.parts.flatMap(\.effects).filter {
          $0.entity == operation.entity.name && $0.key == operation.key
        }
        return effects.first?.before?[position] == base || effects.last?.after?[position] == base
      }
      guard !wasThere else { continue }
      throw SimulationFailure(
        invariant: 6, step: 0,
        problem: "\(operation.entity.name) \(operation.key?.text ?? "") is refused for "
          + "\(base.shown), which it never was")
    }
  }

  /// One small piece of a load: notice, begin, stage a batch, end.
  func stepLoad() throws {
    if var current = load {
      guard !current.batches.isEmpty else {
        if case .done = try service.endLoad(current.ticket) { load = nil }
        return
      }
      let (entity, rows) = current.batches.removeFirst()
      try service.stage(current.ticket, entity, rows)
      load = current
      return
    }
    do throws(ConnectorError) {
      if try replayConnector.changedByOthers() { isLoadWanted = true }
    } catch {
      return
    }
    guard isLoadWanted else { return }
    isLoadWanted = false
    let ticket = try service.beginLoad()
    var batches: [(Entity, [RowImage])] = []
    do throws(ConnectorError) {
      try MemoryConnector(business).load(
        SimulatedBusiness.package.entities,
        each: { entity, rows throws(ConnectorError) in batches.append((entity, rows)) },
        rejected: { _ in })
      load = (ticket, batches)
    } catch {
      service.abandonLoad(ticket)
      isLoadWanted = true
    }
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
