import FerryConnector
import FerryModel

/// Rows as they were read by their keys or written, to be put into the cache: those that the model
/// cannot take are left out, as a load leaves them out, and noted.
struct MetRows {
  private(set) var rejected: [RejectedRow] = []
  private(set) var fitting: [ObjectName] = []
  /// Every row that was put into the cache or left out.
  private(set) var names: [ObjectName] = []
  /// All that are left out afterwards; nil where nothing of it changed.
  var all: RejectedRows?

  /// Inside the numbered transaction of the machine's changes.
  mutating func take(
    _ image: RowImage, _ position: Int, _ machine: inout CacheMachine, _ cache: CacheReader
  ) throws(StoreError) {
    let problem = RowCheck.problem(image, cache.rules.package.entities[position])
    try machine.apply(
      RowName(position, image.key), problem == nil ? image.values : nil, cache)
    let name = ObjectName(entity: image.entity, key: image.key)
    names.append(name)
    if let problem { rejected.append(problem) } else { fitting.append(name) }
  }

  /// Rows that take the values of operations. One of which nobody knows the other values stays as it is.
  mutating func take(
    merged: [(name: ObjectName, operations: [ConnectorOperation])],
    _ machine: inout CacheMachine, _ cache: CacheReader
  ) throws(StoreError) {
    for (name, operations) in merged {
      guard let position = cache.rules.position(of: name.entity),
        let values = operations.merged(
          into: try machine.values(of: RowName(position, name.key), cache), name.key)
      else { continue }
      try take(
        RowImage(entity: name.entity, key: name.key, values: values), position, &machine, cache)
    }
  }
}

/// Rows of the business system that no device gets.
extension Intake {
  /// Keeps why rows were left out, and forgets it of those that fit by now. Inside the transaction.
  func keep(_ met: inout MetRows) throws(StoreError) {
    let forgotten = rejectedRows.count == 0 ? [] : met.fitting
    guard !met.rejected.isEmpty || !forgotten.isEmpty else { return }
    try store.note(rejected: met.rejected, fitting: forgotten)
    met.all = try store.rejectedRows()
  }

  /// After the commit of what `keep` has kept.
  func tell(_ met: MetRows) {
    tell(rejected: met.rejected)
    if let all = met.all { rejectedRows = all }
  }

  func tell(rejected rows: [RejectedRow]) {
    for row in rows {
      world.log.warn(
        "a row does not fit the model", ("entity", row.entity), ("key", row.key),
        ("attribute", row.attribute), ("reason", row.reason))
    }
  }
}
