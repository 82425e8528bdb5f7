import Ferry
import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerrySQLite
import FerryWire

/// The model beside the run: every state of the server's cache by version, against which devices
/// and business system are compared.
struct Oracle {
  private struct State {
    let version: Int64
    let body: [UInt8]?
  }

  private let connection: Connection
  private var history: [String: [Key: [State]]] = [:]
  private var seen: Int64 = 0
  private var checked: [Int: Int64] = [:]

  init(folder: String) throws {
    connection = try Connection(path: "\(folder)/\(Oracle.storeFile)", mode: .readWrite)
  }

  static let storeFile = "server.sqlite"

  /// Writes down what the server's cache has become since the last look.
  mutating func observe(at step: Int) throws {
    let rows = try connection.rows(
      """
      SELECT entity.name, row.key, row.body, row.version, row.deleted FROM row
      JOIN entity ON entity.id = row.entity WHERE row.version > ? ORDER BY row.version
      """, .integer(seen))
    for row in rows {
      guard let entity = row[0].text, let key = row[1].text, let version = row[3].integer else {
        continue
      }
      let state = State(version: version, body: row[4].integer == 1 ? nil : row[2].blob)
      history[entity, default: [:]][Key(text: key), default: []].append(state)
      seen = max(seen, version)
    }
  }

  /// Invariant 4: the images of a device are the rows of its rights at its checkpoint, byte for
  /// byte; invariant 5: what is not pending is shown as it was downloaded.
  mutating func check(_ device: SimulatedDevice, at step: Int) throws {
    guard let version = try device.checkpoint() else { return }
    if checked[device.number] != version {
      checked[device.number] = version
      let expected = rows(of: device, at: version)
      for entity in SimulatedBusiness.package.entities {
        let images = try device.images(entity)
        let wanted = expected[entity.name] ?? [:]
        guard images != wanted else { continue }
        throw SimulationFailure(
          invariant: 4, step: step,
          problem: "device \(device.number) at \(version): \(difference(entity, images, wanted))")
      }
    }
    for entity in SimulatedBusiness.package.entities {
      let images = try device.images(entity)
      for record in try device.records(entity) where record.pending == .none {
        guard images[record.key] != RowCoder.encode(record.values) else { continue }
        throw SimulationFailure(
          invariant: 5, step: step,
          problem:
            "device \(device.number) shows \(entity.name) \(record.key) otherwise than it came")
      }
    }
  }

  private func difference(
    _ entity: Entity, _ images: [Key: [UInt8]], _ wanted: [Key: [UInt8]]
  )
    -> String
  {
    let keys = Set(images.keys).union(wanted.keys).sorted { $0.text < $1.text }
    let text = { (body: [UInt8]?) in body.map { String(decoding: $0, as: UTF8.self) } ?? "nothing" }
    let lines = keys.filter { images[$0] != wanted[$0] }.map {
      "\(entity.name) \($0) is \(text(images[$0])), should be \(text(wanted[$0]))"
    }
    return lines.joined(separator: "; ")
  }

  /// The cache at a version, as far as a device may see it, by rules of our own.
  private func rows(of device: SimulatedDevice, at version: Int64) -> [String: [Key: [UInt8]]] {
    var all: [String: [Key: [UInt8]]] = [:]
    for (entity, rows) in history {
      for (key, states) in rows {
        guard let body = states.last(where: { $0.version <= version })?.body else { continue }
        all[entity, default: [:]][key] = body
      }
    }
    let orders = (all["Order"] ?? [:]).filter { _, body in
      guard case .integer(let agency) = Oracle.values(body, SimulatedBusiness.order)[1] else {
        return false
      }
      return device.agencies.contains(agency)
    }
    all["Order"] = orders
    all["Line"] = (all["Line"] ?? [:]).filter { _, body in
      orders[Key([Oracle.values(body, SimulatedBusiness.line)[0]])] != nil
    }
    return all
  }

  private static func values(_ body: [UInt8], _ entity: Entity) -> [Value] {
    let read = try? RowCoder.decode(body, types: entity.attributes.map(\.type))
    return read ?? [Value](repeating: .null, count: entity.attributes.count)
  }

  /// Invariant 2: no operation has more than one effect.
  func checkEffects(_ business: MemoryBusiness, at step: Int) throws {
    var known: Set<OperationID> = []
    for commit in business.history {
      for part in commit.parts {
        guard let operation = part.operation else { continue }
        guard known.insert(operation).inserted else {
          throw SimulationFailure(
            invariant: 2, step: step, problem: "the operation \(operation) was performed twice")
        }
      }
    }
  }

  /// Invariants 2, 7 and 9, when nothing moves any more.
  func checkEnd(_ simulation: Simulation) throws {
    let step = simulation.finalCounts().steps
    for entity in SimulatedBusiness.package.entities {
      let cached = (history[entity.name] ?? [:]).compactMapValues { $0.last?.body }
      let real = simulation.business.rows(of: entity.name).mapValues { RowCoder.encode($0) }
      guard cached == real else {
        throw SimulationFailure(
          invariant: 9, step: step,
          problem: "the cache is not the business: \(difference(entity, cached, real))")
      }
    }
    for device in simulation.devices {
      let clock = try simulation.server.service.clock()
      let expected = rows(of: device, at: clock)
      for entity in SimulatedBusiness.package.entities {
        let images = try device.images(entity)
        guard images != expected[entity.name] ?? [:] else { continue }
        throw SimulationFailure(
          invariant: 9, step: step,
          problem:
            "device \(device.number) at rest: \(difference(entity, images, expected[entity.name] ?? [:]))"
        )
      }
      for operation in try device.operations() where operation.isInFlight {
        throw SimulationFailure(
          invariant: 9, step: step,
          problem: "\(operation.kind) \(operation.entity) \(operation.key) of device "
            + "\(device.number) is \(operation.state) at rest")
      }
    }
    try checkOutcomes(simulation, step)
  }

  private func checkOutcomes(_ simulation: Simulation, _ step: Int) throws {
    let performed = Set(
      simulation.business.history.flatMap(\.parts).compactMap { $0.operation?.text })
    for row in try connection.rows("SELECT id, outcome FROM operation ORDER BY sequence") {
      let id = row[0].text ?? ""
      let isAccepted = row[1].text == Answer.Outcome.replayResult.rawValue
      guard isAccepted != performed.contains(id) else { continue }
      throw SimulationFailure(
        invariant: 2, step: step,
        problem: "the operation \(id) is answered \(row[1].text ?? "nothing") and was "
          + (performed.contains(id) ? "performed" : "not performed"))
    }
  }
}
