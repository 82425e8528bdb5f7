import FerryModel

/// The rows of the business system as they were last seen, and who has them.
package protocol RowStore: AnyObject {
  func row(_ name: RowName) throws(StoreError) -> CachedRow?
  /// The same for many; a name that has no row is left out.
  func rows(_ names: [RowName]) throws(StoreError) -> [RowName: CachedRow]
  /// Rows that call their parent so and are not deleted, in the order in which they came.
  func children(_ name: ParentName) throws(StoreError) -> [CachedRow]
  /// Rows that `name` may mean and that are not deleted, in the order in which they came.
  func parents(_ name: ParentName) throws(StoreError) -> [CachedRow]
  /// The partitions that the row is in or has left, as far as that is remembered.
  func partitions(ofRow id: Int64) throws(StoreError) -> [Int64]
  /// Writes what a machine has decided; gives the numbers of rows that are new.
  func apply(
    _ changes: CacheChanges, _ transaction: NumberedTransaction
  ) throws(StoreError) -> [RowName: Int64]
  /// Whether there is a row of the entity, or one that was deleted and is remembered.
  func hasRow(of entity: Int) throws(StoreError) -> Bool
  /// Writes rows of a first load, without a look at what is there. Gives their numbers in their
  /// order; nil where the name is taken, by what was there or by an earlier one: it stays as it is.
  func insert(
    _ rows: [NewRow], _ transaction: NumberedTransaction
  ) throws(StoreError) -> [Int64?]
}

/// Where a question costs nothing, many are asked one after the other.
extension RowStore {
  package func rows(_ names: [RowName]) throws(StoreError) -> [RowName: CachedRow] {
    var found: [RowName: CachedRow] = [:]
    for name in names where found[name] == nil { found[name] = try row(name) }
    return found
  }
}

/// A row that the cache does not have yet.
package struct NewRow: Sendable {
  package let name: RowName
  package let parentKey: ObjectKey?
  package let partition: Int64?
  package let body: [UInt8]
  package let hash: Int64
  /// Names by which children find it, beside its key.
  package let alternates: [Alternate]

  package struct Alternate: Sendable {
    package let attributes: String
    package let key: ObjectKey

    package init(attributes: String, key: ObjectKey) {
      self.attributes = attributes
      self.key = key
    }
  }

  package init(
    name: RowName, parentKey: ObjectKey?, partition: Int64?, body: [UInt8], hash: Int64,
    alternates: [Alternate]
  ) {
    self.name = name
    self.parentKey = parentKey
    self.partition = partition
    self.body = body
    self.hash = hash
    self.alternates = alternates
  }
}

/// A row of the cache by the position of its entity in the package, and its key.
package struct RowName: Hashable, Sendable {
  package let entity: Int
  package let key: ObjectKey

  package init(_ entity: Int, _ key: ObjectKey) {
    self.entity = entity
    self.key = key
  }
}

/// How the children of an entity call a parent, or are found by it.
package struct ParentName: Hashable, Sendable {
  /// For `children` the child's, for `parents` the parent's.
  package let entity: Int
  /// Which attributes of the parent; nil: its key.
  package let attributes: String?
  package let key: ObjectKey

  package init(_ entity: Int, attributes: String? = nil, _ key: ObjectKey) {
    self.entity = entity
    self.attributes = attributes
    self.key = key
  }
}

/// A row of the cache.
package struct CachedRow: Sendable {
  package let id: Int64
  package let entity: Int
  package let key: ObjectKey
  package let partition: Int64?
  package let body: [UInt8]
  package let hash: Int64
  package let version: Int64
  package let isDeleted: Bool

  package init(
    id: Int64, entity: Int, key: ObjectKey, partition: Int64?, body: [UInt8], hash: Int64,
    version: Int64,
    isDeleted: Bool
  ) {
    self.id = id
    self.entity = entity
    self.key = key
    self.partition = partition
    self.body = body
    self.hash = hash
    self.version = version
    self.isDeleted = isDeleted
  }

  var name: RowName { RowName(entity, key) }
}

/// What one numbered transaction changes in the cache.
package struct CacheChanges: Sendable {
  /// A partition that is there, or one of `places`.
  package enum Partition: Hashable, Sendable {
    case known(Int64)
    case new(Int)
  }

  package struct Row: Sendable {
    package let name: RowName
    /// nil where it is new.
    package let id: Int64?
    package var parentKey: ObjectKey?
    package var partition: Partition?
    package var body: [UInt8]
    package var hash: Int64
    package var isDeleted: Bool
    /// Whether more than its partition is different: then it gets the transaction's number.
    package var isChanged: Bool

    package init(
      name: RowName, id: Int64?, parentKey: ObjectKey?, partition: Partition?, body: [UInt8],
      hash: Int64, isDeleted: Bool, isChanged: Bool
    ) {
      self.name = name
      self.id = id
      self.parentKey = parentKey
      self.partition = partition
      self.body = body
      self.hash = hash
      self.isDeleted = isDeleted
      self.isChanged = isChanged
    }
  }

  package struct Member: Hashable, Sendable {
    package let row: RowName
    package let partition: Partition

    package init(row: RowName, partition: Partition) {
      self.row = row
      self.partition = partition
    }
  }

  /// A name by which children find a parent.
  package struct Alternate: Sendable {
    package let row: RowName
    package let attributes: String
    package let before: ObjectKey?
    package let after: ObjectKey?

    package init(row: RowName, attributes: String, before: ObjectKey?, after: ObjectKey?) {
      self.row = row
      self.attributes = attributes
      self.before = before
      self.after = after
    }
  }

  package struct Total: Sendable {
    package var sum: UInt64 = 0
    package var count: Int64 = 0

    package init(sum: UInt64 = 0, count: Int64 = 0) {
      self.sum = sum
      self.count = count
    }
  }

  /// Partitions that are to be made.
  package var places: [Place] = []
  package var rows: [RowName: Row] = [:]
  /// Rows in the order in which they came.
  package var order: [RowName] = []
  /// Whether the row has left.
  package var members: [Member: Bool] = [:]
  package var memberOrder: [Member] = []
  package var alternates: [Alternate] = []
  /// What is added to the partitions.
  package var totals: [Partition: Total] = [:]
  /// Rows that moved because their parents did.
  package var movedRows: Int = 0

  package init() {}
  package var isEmpty: Bool { rows.isEmpty }
}
