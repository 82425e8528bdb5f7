import FerryWire
import FerryWorld

/// A read of an exchange, and what came of it; nil while a reader has it.
struct PendingRead {
  /// Tells the reads of a service apart.
  let number: Int64
  let exchange: ExchangeID
  let read: PageRead
  var result: Result<PageRead.Round, StoreError>?
}

/// The rounds of devices: a small one is read at once, one with much to read goes to a reader.
///
/// The service's thread alone decides what a device gets. What a reader brings is judged again when it
/// is sent: a device whose session has ended, or whose rights have changed, gets nothing of it.
extension Exchanges {
  /// The next round of a download, as it is now.
  func read(_ index: Int, of exchange: Exchange) throws(ServerError) -> PageRead {
    let state = exchange.state
    let currency = core.currency(try intake.currency(state.looksNeeded), state.groupsNeeded)
    return PageRead(
      index: index, download: state.downloads[index],
      asker: Download.Asker(
        owner: state.owner, open: state.hello.open, rightsVersion: state.rightsVersion,
        era: store.era, currency: currency,
        ages: core.ages(currency, [state.downloads[index].group]), load: loadStanding(),
        waiting: operations.waiting(of: state.owner)),
      answersGeneration: core.memory.answersGeneration, frames: frames, limits: limits)
  }

  /// The round, where what it needs is in memory or little; nil where a reader has to read it.
  func near(_ read: PageRead) throws(ServerError) -> PageRead.Round? {
    guard !read.download.isFar else { return nil }
    let round = try reading { () throws(StoreError) in
      if !world.isPlanted,
        let view = core.memory.view(read.download, for: read.asker.owner, open: read.asker.open)
      {
        return try read.round(view)
      }
      return try store.replica { view throws(StoreError) in
        try read.round(view, nearRows: limits.nearRows)
      }
    }
    read.keep(round)
    if case .far = round.step { return nil }
    return round
  }

  /// Hands the round to a reader.
  func begin(_ read: PageRead, of exchange: Exchange) throws(ServerError) -> Exchange.Step {
    guard let onRead else {
      let round = try reading { () throws(StoreError) in
        try store.replica { view throws(StoreError) in try read.round(view) }
      }
      read.keep(round)
      return try give((read, round), to: exchange)
    }
    lastRead += 1
    let pending = PendingRead(number: lastRead, exchange: exchange.id, read: read)
    exchange.state.reading = pending
    onRead(pending)
    return .waiting
  }

  /// A reader has read. Nobody may want it any more.
  func finish(_ pending: PendingRead, _ result: Result<PageRead.Round, StoreError>) {
    guard let exchange = exchanges[pending.exchange],
      exchange.state.reading?.number == pending.number
    else { return }
    exchange.state.reading?.result = result
    core.tell(.stirred(exchange.id))
  }

  /// What a reader has read for the exchange, once; nil where it has to be read again, or was not
  /// asked for.
  func takeRead(
    of exchange: Exchange
  ) throws(ServerError) -> (read: PageRead, round: PageRead.Round)? {
    guard let pending = exchange.state.reading, let result = pending.result else { return nil }
    exchange.state.reading = nil
    let round = try guarded { () throws(StoreError) in try result.get() }
    guard pending.read.asker.era == store.era, try isAnnounced(round) else {
      exchange.state.dirty.removeAll { $0 == pending.read.index }
      exchange.state.dirty.insert(pending.read.index, at: 0)
      return nil
    }
    pending.read.keep(round)
    return (pending.read, round)
  }

  /// Whether this thread knows of everything that the round shows. A node that follows learns a little
  /// later what its leader has committed: then it asks the store again, and remembers nothing older.
  private func isAnnounced(_ round: PageRead.Round) throws(ServerError) -> Bool {
    guard try round.clock > clock() else { return true }
    guard !store.leads else { return false }
    core.memory.committedAll()
    return true
  }
}
