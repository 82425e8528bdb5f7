import FerryModel
import FerryWire
import FerryWorld

/// The requests of devices while they are answered, and what open channels wait for.
final class Exchanges: ServiceRoom {
  let core: ServiceCore
  let accounts: Accounts
  let intake: Intake
  let operations: Operations
  let desk: Desk
  var exchanges: [ExchangeID: Exchange] = [:]
  private var lastExchange: ExchangeID = 0
  var interests = Interests()
  var frames: FrameCache
  var lastRead: Int64 = 0
  var takeOver = TakeOver()

  /// Called with a round for another thread to read, which gives the result to `finish`; nil: rounds
  /// are read at once, on the service's thread.
  var onRead: ((PendingRead) -> Void)?

  /// How far the load is that is under way, for devices that wait for it; nil where nobody can say.
  var loadStanding: () -> LoadStanding? = { nil }

  init(
    core: ServiceCore, accounts: Accounts, intake: Intake, operations: Operations, desk: Desk
  ) {
    self.core = core
    self.desk = desk
    self.accounts = accounts
    self.intake = intake
    self.operations = operations
    frames = FrameCache(limitBytes: core.limits.frameCacheBytes)
  }

  /// What answers a request; it is not open before `list`.
  func begin(
    _ request: Result<ExchangeRequest, WireFailure>, _ identity: Identity, isChannel: Bool,
    until: Timestamp, from source: any ExchangeSource
  ) -> Exchange {
    lastExchange += 1
    return Exchange(
      id: lastExchange, source: source,
      state: open(request, identity, isChannel: isChannel, until: until, id: lastExchange))
  }

  /// The exchange is open: it is stirred from now on.
  func list(_ exchange: Exchange) {
    guard exchange.state.phase != .ended else { return }
    if exchange.state.isChannel { makeRoom(for: exchange.state.owner) }
    exchanges[exchange.id] = exchange
  }

  /// The device went away, or the driver stops.
  func close(_ exchange: Exchange) {
    exchange.state.phase = .ended
    // An exchange of an earlier service on this folder may have the same number as one of ours.
    guard exchanges[exchange.id] === exchange else { return }
    interests.remove(exchange.id)
    exchanges[exchange.id] = nil
  }

  /// How many channels are open.
  var channelCount: Int { exchanges.values.count { $0.state.isChannel } }

  /// Ends the oldest channels of a device, and of a user, that has as many as it may have.
  private func makeRoom(for owner: Owner) {
    let mine = exchanges.values.filter {
      $0.state.isChannel && $0.state.phase != .ended && $0.state.owner.user == owner.user
    }.sorted { $0.id < $1.id }
    let same = mine.filter { $0.state.owner == owner }
    let tooMany = same.prefix(max(0, same.count + 1 - limits.channelsPerDevice))
    let others = mine.filter { open in !tooMany.contains { $0 === open } }
    for exchange in tooMany + others.prefix(max(0, others.count + 1 - limits.channelsPerUser)) {
      exchange.state.lastWord = WireFailure(
        .replaced, "a newer channel took the place of this one",
        hint: "A device has at most \(limits.channelsPerDevice) channels, a user "
          + "\(limits.channelsPerUser).")
      exchange.state.phase = .ended
      interests.remove(exchange.id)
      core.tell(.stirred(exchange.id))
    }
  }

  /// Nothing that was read before holds: every exchange ends, and its device comes again.
  func forget() {
    frames = FrameCache(limitBytes: limits.frameCacheBytes)
    for exchange in exchanges.values { exchange.state.phase = .ended }
    for id in exchanges.keys.sorted() { core.tell(.stirred(id)) }
  }

  func stir(partitions: Set<Int64>, answered: [AnsweredOperation], since: Timestamp?) {
    guard !exchanges.isEmpty else { return }
    let owners = Set(answered.map(\.owner))
    // Rules that give every value there is: a partition that an exchange does not know may be new.
    let open =
      partitions.isEmpty
      ? []
      : exchanges.filter { $0.value.state.isChannel && $0.value.state.isOpen }.map(\.key)
    let concerned = Set(interests.concerned(partitions: partitions, owners: owners)).union(open)
    for id in concerned.sorted() {
      guard let exchange = exchanges[id] else { continue }
      if exchange.state.isChannel, exchange.state.newsSince == nil {
        exchange.state.newsSince = since
      }
      let owner = exchange.state.owner
      let groups = Set(answered.filter { $0.owner == owner }.map(\.group))
      for (index, download) in exchange.state.downloads.enumerated()
      where !exchange.state.dirty.contains(index) {
        let concerns =
          groups.contains(download.group) || exchange.state.isOpen
          || download.cursors.contains { partitions.contains($0.partition) }
        if concerns { exchange.state.dirty.append(index) }
      }
      guard exchange.state.pulls.isEmpty else {
        core.tell(.stirred(id))
        continue
      }
      exchange.state.hasNews = true
      if exchange.state.notices.wanted != nil {
        let own = Set(partitions.compactMap { exchange.state.groups[$0] })
        exchange.state.notices.note(exchange.state.isOpen ? nil : own)
      }
      for operation in answered where operation.isLastOfChain && operation.owner == owner {
        exchange.state.finished.append(operation.chain)
      }
      core.tell(.stirred(id))
    }
  }
}
