import FerryModel
import FerryWire

/// Where a server keeps what must outlive it, in verbs that take and give values.
///
/// Use it from one thread. There is one writer; what a verb writes is there for good when it returns,
/// or when the transaction around it does. Errors leave nothing of the verb behind.
package protocol Store: SessionStore, ConnectionStore, OperationStore, DeskStore, ContentStore,
  PartitionStore, RowStore, LoadStore, UpkeepStore, NodeStore
{
  /// What messages call it.
  var name: String { get }
  /// Random, chosen at the first start and kept.
  var server: String { get }
  /// The era that this start opened; on a node that follows, that of the leader.
  var era: String { get }
  /// Whether this node may replay, load, compact and number. One that does not takes in and answers.
  var leads: Bool { get }

  /// Bytes that are made once and kept beside the rest, readable by their owner only.
  func secret(_ name: String, make: () -> [UInt8]) throws(ServerError) -> [UInt8]
  /// nil where there is none of this name.
  func knownSecret(_ name: String) throws(ServerError) -> [UInt8]?
  /// Throws `moved` where what is written now would be lost.
  func check() throws(StoreError)
  /// Writes something that changes nothing, to see whether the disk takes it.
  func probe() throws(StoreError)

  /// All that `body` writes, or none of it.
  func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// The only way to change rows, members, partitions and eras, or to set an answer: all that is
  /// written gets one number. Where nothing was written the clock stays.
  func numbered<Result>(
    _ body: (NumberedTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// The number of the last numbered transaction.
  func clock() throws(StoreError) -> Int64

  /// Reads everything in `body` from one state of the store. What is judged of a device (its
  /// cursors, its rights) is read here.
  func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// As `snapshot`, where pages alone are read: a copy of the store may give it. Without a copy it is
  /// `snapshot`.
  func replica<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// Makes connections for other threads, each of which reads by itself.
  var readerMaker: StoreReaderMaker { get }
}

extension Store {
  package var leads: Bool { true }

  package func replica<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try snapshot(body)
  }
}

/// One numbered transaction while it is open.
package final class NumberedTransaction {
  package let version: Int64
  package var hasWritten: Bool = false

  package init(version: Int64) { self.version = version }
}

/// One state of the store.
package protocol StoreSnapshot {
  /// Its highest number.
  var clock: Int64 { get }
  func eras() throws(StoreError) -> EraList
  func partition(_ number: Int64) throws(StoreError) -> PartitionState?
  /// The rows of a partition after `from` and up to `upTo`, as a frame that travels.
  func page(
    _ partition: Int64, from: Cursor, upTo: Int64, _ limits: ServiceLimits
  ) throws(StoreError) -> Page
  /// Rows of an entity in a partition that are not deleted, behind a key, in an order of the keys that
  /// never changes; at most `count`.
  func rows(
    of entity: Int, in partition: Int64, after key: ObjectKey?, count: Int
  ) throws(StoreError) -> [CachedRow]
  /// Answers up to `upTo` that the owner has not confirmed, and those of `open`, in the order of
  /// their numbers.
  func answers(
    group: String, _ owner: Owner, open: [OperationID], upTo: Int64
  ) throws(StoreError) -> [Answer]
}

/// A partition as one snapshot shows it.
package struct PartitionState: Sendable {
  package let number: Int64
  package let version: Int64
  package let floor: Int64
  package let sum: UInt64
  package let count: Int64
  package let isLoaded: Bool

  package init(
    number: Int64, version: Int64, floor: Int64, sum: UInt64, count: Int64, isLoaded: Bool
  ) {
    self.number = number
    self.version = version
    self.floor = floor
    self.sum = sum
    self.count = count
    self.isLoaded = isLoaded
  }
}

/// Rows of a partition as they travel.
package struct Page: Sendable {
  package let to: Cursor
  /// The clock of the snapshot that made it.
  package let at: Int64
  package let bytes: [UInt8]
  package let rows: Int

  package init(to: Cursor, at: Int64, bytes: [UInt8], rows: Int) {
    self.to = to
    self.at = at
    self.bytes = bytes
    self.rows = rows
  }
}
