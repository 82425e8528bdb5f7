import Ferry
import FerryModel
import FerrySQLite

/// An entity's rows and downloaded images as a device has them. One that is read again and has not
/// changed is the same instance.
final class DeviceTable {
  let entity: Entity
  let rows: [VisibleRow]
  /// By surrogate key.
  let images: [Int64: [AttributeValue]]
  /// The surrogate keys of what is visible.
  let objects: [RowName: Int64]
  /// The images as they travelled.
  let bodies: [RowName: [UInt8]]

  init(_ entity: Entity, rows: [VisibleRow], images: [Int64: [AttributeValue]]) {
    self.entity = entity
    self.rows = rows
    self.images = images
    objects = Dictionary(
      rows.map { (RowName(entity: entity.name, key: entity.key(of: $0.values)), $0.object) },
      uniquingKeysWith: { $1 })
    bodies = Dictionary(
      images.values.map {
        (RowName(entity: entity.name, key: entity.key(of: $0)), RowCoder.encode($0))
      }, uniquingKeysWith: { $1 })
  }
}

/// Reads all of a device for a look, and keeps what has not changed since the last.
struct DeviceReadings {
  private var operations = KeptReading<[PendingOperation]>()
  private var tables: [KeptTable] = []
  private var contents = KeptReading<[StoredContent]>()
  private var places = KeptReading<[DevicePlace]>()

  private struct KeptTable {
    let entity: Entity
    /// Everything of which a `DeviceTable` is made.
    let sql: String
    var reading = KeptReading<DeviceTable>()

    init(_ entity: Entity) {
      self.entity = entity
      let columns = entity.attributes.map { quoted($0.name) }.joined(separator: ", ")
      sql = """
        SELECT \(Rows.visibleColumns(of: entity)), _hash FROM \(quoted(entity.name))
        UNION ALL SELECT _id, NULL, NULL, NULL, \(columns), _hash
        FROM \(quoted("ferry_original_\(entity.name)"))
        """
    }
  }

  mutating func readOperations(
    of device: SimulatedDevice
  ) throws(FerryError) -> (content: [PendingOperation], isSame: Bool) {
    try operations.read("SELECT * FROM ferry_operation ORDER BY sequence", of: device) {
      () throws(FerryError) in try device.operations()
    }
  }

  mutating func readPlaces(
    of device: SimulatedDevice
  ) throws(FerryError) -> (content: [DevicePlace], isSame: Bool) {
    try places.read(SimulatedDevice.allPlaces, of: device) { () throws(FerryError) in
      try device.places()
    }
  }

  mutating func readTables(of device: SimulatedDevice) throws(FerryError) -> [DeviceTable] {
    if tables.isEmpty { tables = device.model.entities.map(KeptTable.init) }
    var read: [DeviceTable] = []
    for index in tables.indices {
      let entity = tables[index].entity
      let found = try tables[index].reading.read(tables[index].sql, of: device) {
        () throws(FerryError) in try device.table(entity)
      }
      read.append(found.content)
    }
    return read
  }

  mutating func readContents(
    of device: SimulatedDevice
  ) throws(FerryError) -> (content: [StoredContent], isSame: Bool) {
    try contents.read(SimulatedDevice.allContents, of: device) {
      () throws(FerryError) in try device.contents()
    }
  }
}
