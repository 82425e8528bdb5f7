import Ferry
import FerryModel

/// All that a device holds at one moment, and whether it makes sense by itself.
struct Snapshot {
  private let number: Int
  let tables: [DeviceTable]
  private let operations: [PendingOperation]
  private let records: [ObjectNumber: Int]

  init(
    _ device: SimulatedDevice, _ operations: [PendingOperation], _ tables: [DeviceTable]
  ) throws {
    number = device.number
    self.operations = operations
    self.tables = tables
    let isAnyAnswered = operations.contains(where: Snapshot.needsRecord)
    records = isAnyAnswered ? try device.logRecords() : [:]
  }

  /// The images of a group as they travelled.
  func bodies(in group: String) -> [RowName: [UInt8]] {
    tables.filter { $0.entity.group == group }
      .reduce(into: [:]) { bodies, table in bodies.merge(table.bodies) { $1 } }
  }

  func row(_ name: ObjectNumber) -> VisibleRow? {
    tables.first { $0.entity.name == name.entity }?.rows.first { $0.object == name.number }
  }

  /// `known`: tables that were found in order with the same pending changes.
  func check(known: [DeviceTable], isCopy: Bool, _ ledger: Ledger) throws {
    for table in tables where !known.contains(where: { $0 === table }) { try check(table) }
    try checkRecords()
    try checkReferences(isCopy: isCopy, ledger)
  }

  /// Invariant 7: a refusal and an unknown outcome stay with their log record until they are dealt
  /// with.
  private func checkRecords() throws {
    for operation in operations where Snapshot.needsRecord(operation) {
      let name = ObjectNumber(entity: operation.entity, number: operation.object)
      guard records[name] == nil else { continue }
      throw failure(
        7, "\(name.entity) \(name.number) is \(operation.state) and has no log record")
    }
  }

  private static func needsRecord(_ operation: PendingOperation) -> Bool {
    operation.state == .replayFailed || operation.state == .unknown
  }

  /// Invariant 5: what is visible is the images with the pending changes in order on top.
  private func check(_ table: DeviceTable) throws {
    let entity = table.entity
    var live: [Int64: [PendingOperation]] = [:]
    for operation in operations where operation.entity == entity.name {
      if operation.state != .withdrawn { live[operation.object, default: []].append(operation) }
    }
    var shown: [Int64: VisibleRow] = [:]
    for row in table.rows { shown[row.object] = row }
    for object in Set(table.images.keys).union(live.keys).union(shown.keys).sorted() {
      try check(entity, object, shown[object], table.images[object], live[object] ?? [])
    }
  }

  private func check(
    _ entity: Entity, _ object: Int64, _ row: VisibleRow?, _ image: [AttributeValue]?,
    _ changes: [PendingOperation]
  ) throws {
    if changes.isEmpty, let row, row.pending == .none, row.values == image { return }
    var values = image.map { Dictionary(uniqueKeysWithValues: $0.enumerated().map { ($0, $1) }) }
    var apart: [Int: AttributeValue]?
    for change in changes {
      if change.kind == .delete {
        if hides(change) { values = nil }
      } else if change.kind == .update, values == nil, changes.contains(where: hides) {
        // It was made to the row of its own that a create showed as while nobody knew its outcome;
        // the app deleted the row that came under the final key. Both are one object now, which
        // shows what was changed, or stays deleted.
        apart = (apart ?? [:]).merging(change.changed) { _, new in new }
      } else {
        // Without an image only what was changed is known.
        values = (values ?? [:]).merging(change.changed) { _, new in new }
      }
    }
    let key = row.map { entity.key(of: $0.values).text } ?? "(hidden)"
    let what = "\(entity.name) \(key), object \(object)"
    if row != nil, values == nil { values = apart }
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

  /// Whether it is a delete that was not refused, or made after its refusal.
  private func hides(_ change: PendingOperation) -> Bool {
    change.kind == .delete && (change.state != .replayFailed || change.counter > change.failure)
  }

  /// A refused delete of what is gone has nothing to show.
  private func isRefusedDelete(_ changes: [PendingOperation], _ image: [AttributeValue]?) -> Bool {
    image == nil && changes.contains { $0.kind == .delete }
  }

  /// Invariant 5: one row per object, also while it has a temporary and a final key.
  private func checkReferences(isCopy: Bool, _ ledger: Ledger) throws {
    guard !isCopy else { return }
    var known: [String: ObjectKey] = [:]
    for table in tables where table.entity.name == "Order" {
      for row in table.rows {
        guard case .text(let reference) = row.values[4] else { continue }
        let key = table.entity.key(of: row.values)
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
