import FerryConnector
import FerryMemoryConnector
import FerryServer
import FerryWire
import FerryWorld

/// A server of several on one store: the very service that ships, which leads or follows, stepped by
/// hand as its hosts do it.
final class SimulatedNode {
  let number: Int
  private let shared: SharedStore
  private let business: MemoryBusiness
  private let world: World
  private let chance: SeededChance
  private(set) var service: Service?
  private var view: NodeView?
  private var connector: MemoryConnector?
  /// What was claimed, and how far it has come.
  private var work: [(task: ReplayTask, step: ReplayStep, report: ReplayReport?)] = []
  private var load: (ticket: LoadTicket, entities: ArraySlice<String>)?
  private var isLoadWanted = true
  private var isLeadProven = false
  private var readBack: (task: ReadBackTask, rows: [RowImage])?
  /// Until then nothing of it runs, as after SIGSTOP; in milliseconds.
  var pausedUntil: Int64 = 0
  /// Until then its process is not there.
  var downUntil: Int64 = 0
  private var nextBeat: Int64 = 0
  /// Until then it cannot reach the store.
  var cutOffUntil: Int64 = 0

  init(
    _ number: Int, _ shared: SharedStore, _ business: MemoryBusiness, _ world: World,
    _ chance: SeededChance
  ) {
    self.number = number
    self.shared = shared
    self.business = business
    self.world = world
    self.chance = chance
  }

  var leads: Bool { view?.leads ?? false }

  var isReplaying: Bool { leads && !work.isEmpty }

  func isBeatDue(at now: Int64) -> Bool { now >= nextBeat }

  /// Nothing is under way.
  var isIdle: Bool { work.isEmpty && load == nil && readBack == nil && (!leads || !isLoadWanted) }

  func isAway(at now: Int64) -> Bool { now < pausedUntil || now < downUntil }

  /// Serves from here on, leading in this term or following; nothing in memory outlives a term.
  func serve(term: Int?) throws(ServerError) {
    end()
    let view = NodeView(shared, term: term)
    let service = try Service(
      package: SimulatedBusiness.package, world: world, limits: SimulatedServer.limits
    ) { _ in view }
    self.view = view
    self.service = service
    isLoadWanted = true
    guard term != nil else { return }
    let connector = MemoryConnector(business)
    connector.lead("nodes")
    self.connector = connector
  }

  func end() {
    (service, view, connector) = (nil, nil, nil)
    (work, load, readBack, isLeadProven) = ([], nil, nil, false)
  }

  /// Looks at the lease, as its keeper does each half second, and at what other nodes have done.
  func beat(at now: Int64) throws(ServerError) {
    nextBeat = now + 500
    view?.isCutOff = now < cutOffUntil
    guard now >= cutOffUntil else { return }
    if let term = view?.term {
      if !shared.renew(term) { try serve(term: nil) }
    } else if let term = try shared.takeLease(for: number) {
      try serve(term: term)
    } else if service == nil {
      try serve(term: nil)
    }
    try guarded { () throws(ServerError) in try service?.catchUp() }
  }

  /// What the store refused is done later; a node whose term is over follows from then on.
  private func guarded(_ body: () throws(ServerError) -> Void) throws(ServerError) {
    do throws(ServerError) { try body() } catch {
      world.log.debug("a node could not go on", ("reason", error.description))
      guard error.code == .superseded else { return }
      try serve(term: nil)
    }
  }

  /// One small piece of the work of a leader.
  func step(at now: Int64) throws(ServerError) {
    view?.isCutOff = now < cutOffUntil
    guard leads, let service else { return }
    let choice = chance.number(below: 10)
    try guarded { () throws(ServerError) in
      switch choice {
      case ..<6: try replay(service)
      case ..<9: try stepLoad(service)
      default: try stepReadBack(service)
      }
    }
  }

  private func replay(_ service: Service) throws(ServerError) {
    guard !work.isEmpty else {
      guard try hasLead(service) else { return }
      let tasks = try service.nextReplays(limit: 1 + chance.number(below: 3))
      work = tasks.map { ($0, $0.step, nil) }
      return
    }
    var (task, step, report) = work.removeFirst()
    if let known = report {
      step = try service.report([(task, known)])[0]
      report = nil
    } else {
      report = ask(step)
      if let report {
        world.log.debug(
          "the business system answered", ("node", String(number)), ("report", "\(report)"))
      }
    }
    if report != nil || step != .done, !isRetry(step) { work.insert((task, step, report), at: 0) }
  }

  /// As `ReplayHost`: the store confirms it behind each take-over of the business system.
  private func hasLead(_ service: Service) throws(ServerError) -> Bool {
    do throws(ConnectorError) {
      if try connector?.takeLead(again: true) == true { isLeadProven = false }
    } catch {
      return false
    }
    guard !isLeadProven else { return true }
    // It may be stopped between the two.
    guard chance.happens(700) else { return false }
    try service.probe()
    isLeadProven = true
    return true
  }

  private func isRetry(_ step: ReplayStep) -> Bool {
    if case .retry = step { true } else { false }
  }

  private func ask(_ step: ReplayStep) -> ReplayReport? {
    guard let connector else { return nil }
    do throws(ConnectorError) {
      switch step {
      case .done, .retry: return nil
      case .perform(let operations): return .performed(connector.perform(operations))
      case .recall(let operations): return .recalled(try connector.recall(operations))
      case .read(let entity, let keys): return .read(try connector.read(entity, keys: keys))
      }
    } catch {
      return .failed(error)
    }
  }

  private func stepLoad(_ service: Service) throws(ServerError) {
    if let (ticket, entities) = load {
      do throws(ServerError) {
        guard let name = entities.first else {
          guard case .done(let summary) = try service.endLoad(ticket) else { return }
          load = nil
          if !summary.doubtedPartitions.isEmpty { isLoadWanted = true }
          return
        }
        guard let entity = service.package.entity(named: name) else { return }
        let rows = business.rows(of: name).sorted { $0.key.text < $1.key.text }
        try service.stage(
          ticket, entity,
          rows.map { RowImage(entity: name, key: $0.key, values: $0.value) })
        load = (ticket, entities.dropFirst())
      } catch {
        service.abandonLoad(ticket)
        load = nil
        isLoadWanted = true
        throw error
      }
      return
    }
    if let changes = try? connector?.changes(since: nil), !changes.hints.isEmpty {
      isLoadWanted = true
    }
    guard isLoadWanted else { return }
    load = (try service.beginLoad(), SimulatedBusiness.package.entities.map(\.name)[...])
    isLoadWanted = false
  }

  private func stepReadBack(_ service: Service) throws(ServerError) {
    if let current = readBack {
      readBack = nil
      try service.finish(current.task, current.rows)
    } else if let task = try service.nextReadBack() {
      do throws(ConnectorError) {
        readBack = (task, try MemoryConnector(business).read(task.entity, keys: task.keys))
      } catch {
        service.abandon(task)
      }
    }
  }

  /// Answers a device to the end, or says nothing: a view that is too old answers nobody.
  func answer(_ request: [UInt8], of device: NodeDevice, at now: Int64) -> [Message]? {
    view?.isCutOff = now < cutOffUntil
    guard let service else { return nil }
    do {
      try service.requireRecentView()
      let exchange = service.exchange(request, by: device.identity(now: world.clock.now))
      var messages: [Message] = []
      while case .bytes(let bytes) = exchange.next() {
        for frame in try FrameReader.frames(of: bytes) { messages.append(try Message(frame)) }
      }
      return messages
    } catch {
      return nil
    }
  }
}
