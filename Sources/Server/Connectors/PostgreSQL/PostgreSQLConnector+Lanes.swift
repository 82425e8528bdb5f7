import FerryConnector
import FerryModel
import FerryPostgreSQL

/// Replay on several connections.
extension PostgreSQLConnector {
  /// A row that another transaction has locked holds up the other lanes too: less long, and the
  /// operation is tried again soon.
  static let laneLockMilliseconds: Int = 1_000
  /// After a conflict, or where there was no connection, everything is done on one.
  static let pause: Duration = .seconds(10)

  /// How the groups are shared out; nil where one connection does them.
  func shareOut(_ groups: [[ConnectorOperation]]) -> Lanes? {
    guard settings.connections > 1, settings.remembersOperations,
      groups.count >= 2 * Lanes.leastGroups,
      lanesPausedUntil.map({ $0 <= settings.clock.uptime }) ?? true
    else { return nil }
    let lanes = Lanes(groups, connections: settings.connections)
    return lanes.places.count > 1 ? lanes : nil
  }

  /// Performs every group. Returns when all lanes have ended, so that nobody looks for changes of
  /// others while one of our own is under way.
  func perform(
    _ groups: [[ConnectorOperation]], in shared: Lanes, _ writer: Writer
  ) -> [PerformResult] {
    while lanes.count < shared.places.count - 1 { lanes.append(Lane()) }
    let (settings, attempts, leadership, own) = (settings, attempts, leadership, own)
    let isPrepared = writer.isPrepared
    let waits = zip(shared.places.dropFirst(), lanes).map { places, lane in
      lane.begin(places.map { groups[$0] }, isPrepared: isPrepared) {
        do throws(PostgreSQLError) {
          let connection = try PostgreSQLConnection(
            settings.address, deadlines: settings.deadlines)
          let writer = try Writer(connection, settings, attempts, leadership, own)
          writer.lockMilliseconds = min(
            settings.lockMilliseconds, PostgreSQLConnector.laneLockMilliseconds)
          return writer
        } catch { return nil }
      }
    }
    writer.lockMilliseconds = min(
      settings.lockMilliseconds, PostgreSQLConnector.laneLockMilliseconds)
    defer { writer.lockMilliseconds = settings.lockMilliseconds }
    var ends = [Lane.run(shared.places[0].map { groups[$0] }, writer)]
    for wait in waits { ends.append(wait()) }
    for index in ends.indices where ends[index].results == nil {
      lanesPausedUntil = settings.clock.uptime + PostgreSQLConnector.pause
      ends[index] = Lane.run(shared.places[index].map { groups[$0] }, writer)
    }
    if ends.contains(where: \.hasConflicted) {
      lanesPausedUntil = settings.clock.uptime + PostgreSQLConnector.pause
    }
    var results = [PerformResult](repeating: .notDone(reason: Lane.untried), count: groups.count)
    for (places, end) in zip(shared.places, ends) {
      for (place, result) in zip(places, end.results ?? []) { results[place] = result }
    }
    readBack(&results, ends, shared)
    return results
  }

  /// A row that two lanes touched is read again: which of them changed it last nobody knows.
  private func readBack(_ results: inout [PerformResult], _ ends: [Lane.Result], _ shared: Lanes) {
    var lanesOf: [SQLTouchedRow: Set<Int>] = [:]
    for (lane, places) in shared.places.enumerated() {
      for place in places {
        guard case .done(_, let touched) = results[place] else { continue }
        for image in touched {
          lanesOf[SQLTouchedRow(entity: image.entity, key: image.key), default: []].insert(lane)
        }
      }
    }
    let common = lanesOf.filter { $0.value.count > 1 }.keys
    guard !common.isEmpty else { return }
    var images: [SQLTouchedRow: RowImage] = [:]
    do throws(ConnectorError) {
      for (name, rows) in Dictionary(grouping: common, by: \.entity) {
        guard let entity = settings.package.entity(named: name) else { continue }
        for image in try read(entity, keys: rows.map(\.key)) {
          images[SQLTouchedRow(entity: name, key: image.key)] = image
        }
      }
    } catch {
      // Their entries are hints like those of others then, and each row is read.
      images = [:]
      own.remove(ends.flatMap(\.transactions))
    }
    for index in results.indices {
      guard case .done(let outcomes, let touched) = results[index] else { continue }
      results[index] = .done(
        outcomes,
        touched: touched.compactMap { image in
          let row = SQLTouchedRow(entity: image.entity, key: image.key)
          return common.contains(row) ? images[row] : image
        })
    }
  }
}
