import Ferry
import FerryModel

@testable import Ferry

/// Photos of a depot, written by hand in the form that the generator writes.
struct Photo: BusinessObject {
  static let entity = Entity(
    name: "Photo", table: "Photos",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "title", column: "title", type: .string, isNullable: false),
      Attribute(name: "depot", column: "depot", type: .string, isNullable: false),
      Attribute(name: "image", column: "image", type: .bigBinary, isNullable: true),
      Attribute(name: "report", column: "report", type: .bigString, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: [.create, .update, .delete],
    partition: .columns([PartitionColumn(attribute: "depot", source: .claim("depot"))]),
    group: "default")
  static let package = Package(
    name: "Album", version: "1.0", entities: [entity],
    groups: [SynchronizationGroup(name: "default")])
  var record: ObjectRecord

  init(record: ObjectRecord) { self.record = record }

  init(_ title: String, in database: FerryDatabase) {
    record = ObjectRecord(Photo.entity, in: database)
    record.set(1, title)
    record.set(2, "A")
  }

  var title: String {
    get { record.get(1) }
    set { record.set(1, newValue) }
  }
  var image: BigBinary { BigBinary(record, 3) }
  var report: BigString { BigString(record, 4) }
}
