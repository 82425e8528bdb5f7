import Ferry
import FerryModel

/// All that a device holds at one moment, and whether it makes sense by itself.
struct Snapshot {
  private let number: Int
  private let visible: [(entity: Entity, rows: [VisibleRow])]
  private let operations: [PendingOperation]
  private let records: [ObjectNumber: Int]
  /// By entity and surrogate key.
  let images: [String: [Int64: [Value]]]
  /// The surrogate keys of what is visible.
  let objects: [RowName: Int64]

  init(_ device: SimulatedDevice, _ operations: [PendingOperation]) throws {
    number = device.number
    self.operations = operations
    var visible: [(entity: Entity, rows: [VisibleRow])] = []
    var images: [String: [Int64: [Value]]] = [:]
    var objects: [RowName: Int64] = [:]
    for entity in SimulatedBusiness.package.entities {
      let rows = try device.visible(entity)
      visible.append((entity, rows))
      images[entity.name] = try device.images(entity)
      for row in rows {
        objects[RowName(entity: entity.name, key: entity.key(of: row.values))] = row.object
      }
    }
    self.visible = visible
    self.images = images
    self.objects = objects
    records = operations.contains { $0.state == .replayFailed } ? try device.logRecords() : [:]
  }

  /// The images as they travelled.
  func bodies() -> [RowName: [UInt8]] {
    var bodies: [RowName: [UInt8]] = [:]
    for entity in SimulatedBusiness.package.entities {
      for values in (images[entity.name] ?? [:]).values {
        bodies[RowName(entity: entity.name, key: entity.key(of: values))] = RowCoder.encode(values)
      }
    }
    return bodies
  }

  func row(_ name: ObjectNumber) -> VisibleRow? {
    visible.first { $0.entity.name == name.entity }?.rows.first { $0.object == name.number }
  }

  func check(isCopy: Bool, _ ledger: Ledger) throws {
    for (entity, rows) in visible { try check(entity, rows) }
    try checkReferences(isCopy: isCopy, ledger)
  }

  /// Invariant 5: what is visible is the images with the pending changes in order on top.
  private func check(_ entity: Entity, _ rows: [VisibleRow]) throws {
    var live: [Int64: [PendingOperation]] = [:]
    for operation in operations where operation.entity == entity.name {
      if operation.state != .withdrawn { live[operation.object, default: []].append(operation) }
    }
    let images = images[entity.name] ?? [:]
    var shown: [Int64: VisibleRow] = [:]
    for row in rows { shown[row.object] = row }
    for object in Set(images.keys).union(live.keys).union(shown.keys).sorted() {
      let changes = live[object] ?? []
      try check(entity, object, shown[object], images[object], changes)
      // Invariant 7: a refusal stays with its log record until it is dealt with.
      let name = ObjectNumber(entity: entity.name, number: object)
      if changes.contains(where: { $0.state == .replayFailed }), records[name] == nil {
        throw failure(7, "\(entity.name) \(object) was refused and has no log record")
      }
    }
  }

  private func check(
    _ entity: Entity, _ object: Int64, _ row: VisibleRow?, _ image: [Value]?,
    _ changes: [PendingOperation]
  ) throws {
    var values = image.map { Dictionary(uniqueKeysWithValues: $0.enumerated().map { ($0, $1) }) }
    for change in changes {
      if change.kind == .delete {
        if change.state != .replayFailed || change.counter > change.failure { values = nil }
      } else {
        // Without an image only what was changed is known.
        values = (values ?? [:]).merging(change.changed) { _, new in new }
      }
    }
    let key = row.map { entity.key(of: $0.values).text } ?? "(hidden)"
    let what = "\(entity.name) \(key), object \(object)"
    guard (row == nil) == (values == nil) || isRefusedDelete(changes, image) else {
      throw failure(5, "\(what) is \(row == nil ? "not " : "")visible")
    }
    guard let row, let values else { return }
    for (position, value) in values where row.values[position] != value {
      throw failure(
        5,
        "\(what) shows \(row.values[position].shown) for \(value.shown) "
          + "in \(entity.attributes[position].name)")
    }
    guard (row.pending == .none) == changes.isEmpty else {
      throw failure(5, "\(what) is marked \(row.pending) with \(changes.count) changes")
    }
  }

  /// A refused delete of what is gone has nothing to show.
  private func isRefusedDelete(_ changes: [PendingOperation], _ image: [Value]?) -> Bool {
    image == nil && changes.contains { $0.kind == .delete }
  }

  /// Invariant 5: one row per object, also while it has a temporary and a final key.
  private func checkReferences(isCopy: Bool, _ ledger: Ledger) throws {
    guard !isCopy else { return }
    var known: [String: Key] = [:]
    for (entity, rows) in visible where entity.name == "Order" {
      for row in rows {
        guard case .text(let reference) = row.values[4] else { continue }
        let key = entity.key(of: row.values)
        if let other = known[reference], !ledger.looseReferences.contains(reference),
          !ledger.forgottenReferences.contains(reference)
        {
          throw failure(5, "the order \(reference) is visible as \(other) and as \(key)")
        }
        known[reference] = key
      }
    }
  }

  private func failure(_ invariant: Int, _ problem: String) -> SimulationFailure {
    SimulationFailure(invariant: invariant, problem: "device \(number): \(problem)")
  }
}
