import Ferry
import FerryModel
import FerrySQLite
import FerryWire

/// How far a device is with a partition.
struct DevicePlace: Equatable {
  let partition: Int64
  let state: String
  let applied: Cursor
  let staged: Cursor
  /// How many pages wait for the import.
  let pages: Int64

  var shown: String { "\(state), applied \(applied), staged \(staged)" }
}

/// The cursors of a device.
extension DeviceWatch {
  /// Invariant 8: a cursor falls only where the server had the partition begun anew, or after it was
  /// dropped: the staged one to the start when that is heard, the applied one in the import of what
  /// was downloaded from there.
  func checkCursors(_ current: [DevicePlace]) throws {
    let before = Dictionary(uniqueKeysWithValues: places.map { ($0.partition, $0) })
    for place in current {
      guard let old = before[place.partition] else { continue }
      if place.staged < old.staged {
        let isBegun = begun.contains(place.partition) && place.staged == .start
        let isImported = wasBegun(old) && place.state == "live"
        guard isBegun || isImported else { throw fell("staged", old, place) }
      }
      if place.applied < old.applied {
        let isImported = wasBegun(old) || begun.contains(place.partition)
        guard isImported, place.state == "live" else { throw fell("applied", old, place) }
      }
    }
  }

  private func wasBegun(_ place: DevicePlace) -> Bool {
    place.state == "reset" || place.state == "new"
  }

  private func fell(_ cursor: String, _ old: DevicePlace, _ new: DevicePlace) -> SimulationFailure {
    failure(
      8,
      "the \(cursor) cursor of the partition \(new.partition) fell: \(old.shown) became \(new.shown)"
    )
  }

  /// Invariant 13: pages wait only for an import, no longer than until it.
  func checkPages(_ current: [DevicePlace]) throws {
    for place in current where place.pages > 0 {
      let isStaged = place.staged > (wasBegun(place) ? .start : place.applied)
      guard !isStaged || place.state == "drop" else { continue }
      throw failure(
        13,
        "\(place.pages) pages of the partition \(place.partition) wait for nothing: \(place.shown)"
      )
    }
  }
}

extension SimulatedDevice {
  static let allPlaces = """
    SELECT number, state, version, row, staged_version, staged_row,
      (SELECT count(*) FROM ferry_page WHERE ferry_page.partition = ferry_partition.number)
    FROM ferry_partition ORDER BY number
    """

  /// Every partition that it has or is to have.
  func places() throws(FerryError) -> [DevicePlace] {
    try sql { (connection) throws(SQLiteError) in
      try connection.rows(SimulatedDevice.allPlaces).map { row in
        let numbers = row.map { $0.integer ?? 0 }
        return DevicePlace(
          partition: numbers[0], state: row[1].text ?? "",
          applied: Cursor(version: numbers[2], row: numbers[3]),
          staged: Cursor(version: numbers[4], row: numbers[5]), pages: numbers[6])
      }
    }
  }
}
