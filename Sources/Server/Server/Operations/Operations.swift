import FerryConnector
import FerryModel
import FerryWire
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
  let notes = AnswerNotes()
  var queue = ReplayQueue()
  var replays: [Int64: ActiveReplay] = [:]
  /// When groups that do not come whole are looked at next.
  var nextLookForIncomplete = Timestamp(milliseconds: 0)
  var awaiting = AwaitingChains()
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
    let known = Set(replays.values.map(\.name))
    return awaiting.count { queue.holds($0) || known.contains($0) }
  }

  /// What waits of a device, by synchronization group.
  func waiting(of owner: Owner) -> [String: [WaitingOperation]] {
    awaiting.operations(of: owner) { name in
      queue.holds(name) || replays.values.contains { $0.name == name }
    }
  }

  /// Notes what the chain waits for now, or that it waits for nothing.
  func note(_ awaited: AwaitedThing?, of replay: ActiveReplay) {
    guard awaiting.note(awaited, replay.name, replay.machine.operations) else { return }
    // Its device hears that it waits, or that it waits no more.
    core.tellChanged(
      partitions: [],
      answered: answered(replay).map {
        AnsweredOperation(
          owner: $0.owner, group: $0.group, chain: $0.chain, isLastOfChain: false)
      })
    guard let awaited else { return }
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
  func performing(of connection: Int) -> Set<Int64> {
    Set(
      replays.values.filter { $0.notBefore == nil && isReplayed($0, over: connection) }
        .map(\.id))
  }

  /// `connection`: nil for any.
  func isReplayed(_ replay: ActiveReplay, over connection: Int?) -> Bool {
    connection.map { $0 == connections.position(of: replay.machine.operations) } ?? true
  }
}
