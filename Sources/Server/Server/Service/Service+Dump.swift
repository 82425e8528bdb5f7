import FerryModel
import FerryWire

/// The whole state as text, for tests, the simulator and people.
extension Service {
  /// Why an object is in the cache or not.
  package func why(_ entity: String, _ key: String) throws(ServerError) -> Explanation {
    try guarded { () throws(StoreError) in try store.explain(entity, key) }
  }

  /// Rows, partitions and operations, each one line, in a fixed order.
  package func dump() throws(ServerError) -> String {
    try guarded { () throws(StoreError) in try store.dump() }.joined(separator: "\n")
  }

  /// Every row of the cache that is not deleted, in the order of names: what a checker compares
  /// with the business system. The partition is the place's text; nil: nobody's.
  package func cachedRows() throws(ServerError) -> [(
    image: ObjectName, values: [AttributeValue], place: String?
  )] {
    try guarded { () throws(StoreError) in
      try store.liveRows().map { row throws(StoreError) in
        let entity = package.entities[row.name.entity]
        guard let values = try? RowCoder.decode(row.body, types: entity.attributes.map(\.type))
        else { throw StoreError.damaged("a row of the cache cannot be read") }
        return (ObjectName(entity: entity.name, key: row.name.key), values, row.place)
      }
    }
  }
}
