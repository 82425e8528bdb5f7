import FerryMemoryConnector
import FerryModel
import FerrySQLite
import FerrySQLiteStore
import FerryWire

/// The checkers of a run with several nodes, beside the store and the business system.
struct NodeWatch {
  private var states: [RowName: [Oracle.State]] = [:]
  private var places: [RowName: Int] = [:]
  private var clock: Int64 = -1
  /// When the clock came to each number, in milliseconds.
  private var clocks: [(time: Int64, clock: Int64)] = []
  private(set) var history = BusinessHistory()

  /// Invariants 2, 8 and 10: what the store and the business system have become since the last look.
  mutating func observe(_ business: MemoryBusiness, _ shared: SharedStore, now: Int64) throws {
    history.take(business.history)
    for (id, times) in history.performed where times > 1 {
      throw SimulationFailure(invariant: 2, problem: "\(id) was performed \(times) times")
    }
    let connection = shared.rows.writer
    let found = try connection.value("SELECT version FROM package")?.integer ?? 0
    guard found >= clock else {
      throw SimulationFailure(
        invariant: 8, problem: "the store's clock went from \(clock) back to \(found)")
    }
    for row in try ObservedRow.all(connection) {
      try observe(row.name, row.version, row.body, upTo: found)
    }
    if found != clock { clocks.append((now, found)) }
    clock = found
  }

  private mutating func observe(
    _ name: RowName, _ version: Int64, _ body: [UInt8]?, upTo found: Int64
  ) throws {
    let last = states[name]?.last
    guard version != last?.version || body != last?.body else { return }
    guard version > clock, version <= found else {
      throw SimulationFailure(
        invariant: 8,
        problem: "\(name) gets the number \(version) where the clock went from \(clock) to \(found)"
      )
    }
    states[name, default: []].append(Oracle.State(version: version, body: body))
    guard let place = history.place(of: name, body: body, from: places[name] ?? 0) else {
      throw SimulationFailure(
        invariant: 10,
        problem: "\(name) in the cache went back to \(Oracle.shown(body)) at \(version)")
    }
    places[name] = place
  }

  /// Invariants 4 and 9: the device has the store's state of its checkpoint, and one that was the
  /// last not more than 5 s ago.
  func check(_ device: NodeDevice, _ checkpoint: Checkpoint, now: Int64) throws {
    guard checkpoint.unavailable.isEmpty else { return }
    let due = clocks.last { $0.time <= now - 6_000 }?.clock ?? 0
    guard checkpoint.version >= due else {
      throw SimulationFailure(
        invariant: 9,
        problem:
          "\(device.name) has \(checkpoint.version) as the last state, and \(due) was "
          + "committed more than 6 s ago")
    }
    let all = states.compactMapValues { $0.last { $0.version <= checkpoint.version }?.body }
    let visible = all.filter {
      SimulatedBusiness.group(of: $0.key.entity) == checkpoint.group
        && Oracle.isVisible($0.key, $0.value, all, device.agencies)
    }
    let own = device.rows.filter {
      SimulatedBusiness.group(of: $0.key.entity) == checkpoint.group
    }.mapValues(\.body)
    guard own == visible else {
      throw SimulationFailure(
        invariant: 4,
        problem: "\(device.name) at \(checkpoint.version): \(Oracle.difference(own, visible))")
    }
  }

  /// Invariant 2: what was answered is what the business system did.
  func checkAnswers(_ devices: [NodeDevice]) throws {
    for device in devices {
      for (id, outcome) in device.answers.sorted(by: { $0.key.text < $1.key.text }) {
        let times = history.performed[id] ?? 0
        guard outcome == .unknown || times != (outcome == .replayResult ? 1 : 0) else { continue }
        throw SimulationFailure(
          invariant: 2,
          problem: "\(id) is answered \(outcome.rawValue) and was performed \(times) times")
      }
    }
  }

  /// Invariant 9, when nothing moves any more.
  func checkEnd(_ business: MemoryBusiness) throws {
    var real: [RowName: [UInt8]] = [:]
    for entity in SimulatedBusiness.package.entities {
      for (key, values) in business.rows(of: entity.name) {
        real[RowName(entity: entity.name, key: key)] = RowCoder.encode(values)
      }
    }
    let cached = states.compactMapValues { $0.last?.body }
    guard cached == real else {
      throw SimulationFailure(
        invariant: 9,
        problem: "the cache is not the business: \(Oracle.difference(cached, real))")
    }
  }
}
