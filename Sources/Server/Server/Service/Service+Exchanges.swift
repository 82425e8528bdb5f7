import FerryModel
import FerryWire
import FerryWorld

/// The calls about exchanges with devices.
extension Service {
  /// Called with a round for another thread to read, which gives the result to `finish`; nil: rounds
  /// are read at once, on the service's thread.
  var onRead: ((PendingRead) -> Void)? {
    get { exchanges.onRead }
    set { exchanges.onRead = newValue }
  }

  /// How far the load is that is under way, for devices that wait for it; nil where nobody can say.
  var loadStanding: () -> LoadStanding? {
    get { exchanges.loadStanding }
    set { exchanges.loadStanding = newValue }
  }

  /// A session: one request, answered to its end.
  package func exchange(_ body: [UInt8], by identity: Identity) -> Exchange {
    begin(ExchangeRequest.read(body), identity, isChannel: false, until: identity.expires)
  }

  /// A channel: as a session, then it waits for changes until `until` or the token's end,
  /// whichever is earlier. Without a pull it streams no rows and only says that there is something.
  package func channel(_ body: [UInt8], by identity: Identity, until: Timestamp) -> Exchange {
    begin(
      ExchangeRequest.read(body), identity, isChannel: true, until: min(until, identity.expires))
  }

  func begin(
    _ request: Result<ExchangeRequest, WireFailure>, _ identity: Identity, isChannel: Bool,
    until: Timestamp
  ) -> Exchange {
    let exchange = exchanges.begin(
      request, identity, isChannel: isChannel, until: until, from: self)
    // What happened while it opened concerns the others.
    handOut()
    exchanges.list(exchange)
    handOut()
    return exchange
  }

  func next(of exchange: Exchange) -> Exchange.Step {
    defer { handOut() }
    return exchanges.next(of: exchange)
  }

  /// The device went away, or the driver stops.
  package func close(_ exchange: Exchange) { exchanges.close(exchange) }

  /// How many channels are open.
  var channelCount: Int { exchanges.channelCount }

  /// Whether more of an answer may leave that has begun: it ends with its token, its session and its
  /// user. Of a store that cannot be read the answer itself tells.
  func mayGoOn(_ exchange: Exchange) -> Bool {
    defer { handOut() }
    return exchanges.mayGoOn(exchange)
  }

  /// The records of users may have changed: the channels of removed users, and those whose sessions
  /// have ended, are closed; the others look at their rights again.
  func recordsChanged() throws(ServerError) {
    defer { handOut() }
    try exchanges.recordsChanged()
  }

  /// A reader has read. Nobody may want it any more.
  func finish(_ pending: PendingRead, _ result: Result<PageRead.Round, StoreError>) {
    defer { handOut() }
    exchanges.finish(pending, result)
  }

  /// Whether another piece of a content may leave that was begun earlier: the row is within the
  /// user's rights, and still names this content.
  package func mayLeave(
    _ reference: BigReference, _ question: ContentQuestion, to identity: Identity
  ) throws(ServerError) -> Bool {
    defer { handOut() }
    return try exchanges.mayLeave(reference, question, to: identity)
  }

  /// What the cache says of a big value, if this user may have its row, and it is the one that the
  /// device wants.
  package func reference(
    _ question: ContentQuestion, for identity: Identity
  ) throws(ServerError) -> Result<(BigReference, Entity, Int), ContentRefusal> {
    defer { handOut() }
    return try exchanges.reference(question, for: identity)
  }

  /// Moves the windows of partition rules whose hour has come. Call it each second. Whether there was
  /// one.
  @discardableResult
  package func moveWindows() -> Bool {
    defer { handOut() }
    return intake.moveWindowsOrLog()
  }

  /// Purges what is old or too much. Call it once an hour; days count as they are seen.
  @discardableResult
  package func compact() throws(ServerError) -> Compaction {
    defer { handOut() }
    return try exchanges.compact()
  }
}
