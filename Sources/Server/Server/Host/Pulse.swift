import FerryJSON
import FerryWorld
import Synchronization

/// How a server is, kept where it can be told without asking a thread that may be stuck.
package final class Pulse: Sendable {
  fileprivate struct State {
    var isLoaded = false
    var trouble: ServerError?
    /// By the number of the connection.
    var business: [Int: String] = [:]
    var load: LoadProgress?
    var rejected = RejectedRows()
    var comparison: ComparisonReport?
    var compared: (at: Duration, report: ComparisonReport)?
    var beat: Timestamp
  }

  /// How long the store's thread may be busy or stuck before that is told.
  static let patience: Duration = .seconds(5)

  private let world: World
  private let connections: PackageConnections?
  private let cacheGroups: CacheGroups?
  private let state: Mutex<State>

  /// `connections`: of the package; nil where only one is known.
  init(
    world: World, connections: PackageConnections? = nil, cacheGroups: CacheGroups? = nil
  ) {
    self.cacheGroups = cacheGroups
    self.world = world
    self.connections = connections
    state = Mutex(State(beat: world.clock.now))
  }

  /// The store's thread is alive; `isLoaded` where it could be asked. `rejected`: the rows that no
  /// device gets.
  func beat(isLoaded: Bool?, rejected: RejectedRows) {
    let now = world.clock.now
    state.withLock { state in
      state.isLoaded = isLoaded ?? state.isLoaded
      state.rejected = rejected
      state.beat = now
    }
  }

  var isLoaded: Bool { state.withLock { $0.isLoaded } }
  var rejectedRows: Int { state.withLock { $0.rejected.count } }
  var isTroubled: Bool { state.withLock { $0.trouble != nil } }

  /// What the store said last; nil when it takes what is written. Each change is logged once.
  func tell(_ trouble: ServerError?) {
    let before = state.withLock { state in
      defer { state.trouble = trouble }
      return state.trouble
    }
    guard before?.code != trouble?.code else { return }
    if let trouble {
      world.log.error(
        "the store cannot be used", ("code", trouble.code.rawValue), ("reason", trouble.message),
        ("hint", trouble.hint))
    } else {
      world.log.info("the store can be used again")
    }
  }

  /// Why the business system did not do what it was asked; nil when it did.
  func tellBusiness(_ trouble: String?, of connection: Int = 0) {
    state.withLock { $0.business[connection] = trouble }
  }

  /// How far the load has come that is under way; nil when there is none.
  func tellLoad(_ load: LoadProgress?) { state.withLock { $0.load = load } }
  var load: LoadProgress? { state.withLock { $0.load } }

  /// How far a comparison in slices has come; nil when there is none.
  func tellComparison(_ report: ComparisonReport?) { state.withLock { $0.comparison = report } }

  /// All rows were compared, in slices or by a load.
  func tellCompared(_ report: ComparisonReport) {
    let now = world.clock.uptime
    state.withLock { $0.compared = (now, report) }
  }

  /// What one of several packages says of itself, and whether it serves devices.
  struct Report {
    let isWell: Bool
    /// Whether the first load has ended.
    var isLoaded: Bool { state.isLoaded }
    let status: String
    let isStuck: Bool
    fileprivate let state: State
    fileprivate let seconds: Int64
    fileprivate let uptime: Duration
    fileprivate let connections: PackageConnections?
    fileprivate let groups: [CacheGroups.Status]
  }

  /// Of now.
  var report: Report {
    let now = world.clock.now
    let state = state.withLock { $0 }
    let isStuck = now > state.beat.advanced(by: Pulse.patience)
    let status =
      if isStuck {
        "stuck"
      } else if state.trouble != nil {
        "trouble"
      } else if !state.business.isEmpty {
        "degraded"
      } else {
        state.isLoaded ? "ready" : "loading"
      }
    return Report(
      isWell: !isStuck && state.trouble == nil, status: status, isStuck: isStuck, state: state,
      seconds: (now.milliseconds - state.beat.milliseconds) / 1_000,
      uptime: world.clock.uptime, connections: connections,
      groups: cacheGroups?.statuses(at: world.clock.uptime) ?? [])
  }
}

extension Pulse.Report {
  /// Its fields, with reasons, which name files.
  func write(to writer: inout JSONWriter) {
    writer.field("status", status)
    if isStuck {
      writer.field("code", "storeStuck")
      writer.field("message", "the store has not answered for \(seconds) s")
      writer.field("hint", "Check its disk. Waiting work continues when the disk works again.")
    } else if let trouble = state.trouble {
      writer.field("code", trouble.code.rawValue)
      writer.field("message", trouble.message)
      writer.field("hint", trouble.hint)
    }
    writer.field("loaded", isLoaded)
    if let first = state.business.min(by: { $0.key < $1.key }) {
      writer.field("business", first.value)
    }
    writeConnections(to: &writer)
    if let load = state.load { load.write(to: &writer) }
    writeComparison(to: &writer)
    writeRejected(to: &writer)
    guard !groups.isEmpty else { return }
    writer.key("cacheGroups")
    writer.array(groups) { $1.write(to: &$0) }
  }

  /// Each connection with what is wrong, where there are several.
  private func writeConnections(to writer: inout JSONWriter) {
    guard let connections, connections.areSeveral else { return }
    writer.key("connections")
    writer.array(connections.names.indices) { writer, connection in
      writer.beginObject()
      writer.field("connection", connections.shown(connection))
      let trouble = state.business[connection]
      writer.field("status", trouble == nil ? "ready" : "degraded")
      if let trouble { writer.field("business", trouble) }
      writer.endObject()
    }
  }

  /// How many rows do not fit the model, and one of them with its cure.
  private func writeRejected(to writer: inout JSONWriter) {
    guard let row = state.rejected.example else { return }
    writer.key("leftOut")
    writer.beginObject()
    writer.field("rows", Int64(state.rejected.count))
    writer.field("entity", row.entity)
    writer.field("key", row.key)
    writer.field("attribute", row.attribute)
    writer.field("reason", row.reason)
    writer.endObject()
  }

  /// How old the last comparison of all rows is, what it found and what it cost.
  private func writeComparison(to writer: inout JSONWriter) {
    guard state.comparison != nil || state.compared != nil else { return }
    writer.key("comparison")
    writer.beginObject()
    if let (moment, report) = state.compared {
      writer.key("ageSeconds")
      writer.raw(String(Int64((uptime - moment) / .seconds(1))).utf8)
      report.write(to: &writer)
    }
    if let report = state.comparison {
      writer.key("running")
      writer.beginObject()
      report.write(to: &writer)
      writer.endObject()
    }
    writer.endObject()
  }
}

extension ComparisonReport {
  fileprivate func write(to writer: inout JSONWriter) {
    for (name, value) in fields {
      writer.key(name)
      writer.raw(value.utf8)
    }
  }
}
