import FerryConnector
import FerryModel

/// A comparison of all rows in slices, beside which everything goes on.
///
/// What differs is a hint as others are: the object is read again by its key. So it does not matter
/// that the slices are no snapshot, and nothing is deleted by what a slice does not have.
extension Intake {
  /// Of the rows of one connection.
  func beginComparison(of connection: Int = 0) throws(ServerError) {
    compared = (LoadWork(store, cache), since: try clock(), connection)
  }

  /// Notes what differs to be read again, and gives how much that is; nil where it is more than is
  /// read one by one.
  func compare(_ batch: LoadBatch) throws(ServerError) -> Int? {
    guard let compared else { return 0 }
    let (new, different) = try guarded { () throws(StoreError) in
      try compared.work.unknown(batch.rows)
    }
    return readAgain((new + different).map(\.name))
  }

  /// Every slice was read: rows that none of them gave are read again, but for those that were written
  /// since the beginning. Gives how many; nil as above.
  func finishComparison() throws(ServerError) -> Int? {
    guard let compared else { return 0 }
    let names = try guarded { () throws(StoreError) -> [RowName]? in
      let missing = try compared.work.absences().flatMap(\.rows)
      guard connections.areSeveral || missing.count <= limits.hintedObjects else { return nil }
      var names: [RowName] = []
      for row in missing {
        guard let found = try store.name(ofRow: row), found.version <= compared.since,
          connections.position(of: package.entities[found.name.entity].name) == compared.connection
        else { continue }
        names.append(found.name)
      }
      return names
    }
    return names.flatMap { readAgain($0) }
  }

  func endComparison() { compared = nil }

  private func readAgain(_ names: [RowName]) -> Int? {
    guard self.readAgain.count + names.count <= limits.hintedObjects else { return nil }
    for name in names {
      readLater(
        ObjectName(entity: package.entities[name.entity].name, key: name.key),
        metAt: core.marks.moment)
    }
    return names.count
  }
}
