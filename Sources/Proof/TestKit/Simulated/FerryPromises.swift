import Ferry
import FerryModel
import FerrySQLite
import Synchronization

/// What Ferry promises every app, checked in each simulated test without a word of it.
struct FerryPromises {
  private var performed: Set<OperationID> = []
  private var seenCommits = 0
  /// Changes that a device has saved and that have not ended, with what they are.
  private var open: [Int: [OperationID: String]] = [:]

  /// Looks after a step. `appRan`: the app's code ran on this device in it, and may have taken back
  /// what it had not sent.
  mutating func check(_ run: SimulatedRun, appRan device: Int?) throws {
    try checkPerformed(run.server)
    for one in run.devices { try checkSaved(one, isStrict: one.number != device) }
  }

  private mutating func checkPerformed(_ server: TestServer) throws {
    let history = server.business.history
    for commit in history.dropFirst(seenCommits) {
      for case let part in commit.parts {
        guard let id = part.operation, !performed.insert(id).inserted else { continue }
        let effect = part.effects.first.map { "\($0.entity) \($0.key)" } ?? "an operation"
        throw SimulatedFailure("Ferry: the change of \(effect) was performed twice")
      }
    }
    seenCommits = history.count
  }

  private mutating func checkSaved(_ device: SimulatedDevice, isStrict: Bool) throws {
    let store = device.database.store
    let (waiting, ended) = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        (
          try connection.rows("SELECT id, kind, entity, key, state FROM ferry_operation", []),
          try connection.rows("SELECT id FROM ferry_outcome", [])
        )
      }
    }
    var now: [OperationID: String] = [:]
    for row in waiting {
      guard let id = row[0].text.flatMap({ OperationID($0) }) else { continue }
      now[id] = [1, 2, 3].map { row[$0].text ?? "?" }.joined(separator: " ")
    }
    let ends = Set(ended.compactMap { $0[0].text.flatMap { OperationID($0) } })
    let lost = (open[device.number] ?? [:]).filter { now[$0.key] == nil && !ends.contains($0.key) }
    if isStrict, let change = lost.values.sorted().first {
      throw SimulatedFailure("Ferry: the \(change) saved on \(device) is lost")
    }
    open[device.number] = now.filter { !ends.contains($0.key) }
  }

  /// At the end every device shows what the business system has, but for what is pending there.
  func checkShown(_ run: SimulatedRun) throws {
    for device in run.devices {
      for entity in run.server.package.entities where !entity.isClientOnly && !entity.key.isEmpty {
        try checkShown(entity, on: device, run.server)
      }
    }
  }

  private func checkShown(_ entity: Entity, on device: SimulatedDevice, _ server: TestServer) throws
  {
    let store = device.database.store
    let (rows, pending) = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        (
          try store.rows(of: entity).visibleRows(connection, "", []),
          try connection.rows(
            "SELECT key FROM ferry_operation WHERE entity = ?", .text(entity.name))
        )
      }
    }
    let business = server.business.rows(of: entity.name)
    let compared = entity.attributes.indices.filter {
      !entity.attributes[$0].isClientOnly && !entity.attributes[$0].type.isBig
    }
    for row in rows where row.pending == .none {
      let key = entity.key(of: row.values)
      guard let there = business[key] else {
        throw SimulatedFailure(
          "Ferry: \(device) shows \(entity.name) \(key), which is not in the business system")
      }
      for position in compared where row.values[position] != there[position] {
        throw SimulatedFailure(
          "Ferry: \(entity.name) \(key) has \(entity.attributes[position].name) "
            + "\(row.values[position].shown) on \(device), and \(there[position].shown) in the "
            + "business system")
      }
    }
    guard entity.partition == nil else { return }
    let keys = Set(
      rows.map { entity.key(of: $0.values) }
        + pending.compactMap { $0[0].text.map { ObjectKey(text: $0) } })
    for key in business.keys.sorted(by: { $0.text < $1.text }) where !keys.contains(key) {
      throw SimulatedFailure("Ferry: \(device) does not show \(entity.name) \(key)")
    }
  }
}
