import FerryConnector
import FerryModel
import FerryWorld

/// How a load reads what it has to read.
extension LoadHost {
  enum LoadFailure: Error {
    case store(ServerError)
    case connector(ConnectorError, of: Int)
  }

  /// How often a load goes on behind the last page that was kept without another page coming.
  static let resumptions = 10

  /// Reads every scope to its end. Where the line breaks it goes on behind the last page, if the
  /// connector can.
  func read(
    _ connections: [Int], _ ticket: LoadTicket, of group: String?, _ report: inout LoadReport
  ) async throws(LoadFailure) -> LoadCoverage {
    var parts: [LoadCoverage.Part] = []
    if group == nil { try count(connections, ticket, &report) }
    for connection in connections {
      for scope in scopes(of: connection, ticket) {
        parts.append(try await read(scope, of: connection, ticket, group, &report))
      }
    }
    let coverage = LoadCoverage(parts)
    // Devices take what a first load gives for everything that there is.
    guard !ticket.isFirst || service.rules.loadOrder.allSatisfy({ coverage.isWhole($0) }) else {
      throw .connector(
        ConnectorError(
          "The load did not give every row", hint: "It is tried again.", isTransient: true),
        of: connections[0])
    }
    return coverage
  }

  /// How many rows there will be. Counting reads the tables once more: only where nobody knows.
  func count(
    _ connections: [Int], _ ticket: LoadTicket, _ report: inout LoadReport
  ) throws(LoadFailure) {
    report.total = lastRows[ticket.connection]
    if report.total == nil {
      var total: Int? = 0
      for connection in connections {
        let entities = service.rules.connections.entities(package.entities, of: connection)
        do throws(ConnectorError) {
          let count = try connectors[connection].rowCount(entities)
          total = count.flatMap { count in total.map { $0 + count } }
        } catch {
          // Of several connections one may be away: its rows are waited for when it is its turn.
          guard connections.count > 1 else { throw .connector(error, of: connection) }
          total = nil
        }
      }
      report.total = total
    }
    report.add(0)
  }

  func read(
    _ scope: LoadScope, of connection: Int, _ ticket: LoadTicket, _ group: String?,
    _ report: inout LoadReport
  ) async throws(LoadFailure) -> LoadCoverage.Part {
    var place: LoadPlace?
    var attempts = 0
    while true {
      let part = readPages(of: scope, connection, from: place, ticket, group, &report)
      if let failure = part.failure { throw .store(failure) }
      if let end = part.end {
        if ticket.connection == nil { tell(nil, of: connection) }
        return LoadCoverage.Part(scope, end)
      }
      let error = part.error ?? ConnectorError("", hint: "", isTransient: true)
      // What a first load has of other connections is not read once more for one that is away.
      if ticket.isFirst, connectors.count > 1, !part.hasRows, place == nil, error.isTransient,
        !isStopped
      {
        tell(error, of: connection)
        await executor.sleep(for: .seconds(1))
        continue
      }
      attempts = part.hasPages ? 1 : attempts + 1
      guard let next = part.next ?? (part.hasPages ? nil : place), error.isTransient,
        attempts <= LoadHost.resumptions, !isStopped
      else { throw .connector(error, of: connection) }
      world.log.warn(
        "a load was interrupted; it goes on behind the last page", ("reason", error.description))
      place = next
      await executor.sleep(for: .seconds(1))
    }
  }

  /// What one reading came to.
  private struct ReadPages {
    var end: LoadEnd?
    var error: ConnectorError?
    /// The store could not take the rows.
    var failure: ServerError?
    var hasPages = false
    /// Or rows that do not fit.
    var hasRows = false
    /// Behind the last page; nil where the load cannot go on there.
    var next: LoadPlace?
  }

  private func readPages(
    of scope: LoadScope, _ connection: Int, from place: LoadPlace?, _ ticket: LoadTicket,
    _ group: String?, _ report: inout LoadReport
  ) -> ReadPages {
    let service = self.service
    let groups = service.cacheGroups
    var result = ReadPages()
    var feed = LoadFeed(service, ticket)
    func keeping(_ body: () throws(ServerError) -> Void) throws(ConnectorError) {
      do throws(ServerError) { try body() } catch {
        result.failure = error
        throw ConnectorError(error.message, hint: error.hint, isTransient: error.isTransient)
      }
    }
    do throws(ConnectorError) {
      result.end = try connectors[connection].load(
        scope, from: place,
        each: { page throws(ConnectorError) in
          guard group.map({ !groups.isSuspended($0) }) ?? true else {
            throw CacheGroups.wasSuspended
          }
          try keeping { () throws(ServerError) in try feed.add(page.entity, page.rows) }
          report.add(page.rows.count)
          result.hasPages = true
          result.hasRows = true
          result.next = page.next
        },
        rejected: { row in
          result.hasRows = true
          service.stage(ticket, rejected: row)
        })
    } catch { result.error = error }
    // What was read is kept, however the reading ended.
    guard result.failure == nil else { return result }
    do throws(ServerError) { try feed.finish() } catch { result.failure = error }
    return result
  }
}
