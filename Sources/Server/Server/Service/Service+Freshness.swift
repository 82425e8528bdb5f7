import FerryModel
import FerryWire

/// Devices that want to know whether what they show is current.
extension Service {
  /// A look for changes of others begins. Call it before the business system is asked.
  public func beginLook() -> Int64 {
    let performing = replays.values.filter { $0.notBefore == nil }.map(\.id)
    let look = freshness.begin(performing: Set(performing))
    lookMoments[look] = world.clock.moment
    return look
  }

  /// The look has ended, and what it found is taken; `needsLoad`: a load begins for it.
  public func endLook(_ look: Int64, needsLoad: Bool) {
    freshness.end(look, waiting: toBeRead, loadAfter: needsLoad ? core.lastTask : nil)
    noteCaptured()
    wakeCurrent()
  }

  /// What was committed before a look is in the cache when its findings are.
  private func noteCaptured() {
    guard let moment = lookMoments[freshness.completed] else { return }
    lookMoments = lookMoments.filter { $0.key > freshness.completed }
    core.capturedUpTo = moment
    meter.captured(upTo: moment)
  }

  /// The business system could not be asked.
  public func failLook(_ look: Int64) {
    freshness.fail(look)
    lookMoments[look] = nil
    wakeCurrent()
  }

  /// These are in the cache as they were read, and need not be read again.
  func noteRead(_ names: [ObjectName]) {
    freshness.read(names)
    noteCaptured()
    wakeCurrent()
  }

  /// The business system has answered a replay, or it has ended.
  func noteReported(_ replay: ActiveReplay) {
    freshness.reported(replay.id, unwritten: replay.machine.unwritten)
    noteCaptured()
    wakeCurrent()
  }

  func noteLoaded(_ load: Int64) {
    freshness.loaded(load, waiting: toBeRead)
    noteCaptured()
    wakeCurrent()
  }

  /// Whether the cache holds what the asker's question is about.
  func isCurrent(_ state: ExchangeState) -> Bool {
    state.lookNeeded.map { freshness.completed >= $0 } ?? true
  }

  /// Whether a look that began after the question has failed: nobody waits for the next one.
  func isBusinessAway(_ state: ExchangeState) -> Bool {
    guard let needed = state.lookNeeded, let failed = freshness.failed else { return false }
    return failed >= needed
  }

  /// What a checkpoint says of itself; nil where nobody asked.
  func currency(_ state: ExchangeState) throws(ServerError) -> Currency? {
    guard state.lookNeeded != nil else { return nil }
    if isCurrent(state) { return .current }
    if try !isLoaded() { return .loading }
    return freshness.failed == nil ? .behind : .businessAway
  }

  private func wakeCurrent() {
    for (id, exchange) in exchanges
    where exchange.state.lookNeeded != nil && exchange.state.holdUntil != nil {
      core.tell(.stirred(id))
    }
  }
}
