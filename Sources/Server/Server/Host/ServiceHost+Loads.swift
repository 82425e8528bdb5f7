import FerryConnector
import FerryModel
import FerryWorld

/// What the load host asks of the service.
extension ServiceHost {
  func nextReadBack(of connection: Int? = nil) throws(ServerError) -> ReadBackTask? {
    seenReaderCalls[connection] = readerCalls
    return try service.nextReadBack(of: connection)
  }

  /// Whoever calls this looks for something to read from here on.
  func seenReading(of connection: Int?) { seenReaderCalls[connection] = readerCalls }

  /// Whether a load must begin from now on.
  func take(
    _ changes: BusinessChanges, of look: Int64, from connection: Int
  ) throws(ServerError) -> Bool {
    defer { wakeReaders() }
    return try service.take(changes, of: look, from: connection)
  }

  /// `entities`: the names of those that it reads; nil: all of the connection.
  func beginLoad(
    of connection: Int? = nil, only entities: [String]? = nil
  ) throws(ServerError) -> LoadTicket {
    try service.beginLoad(of: connection, only: entities)
  }

  func endLoad(
    _ ticket: LoadTicket, _ coverage: LoadCoverage? = nil
  ) throws(ServerError) -> LoadStep {
    let step = try service.endLoad(ticket, coverage)
    if case .done = step {
      meter.loaded(at: world.clock.moment)
      pulse.beat(isLoaded: try service.isLoaded(), rejected: service.rejectedRows)
    }
    return step
  }

  /// The hour of the day (UTC) at which all rows are compared; nil: never.
  func comparisonHour() -> Int? { service.limits.comparisonHour }

  /// False before the first load, which compares everything.
  func beginComparison(of connection: Int) throws(ServerError) -> Bool {
    guard try service.isLoaded() else { return false }
    try service.beginComparison(of: connection)
    return true
  }

  /// Encodes a slice on the thread that reads it.
  nonisolated func batch(_ entity: Entity, _ rows: [RowImage]) -> LoadBatch? {
    rules.position(of: entity.name).map {
      LoadCoder(rules: rules).batch($0, rows, isFirst: false)
    }
  }

  /// How many rows differ, which are read again; nil where all of them must be loaded.
  func compare(_ batch: LoadBatch) throws(ServerError) -> Int? {
    try service.compare(batch)
  }

  func finishComparison() throws(ServerError) -> Int? { try service.finishComparison() }

  func endComparison() { service.endComparison() }

  func finish(_ task: ReadBackTask, _ rows: [RowImage]) throws(ServerError) {
    try service.finish(task, rows)
  }

  func abandon(_ task: ReadBackTask) { service.abandon(task) }

  func sourceCursor(of connection: Int) throws(ServerError) -> String? {
    try service.sourceCursor(of: connection)
  }

  func abandonLoad(_ ticket: LoadTicket) { service.abandonLoad(ticket) }

  /// Takes rows of a load, from the thread that loads, and returns at once. What is returned waits
  /// until they are taken, and says how long the service was busy with them.
  nonisolated func begin(
    _ ticket: LoadTicket, _ batch: LoadBatch
  ) -> @Sendable () -> Result<Duration, ServerError> {
    let clock = world.clock
    return executor.begin { () -> Result<Duration, ServerError> in
      self.assumeIsolated { host in
        let start = clock.uptime
        guard !host.isStopped else { return .failure(ServiceHost.stopped) }
        do throws(ServerError) { try host.service.take(ticket, batch) } catch {
          return .failure(error)
        }
        return .success(clock.uptime - start)
      }
    }
  }

  nonisolated func stage(_ ticket: LoadTicket, rejected row: RejectedRow) {
    let log = world.log
    executor.performAndWait {
      self.assumeIsolated { host in
        do throws(ServerError) { try host.service.stage(ticket, rejected: row) } catch {
          log.error("a rejected row cannot be noted", ("reason", error.description))
        }
      }
    }
  }
}
