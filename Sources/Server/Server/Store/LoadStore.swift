import FerryConnector
import FerryModel

/// What a load brought and the cache does not have, until it is applied; and what does not fit.
package protocol LoadStore: AnyObject {
  func isLoaded() throws(StoreError) -> Bool
  /// Forgets what an earlier load brought.
  func emptyStage() throws(StoreError)
  /// Keeps rows that differ; a row that comes twice is kept as it came last.
  func stage(_ rows: [StagedRow]) throws(StoreError)
  func stage(rejected rows: [RejectedRow]) throws(StoreError)
  func nextStaged(limit: Int) throws(StoreError) -> [StagedRow]
  func dropStaged(_ names: [RowName]) throws(StoreError)
  /// Rows met outside of a load: what is known of those that do not fit is replaced, and what was
  /// known of those that fit by now is forgotten.
  func note(rejected rows: [RejectedRow], fitting: [ObjectName]) throws(StoreError)
  /// How many rows of the business system do not fit, and one of them.
  func rejectedRows() throws(StoreError) -> RejectedRows
  /// Rows that are not deleted and that `isSeen` does not know, by partition (0: nobody's), with how
  /// many rows the partition has. `entities`: only rows of these, by their positions; nil: of all.
  func absentRows(
    of entities: [Int]?, isSeen: (Int64) -> Bool
  ) throws(StoreError) -> [(partition: Int64, rows: [Int64], live: Int64)]
  /// nil where the row is deleted.
  func name(ofRow id: Int64) throws(StoreError) -> (name: RowName, version: Int64)?
  /// The load has ended: partitions are loaded, its rejected rows replace those of the one before.
  /// Gives the partitions that were not loaded before. `entities`: those that were read; nil: all.
  func closeLoad(
    _ transaction: NumberedTransaction, of entities: [String]?
  ) throws(StoreError) -> Set<Int64>

  /// The cursor up to which the cache has what the business system has.
  func sourceCursor() throws(StoreError) -> String?
  func keep(sourceCursor: String) throws(StoreError)
}

extension LoadStore {
  package func closeLoad(_ transaction: NumberedTransaction) throws(StoreError) -> Set<Int64> {
    try closeLoad(transaction, of: nil)
  }
}

/// The rows of the business system that no device gets, because they do not fit the model.
package struct RejectedRows: Sendable, Equatable {
  package var count: Int
  /// One of them, for an operator to begin with.
  package var example: RejectedRow?

  package init(count: Int = 0, example: RejectedRow? = nil) {
    self.count = count
    self.example = example
  }
}

/// A row of a load that differs from the cache.
package struct StagedRow: Sendable {
  package let name: RowName
  package let body: [UInt8]
  /// When it was met.
  package let moment: Int64

  package init(_ name: RowName, body: [UInt8], moment: Int64) {
    self.name = name
    self.body = body
    self.moment = moment
  }
}
