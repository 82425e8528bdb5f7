import FerryModel
import FerryWire
import FerryWorld

/// The server waits, not the device: an answer is held until the operations of its request are
/// replayed, or a bounded time has passed.
extension Exchanges {
  /// Notes that the answer is to be held. Interest is registered before anything is looked at.
  func hold(_ state: inout ExchangeState, _ id: ExchangeID) throws(ServerError) {
    state.groupsNeeded = core.ask(state.pulls)
    guard !state.isChannel else { return }
    state.groupsUntil = state.groupsNeeded?.patience.map { world.clock.moment.advanced(by: $0) }
    if state.hello.asksCurrent { state.looksNeeded = intake.looksNeeded }
    guard state.hello.wait > 0, !state.heldFor.isEmpty || state.looksNeeded != nil else { return }
    let held = exchanges.values.filter { $0.state.holdUntil != nil }
    let own = held.count { $0.state.owner.user == state.owner.user }
    guard held.count < limits.heldAnswers, own < limits.heldAnswersPerUser else { return }
    let longest = limits.longestHoldSeconds * 1_000
    interests.register(id, state.owner, partitions: [])
    state.holdUntil = world.clock.moment.advanced(
      by: .milliseconds(min(state.hello.wait, longest)))
  }

  /// Whether the pages of an answer are still held back. What ends it is noted.
  func isHeld(_ exchange: Exchange) throws(ServerError) -> Bool {
    if exchange.state.waits(core.cacheGroups, at: world.clock.moment) { return true }
    guard let until = exchange.state.holdUntil else { return false }
    let ids = exchange.state.heldFor
    if world.clock.moment < until {
      let known = try reading { () throws(StoreError) in try store.known(ids) }
      let isOpen = known.contains { $0?.state == .stored || $0?.state == .claimed }
      // Nobody waits for a business system that is away.
      let isBehind =
        !intake.isCurrent(exchange.state.looksNeeded)
        && !intake.isBusinessAway(exchange.state.looksNeeded)
      if isOpen || isBehind { return true }
    }
    exchange.state.holdUntil = nil
    interests.remove(exchange.id)
    exchange.state.hasNews = false
    guard exchange.state.pulls.isEmpty else { return false }
    // Without rows the device hears in this way which operations are answered.
    let owner = exchange.state.owner
    let finished = try reading { () throws(StoreError) in try store.finishedChains(of: owner) }
    exchange.state.finished = []
    exchange.state.ready = Message.stir(Stir(finished: finished)).frame.encoded()
    return false
  }

  /// A look has come further, or a load of a cache group: held answers look whether it was theirs.
  func wakeCurrent() {
    for (id, exchange) in exchanges where exchange.state.isHeldForRows { core.tell(.stirred(id)) }
  }
}
