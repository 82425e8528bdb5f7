import FerryConnector
import FerryModel
import FerryWorld
import Synchronization

/// Performs operations against the business system, one chain after the other, on a thread of its
/// own; asks now and then whether others have changed it.
package actor ReplayHost {
  private let executor: ThreadExecutor
  private let connector: any Connector
  /// Its number among the connections of the package: what it performs, and nothing else.
  private let connection: Int
  private let service: ServiceHost
  private let world: World
  private var isStopped = false
  /// Asks for changes between two replays; nil where that is done elsewhere (`LookHost`).
  private let looker: Looker?
  /// Of a connector that is not asked for changes here: then a replay is the attempt.
  private var breaker = CircuitBreaker()
  /// Whether the store has confirmed this node as the leader since the business system did.
  private var isLeadProven = false
  private var leadTrouble: LastingTrouble

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  package init(
    connector: sending any Connector, of connection: Int = 0, service: ServiceHost, world: World,
    on thread: ThreadExecutor? = nil
  ) {
    executor = thread ?? ThreadExecutor(name: "ferry-replay")
    self.connection = connection
    leadTrouble = LastingTrouble(
      "the business system cannot be taken over", over: "the business system was taken over",
      service.rules.connections.fields(connection))
    self.connector = connector
    looker = connector.looksApart ? nil : Looker(connector, of: connection, service, world)
    self.service = service
    self.world = world
  }

  /// Works until stopped. `load` is called at the start, and when others have changed the business
  /// system; it must not wait for a load, or nothing would be replayed meanwhile. `compare` is called
  /// once a day where changes of others are noted; the same holds for it. Neither is called where
  /// changes are asked for elsewhere.
  package func run(load: @Sendable () -> Void, compare: @Sendable () -> Void = {}) async {
    connector.lead(service.storeName)
    warnOfJudgement()
    if await looker?.begin() ?? false { load() }
    while !isStopped {
      // Nothing is handed out for what cannot be reached: looking is the attempt.
      if let looker, looker.breaker.isOpen {
        await executor.sleep(for: ReplayHost.groupWait)
        if looker.breaker.mayTry(world.clock.moment), await looker.look() { load() }
        continue
      }
      if breaker.isOpen, !breaker.mayTry(world.clock.moment) {
        await executor.sleep(for: ReplayHost.groupWait)
        continue
      }
      do throws(ServerError) {
        guard try await hasLead() else {
          if await looker?.look() ?? false { load() }
          continue
        }
        try await perform(
          try await service.nextReplays(
            limit: breaker.isOpen ? 1 : ReplayHost.groupChains, of: connection,
            patience: patience))
      } catch {
        world.log.error("the store failed during a replay", ("reason", error.description))
        await executor.sleep(for: .seconds(1))
      }
      guard let looker else { continue }
      if await looker.look() { load() }
      if looker.isComparisonDue() { compare() }
    }
  }

  /// How long to wait for something to replay: not beyond the next look.
  private var patience: Duration {
    looker == nil ? ReplayHost.longestPatience : connector.lookInterval
  }

  private static let longestPatience: Duration = .seconds(1)

  /// Of several nodes one that was stopped may take over the business system after its successor has:
  /// it must not perform then, and the successor takes over once more. So the store is asked behind
  /// each take-over.
  private func hasLead() async throws(ServerError) -> Bool {
    guard await service.sharesStore else { return true }
    do throws(ConnectorError) {
      if try connector.takeLead(again: true) { isLeadProven = false }
    } catch {
      if let looker {
        looker.tell(error.description)
      } else {
        leadTrouble.tell(error.description, world.log)
        service.pulse.tellBusiness(error.description, of: connection)
      }
      await executor.sleep(for: ReplayHost.groupWait)
      return false
    }
    if looker == nil { leadTrouble.tell(nil, world.log) }
    if !isLeadProven {
      try await service.requireLead()
      isLeadProven = true
    }
    return true
  }

  private func warnOfJudgement() {
    let rules = service.rules
    let judged = rules.connections.entities(rules.package.entities, of: connection).filter {
      rules.isJudged($0) && !connector.abilities(of: $0).conditionalWrites
    }.map(\.name)
    guard !judged.isEmpty else { return }
    world.log.warn(
      "the business system cannot hold a row between the check of rights and the write. If a row "
        + "of \(judged.joined(separator: ", ")) moves to another user in between, the change of the "
        + "earlier user is written")
  }

  /// Chains whose answers are committed together, and how long the first of them may wait for the
  /// others; as long the business system may be kept from others, where it commits them together.
  static let groupChains: Int = 64
  static let groupWait: Duration = .milliseconds(20)

  /// One after the other; what they came to is told in groups, since each commit of the store
  /// waits for the disk.
  private func perform(_ tasks: [ReplayTask]) async throws(ServerError) {
    guard !tasks.isEmpty else { return }
    var rest = tasks[...]
    var failure: ServerError?
    // Whether it can be reached again only a replay shows where nobody looks here.
    var isAttempt = breaker.isOpen
    defer {
      if looker == nil { breaker.note(isReached: !connector.isUnreachable, world.clock.moment) }
    }
    while !rest.isEmpty {
      let end = world.clock.uptime + ReplayHost.groupWait
      var reports: [(task: ReplayTask, report: ReplayReport)] = []
      repeat {
        let found =
          connector.isUnreachable && !isAttempt
          ? rest.map { unreached($0.step) } : performNext(rest) { world.clock.uptime < end }
        isAttempt = false
        for (task, report) in zip(rest, found) {
          if let report { reports.append((task, report)) }
        }
        rest = rest.dropFirst(found.count)
      } while !rest.isEmpty && world.clock.uptime < end
      // All of them are claimed: what the store cannot take is owed, and the rest goes on.
      do throws(ServerError) { try await tell(reports) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Of the first task, and of those behind it that the business system took with it.
  private func performNext(
    _ tasks: ArraySlice<ReplayTask>, while goesOn: () -> Bool
  ) -> [ReplayReport?] {
    var groups: [[ConnectorOperation]] = []
    for task in tasks {
      guard case .perform(let operations) = task.step else { break }
      groups.append(operations)
    }
    guard groups.count > 1 else { return tasks.prefix(1).map { perform($0.step) } }
    groups = groups.map { service.traces.traced($0) }
    let start = world.clock.uptime
    let results = connector.perform(groups, while: goesOn)
    TraceLog(world: world).performed(groups, results, service.traces, since: start)
    return results.map { performed($0) }
  }

  /// What was claimed already when it was found to be away. What may have run before stays so.
  private func unreached(_ step: ReplayStep) -> ReplayReport? {
    let reason = "the business system cannot be reached"
    switch step {
    case .perform: return .performed(.notDone(reason: reason))
    case .recall, .read:
      return .failed(ConnectorError(reason, hint: "It is tried again.", isTransient: true))
    case .done, .retry: return nil
    }
  }

  private func tell(
    _ reports: [(task: ReplayTask, report: ReplayReport)]
  ) async throws(ServerError) {
    let steps = try await service.report(reports)
    var failure: ServerError?
    for (told, next) in zip(reports, steps) {
      var step = next
      do throws(ServerError) {
        while let report = perform(step) {
          step = try await service.report([(told.task, report)])[0]
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Nil when there is nothing more to do.
  private func perform(_ step: ReplayStep) -> ReplayReport? {
    switch step {
    case .done, .retry: return nil
    case .perform(let given):
      let operations = service.traces.traced(given)
      let start = world.clock.uptime
      let result = connector.perform(operations)
      TraceLog(world: world).performed([operations], [result], service.traces, since: start)
      return performed(result)
    case .recall(let operations):
      do throws(ConnectorError) { return .recalled(try connector.recall(operations)) } catch {
        return .failed(error)
      }
    case .read(let entity, let keys):
      do throws(ConnectorError) { return .read(try connector.read(entity, keys: keys)) } catch {
        return .failed(error)
      }
    }
  }

  private func performed(_ result: PerformResult) -> ReplayReport {
    if case .notDone(let reason) = result {
      service.pulse.tellBusiness(reason, of: connection)
    } else {
      service.pulse.tellBusiness(nil, of: connection)
    }
    return .performed(result)
  }

  package func stop() { isStopped = true }
}
