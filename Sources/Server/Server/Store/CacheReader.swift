import FerryModel
import FerryWire

/// Reads the cache as it was last committed.
struct CacheReader: CacheSource {
  let store: any Store
  let rules: PartitionRules
  let directory: PartitionDirectory
  /// Rows that were read together; the others are asked for one by one.
  private var read: [RowName: CachedRow?] = [:]

  init(store: any Store, rules: PartitionRules, directory: PartitionDirectory) {
    self.store = store
    self.rules = rules
    self.directory = directory
  }

  /// The same reader with these rows, read in one question. Good as long as the transaction has written
  /// no rows.
  func reading(_ names: [RowName]) throws(StoreError) -> CacheReader {
    let rows = try store.rows(names)
    var reader = self
    for name in names { reader.read[name] = .some(rows[name]) }
    return reader
  }

  func row(_ name: RowName) throws(StoreError) -> CachedRow? {
    if let row = read[name] { return row }
    return try store.row(name)
  }
  func children(_ name: ParentName) throws(StoreError) -> [CachedRow] { try store.children(name) }
  func parents(_ name: ParentName) throws(StoreError) -> [CachedRow] { try store.parents(name) }
  func partition(at place: Place) throws(StoreError) -> Int64? {
    try directory.number(of: place)
  }
  func place(of partition: Int64) throws(StoreError) -> Place? {
    try directory.place(of: partition)
  }

  /// When the object was last written, and whether it is there; one that is gone has a version as
  /// long as its tombstone is kept.
  func state(of name: ObjectName) throws(StoreError) -> (version: Int64?, isThere: Bool) {
    guard let entity = rules.position(of: name.entity) else { return (nil, false) }
    let row = try row(RowName(entity, name.key))
    return (row?.version, row.map { !$0.isDeleted } ?? false)
  }

  func values(of row: CachedRow) throws(StoreError) -> [AttributeValue] {
    let entity = rules.package.entities[row.entity]
    do {
      return try RowCoder.decode(row.body, types: entity.attributes.map(\.type))
    } catch {
      throw StoreError.damaged("the row \(entity.name) \(row.key) cannot be read: \(error)")
    }
  }

  /// Where a row would be if there were no windows: what a load of a part of the rows looks at. `row`
  /// is one that is there.
  func placeWithoutWindow(of row: CachedRow) throws(StoreError) -> Place? {
    try rules.place(of: row.entity, values: values(of: row), isWindowed: false) {
      name throws(StoreError) in
      try store.parents(name).first.flatMap { parent throws(StoreError) in
        try placeWithoutWindow(of: parent)
      }
    }
  }

  /// The place of a row with these values, by the rows that are in the cache now; nil: nobody's.
  func place(of entity: Int, values: [AttributeValue]) throws(StoreError) -> Place? {
    try rules.place(of: entity, values: values) { name throws(StoreError) in
      try store.parents(name).first?.partition.flatMap { number throws(StoreError) in
        try directory.place(of: number)
      }
    }
  }
}
