import FerryConnector
import FerryModel
import FerryWorld

/// Asks a business system again and again what others have changed. It belongs to the actor that owns
/// the connector, and is used on its thread only.
final class Looker {
  private let connector: any Connector
  /// Its number among the connections of the package.
  private let connection: Int
  private let service: ServiceHost
  private let world: World
  private var lastLook: Timestamp?
  /// How far the changes of others were followed; nil where the business system has no cursors.
  private var cursor: String?
  private var nextQuietCursor: Timestamp?
  private var schedule: ComparisonSchedule?
  private(set) var breaker = CircuitBreaker()
  /// Whether the connector follows less than all.
  private var isNarrowed = false
  /// Why the last question came to nothing; nil where it was answered.
  private(set) var failure: String?
  private var trouble: LastingTrouble
  private var shortfall: LastingTrouble

  init(_ connector: any Connector, of connection: Int, _ service: ServiceHost, _ world: World) {
    let fields = service.rules.connections.fields(connection)
    trouble = LastingTrouble(
      "the business system cannot be asked for changes",
      over: "the business system can be asked for changes again", fields)
    shortfall = LastingTrouble(
      "changes of others arrive later than they could", over: "changes of others arrive in time",
      fields)
    self.connection = connection
    self.connector = connector
    self.service = service
    self.world = world
  }

  /// Asks the first time; gives whether a load must begin. Changes count from here on: what came before
  /// them the first load brings, or the cursor that the store has kept.
  func begin(isolation: isolated (any Actor)? = #isolation) async -> Bool {
    await takePlace()
    let isKnown = cursor != nil
    return await look() || !isKnown
  }

  /// Goes on where the store says that the changes of others were followed to.
  func takePlace(isolation: isolated (any Actor)? = #isolation) async {
    do throws(ServerError) { cursor = try await service.sourceCursor(of: connection) } catch {
      world.log.error("the store failed at the start", ("reason", error.description))
    }
    schedule = await service.comparisonHour().map {
      ComparisonSchedule(hour: $0, now: world.clock.now)
    }
  }

  /// What a cache group reads is not asked for here.
  private func followedChanges() throws(ConnectorError) -> BusinessChanges {
    let groups = service.cacheGroups
    guard !groups.isEmpty else {
      if isNarrowed { connector.follow(Set(service.rules.loadOrder.map(\.name))) }
      isNarrowed = false
      return try connector.changes(since: cursor)
    }
    let own = service.rules.connections.entities(service.rules.loadOrder, of: connection)
    let followed = Set(groups.followed(own).map(\.name))
    guard !followed.isEmpty else { return BusinessChanges(cursor: cursor, hints: []) }
    connector.follow(followed)
    isNarrowed = true
    let changes = try connector.changes(since: cursor)
    let hints = changes.hints.compactMap { hint -> ChangeHint? in
      switch hint {
      case .objects(let entity, _), .entity(let entity):
        return followed.contains(entity) ? hint : nil
      case .rows(let rows):
        let own = rows.filter { followed.contains($0.entity) }
        return own.isEmpty ? nil : .rows(own)
      case .anything: return hint
      }
    }
    return BusinessChanges(cursor: changes.cursor, hints: hints, shortfall: changes.shortfall)
  }

  /// True once a day where changes of others are noted: all rows are to be compared. Without a cursor
  /// everything is compared again and again already.
  func isComparisonDue() -> Bool {
    schedule?.isDue(world.clock.now) == true && cursor != nil
  }

  /// The business system could not be asked.
  func tell(_ failure: String) {
    trouble.tell(failure, world.log)
    service.pulse.tellBusiness(failure, of: connection)
  }

  /// Asks what others have changed, where it is time for it; gives whether a load must begin. `atOnce`:
  /// it is time in any case.
  func look(
    atOnce: Bool = false, isolation: isolated (any Actor)? = #isolation
  ) async -> Bool {
    let now = world.clock.moment
    if !atOnce, let lastLook, now < lastLook.advanced(by: connector.lookInterval) { return false }
    lastLook = now
    failure = nil
    let number = await service.beginLook(forRows: connector.looksApart, of: connection)
    let changes: BusinessChanges
    do throws(ConnectorError) { changes = try followedChanges() } catch {
      breaker.note(isReached: !connector.isUnreachable, now)
      failure = error.description
      tell(error.description)
      await service.failLook(number, of: connection)
      return false
    }
    if breaker.isOpen { service.pulse.tellBusiness(nil, of: connection) }
    breaker.note(isReached: true, now)
    trouble.tell(nil, world.log)
    shortfall.tell(changes.shortfall, world.log)
    // What others did not change needs no commit of the store each time.
    let isQuiet = changes.hints.isEmpty
    if isQuiet, changes.cursor == cursor || now < (nextQuietCursor ?? now) {
      cursor = changes.cursor ?? cursor
      await service.endLook(number, needsLoad: false, of: connection)
      return false
    }
    nextQuietCursor = now.advanced(by: .seconds(1))
    do throws(ServerError) {
      let needsLoad = try await service.take(changes, of: number, from: connection)
      // Only what the service has taken is behind us.
      cursor = isQuiet ? changes.cursor ?? cursor : changes.cursor
      await service.endLook(number, needsLoad: needsLoad, of: connection)
      return needsLoad
    } catch {
      failure = error.description
      world.log.error("reported changes could not be stored", ("reason", error.description))
      return false
    }
  }
}
