import Ferry
import FerryModel
import FerrySQLite

@testable import Ferry

/// Photos with their pictures and reports: the big values of these tests, written by hand in the
/// form that the generator writes.
enum Album {
  static let package = Package(
    name: "Album", version: "1.0", entities: [Photo.entity, Sketch.entity],
    groups: [SynchronizationGroup(name: "default")])
}

struct Photo: BusinessObject {
  static let entity = Entity(
    name: "Photo", table: "Photos",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "title", column: "title", type: .string, isNullable: false),
      Attribute(name: "image", column: "image", type: .bigBinary, isNullable: true),
      Attribute(name: "report", column: "report", type: .bigString, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: [.create, .update, .delete], partition: nil, group: "default")
  var record: ObjectRecord

  init(record: ObjectRecord) { self.record = record }

  init(_ title: String, _ store: Store) {
    record = ObjectRecord(Photo.entity, store: store)
    record.set(1, title)
  }

  var title: String {
    get { record.get(1) }
    set { record.set(1, newValue) }
  }
  var image: BigBinary { BigBinary(record, 2) }
  var report: BigString { BigString(record, 3) }
}

/// What never leaves the device.
struct Sketch: BusinessObject {
  static let entity = Entity(
    name: "Sketch", table: "Sketch",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "lines", column: "lines", type: .bigBinary, isNullable: true),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "default", isClientOnly: true)
  var record: ObjectRecord

  init(record: ObjectRecord) { self.record = record }

  init(_ id: Int64, _ store: Store) {
    record = ObjectRecord(Sketch.entity, store: store)
    record.set(0, id)
  }

  var lines: BigBinary { BigBinary(record, 1) }
}

extension Device {
  /// A saved photo, with its picture where one is given.
  func photo(_ title: String, _ image: [UInt8]? = nil) throws -> Photo {
    var photo = Photo(title, store)
    try photo.create()
    if let image { try photo.image.write(image) }
    return photo
  }

  /// Contents and pieces in the database.
  func contents() throws -> [Int64] {
    try ["ferry_content", "ferry_content_piece", "ferry_upload"].map { table in
      try store.read { connection throws(FerryError) in
        try self.store.sql { () throws(SQLiteError) in
          try connection.value("SELECT count(*) FROM \(table)")?.integer ?? -1
        }
      }
    }
  }
}

/// Bytes that differ from place to place.
func picture(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  return (0..<count).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state >> 24)
  }
}
