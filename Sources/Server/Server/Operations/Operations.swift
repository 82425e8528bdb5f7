import FerryConnector
import FerryModel
import FerryWorld

/// The operations of devices: they are taken in, wait for their contents, are performed in order, and
/// come to their answers.
final class Operations: ServiceRoom {
  let core: ServiceCore
  let accounts: Accounts
  let intake: Intake
  let inbox: Inbox
  var reports: ReportInbox
  let arrived: ArrivedContents
  var queue = ReplayQueue()
  var replays: [Int64: ActiveReplay] = [:]
  /// When groups that do not come whole are looked at next.
  var nextLookForIncomplete = Timestamp(milliseconds: 0)
  /// Chains that wait for what others must bring, with the number of their operations.
  var awaiting: [ReplayQueue.Name: (thing: AwaitedThing, operations: Int)] = [:]
  /// Chains that wait and may have been performed, with the tasks that hold their objects meanwhile.
  var held: [ReplayQueue.Name: Int64] = [:]

  init(core: ServiceCore, accounts: Accounts, intake: Intake) {
    self.core = core
    self.accounts = accounts
    self.intake = intake
    inbox = Inbox(
      store: core.store, package: core.package, limits: core.limits, world: core.world)
    reports = ReportInbox(store: core.store, limits: core.limits)
    arrived = ArrivedContents(store: core.store)
  }

  /// How many operations of the device have no answer.
  func unanswered(of owner: Owner) -> Int { queue.load(of: owner).operations }

  /// How many operations wait for a credential of their user.
  func credentialWaits() -> Int {
    // A device may have withdrawn what waited.
    let known = Set(replays.values.map(\.name))
    awaiting = awaiting.filter { queue.holds($0.key) || known.contains($0.key) }
    return awaiting.values.reduce(0) { $0 + $1.operations }
  }

  /// Notes what the chain waits for now, or that it waits for nothing.
  func note(_ awaited: AwaitedThing?, of replay: ActiveReplay) {
    let before = awaiting[replay.name]?.thing
    awaiting[replay.name] = awaited.map { ($0, replay.machine.operations.count) }
    guard let awaited, before != awaited else { return }
    switch awaited {
    case .credential(let user):
      world.log.warn(
        "operations wait: the business system has no credential of their user", ("user", user))
    }
  }

  /// A device says that it has these open.
  func name(_ ids: [OperationID], of owner: Owner) {
    if queue.name(ids, of: owner) { core.arrivedOperations += 1 }
  }

  /// Replays that the business system performs or is asked about.
  var performing: Set<Int64> {
    Set(replays.values.filter { $0.notBefore == nil }.map(\.id))
  }
}
