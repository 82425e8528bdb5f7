import FerryConformance
import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerryServer
import FerryWorld

/// The replays of one life of the server, a small piece of work at a time, as `ReplayHost` does
/// them: chains are claimed together, performed one after the other, and told in groups.
final class SimulatedReplay {
  /// What the run learns from it.
  struct Counts {
    /// Chains of several operations, and those of them of which one was refused.
    var groups = 0
    var refusedGroups = 0
    /// Reports of several chains whose answers are committed together.
    var answeredTogether = 0

    mutating func add(_ other: Counts) {
      groups += other.groups
      refusedGroups += other.refusedGroups
      answeredTogether += other.answeredTogether
    }
  }

  private struct Work {
    let task: ReplayTask
    var step: ReplayStep
    var report: ReplayReport?
  }

  private let service: Service
  private let business: MemoryBusiness
  private let connector: any Connector
  private let world: World
  private let chance: SeededChance
  private let ledger: Ledger
  private let users: SimulatedUsers
  /// Claimed, and not performed.
  private var claimed: [ReplayTask] = []
  /// Performed, and not told.
  private var reports: [(task: ReplayTask, report: ReplayReport)] = []
  /// Told, with more to do: each for itself.
  private var following: [Work] = []
  /// For so many steps the business system's answer is under way.
  private var hold = 0
  private var hasFaults = true
  private(set) var counts = Counts()

  init(
    service: Service, business: MemoryBusiness, connector: any Connector, world: World,
    chance: SeededChance, ledger: Ledger, users: SimulatedUsers, planted: Set<PlantedBug>
  ) {
    self.service = service
    self.business = business
    self.world = world
    self.chance = chance
    self.ledger = ledger
    self.users = users
    self.connector = planted.isEmpty ? connector : FlawedConnector(connector, planted)
  }

  var isIdle: Bool { claimed.isEmpty && reports.isEmpty && following.isEmpty }

  func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    try connector.changes(since: cursor)
  }

  /// Claims, asks the business system, or tells the service. The errors are the store's: what it
  /// cannot take is owed, and the rest goes on.
  func step(hasFaults: Bool) throws {
    self.hasFaults = hasFaults
    if hold > 0 {
      hold -= 1
    } else if !following.isEmpty {
      try goOn()
    } else if !reports.isEmpty, claimed.isEmpty || chance.happens(300) {
      try tell()
    } else if !claimed.isEmpty {
      let task = claimed.removeFirst()
      if let report = try ask(task.step) { reports.append((task, report)) }
    } else {
      claimed = try service.nextReplays(limit: 1 + chance.number(below: 4))
      try checkRightsAreKnown()
    }
  }

  /// Invariant 11: nothing is performed whose user's rights nobody knows any more.
  private func checkRightsAreKnown() throws {
    let performed = claimed.filter { if case .perform = $0.step { true } else { false } }
    for operation in performed.flatMap(\.operations) {
      guard let user = operation.user, !users.areRightsKnown(of: user, now: world.clock.now)
      else { continue }
      throw SimulationFailure(
        invariant: 11,
        problem: "\(operation.id) of \(user) is performed, and the newest token of the user's "
          + "issuer is older than a day")
    }
  }

  private func tell() throws {
    let told = reports
    reports = []
    if told.count > 1 { counts.answeredTogether += 1 }
    let steps = try service.report(told)
    following = zip(told, steps).map { Work(task: $0.task, step: $1) }
  }

  /// A failure of the store ends the work, as in the host.
  private func goOn() throws {
    var work = following.removeFirst()
    if let report = work.report {
      work.report = nil
      work.step = try service.report([(work.task, report)])[0]
      following.insert(work, at: 0)
    } else if let report = try ask(work.step) {
      work.report = report
      following.insert(work, at: 0)
    }
  }

  /// Nil when there is nothing more to do.
  private func ask(_ step: ReplayStep) throws -> ReplayReport? {
    switch step {
    case .done, .retry: return nil
    case .perform(let operations):
      for operation in operations { ledger.arrivals.perform(operation.id, users) }
      let result = connector.perform(operations)
      // Its answer may be long under way, while loads and others go on.
      if hasFaults, chance.happens(250) { hold = chance.number(below: 30) }
      let ids = operations.map { $0.id.text.prefix(6) }.joined(separator: " ")
      say("performed", ids, SimulatedReplay.shown(result))
      if case .done(let outcomes, _) = result { try take(operations, outcomes) }
      return .performed(result)
    case .recall(let operations):
      do throws(ConnectorError) {
        let found = try connector.recall(operations)
        let ids = operations.map { $0.id.text.prefix(6) }.joined(separator: " ")
        say("recalled", ids, "\(found)")
        for (operation, recall) in zip(operations, found) {
          guard case .performed(.accepted(let key, _)) = recall else { continue }
          ledger.recalled(operation.id, key)
        }
        return .recalled(found)
      } catch { return failed(error) }
    case .read(let entity, let keys):
      do throws(ConnectorError) {
        let rows = try connector.read(entity, keys: keys)
        say("read for an answer", "\(entity.name) \(keys)", "\(rows.map(\.values))")
        return .read(rows)
      } catch { return failed(error) }
    }
  }

  private func failed(_ error: ConnectorError) -> ReplayReport {
    say("not answered", "", error.message)
    return .failed(error)
  }

  private func say(_ event: String, _ what: String, _ result: String) {
    world.log.write(.trace, event, [("what", what), ("result", result)])
  }

  private static func shown(_ result: PerformResult) -> String {
    switch result {
    case .done(let outcomes, _): "\(outcomes)"
    case .notDone: "not done"
    case .unknown: "unknown"
    case .waits(let thing): "waits for \(thing)"
    }
  }

  private func take(_ operations: [ConnectorOperation], _ outcomes: [OperationOutcome]) throws {
    if operations.count > 1 {
      counts.groups += 1
      if outcomes.contains(.notTried) { counts.refusedGroups += 1 }
    }
    for (operation, outcome) in zip(operations, outcomes) { try check(operation, outcome) }
  }

  /// Invariant 6: nobody meets a conflict with a value that the business system never had; a change
  /// behind an accepted one is based on what that one became, unless that was forgotten.
  private func check(_ operation: ConnectorOperation, _ outcome: OperationOutcome) throws {
    if case .accepted(let key, true) = outcome { ledger.recalled(operation.id, key) }
    guard case .refused(let refusal) = outcome, let base = refusal.baseValue,
      let position = refusal.attribute.flatMap(operation.entity.position(of:))
    else { return }
    // What stood there between two commits; what a commit itself overwrote was never seen.
    let wasThere = business.history.contains { commit in
      let effects = commit.parts.flatMap(\.effects).filter {
        $0.entity == operation.entity.name && $0.key == operation.key
      }
      return effects.first?.before?[position] == base || effects.last?.after?[position] == base
    }
    let name = RowName(entity: operation.entity.name, key: operation.key ?? ObjectKey(text: ""))
    guard !wasThere, !ledger.outOfSight.contains(name) else { return }
    throw SimulationFailure(
      invariant: 6,
      problem: "\(operation.entity.name) \(operation.key?.text ?? "") is refused for "
        + "\(base.shown), which it never was")
  }
}
