import FerryModel
import FerryWire

/// What is done now and then, and what people ask.
package protocol UpkeepStore: AnyObject {
  /// Counts a day of running: at most one per day that the clock shows, so that a clock that jumps a
  /// year purges one day.
  func countDay() throws(StoreError)
  /// The highest number that is at least so many days old; 0 where there is none.
  func version(daysAgo days: Int64) throws(StoreError) -> Int64
  /// Partitions that rows have left, with how many are there and how many have left.
  func leftPartitions() throws(StoreError) -> [(partition: Int64, rows: Int64, left: Int64)]
  /// The number of the leave behind which there are `count` earlier ones; nil where there are fewer.
  func leave(of partition: Int64, after count: Int64) throws(StoreError) -> Int64?
  /// Purges leaves up to a number, and raises the floor. Gives how many.
  func purgeLeaves(
    of partition: Int64, upTo version: Int64, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64
  /// Purges deleted rows up to a number that no partition remembers.
  func purgeRows(upTo version: Int64) throws(StoreError) -> Int64
  func forgetOperations(afterDays days: Int64) throws(StoreError) -> Int64
  /// Answers that devices whose names begin with `prefix` have not confirmed for so many days, at most
  /// `count`. Unknown outcomes are left out: an operator decides them.
  func unconfirmedAnswers(
    ofDevices prefix: String, afterDays days: Int64, count: Int
  ) throws(StoreError) -> [OldAnswer]
  func forgetReports(afterDays days: Int64) throws(StoreError)

  func explain(_ entity: String, _ key: String) throws(StoreError) -> Explanation
  /// Clock, partitions, rows, members and operations, each one line, in a fixed order.
  func dump() throws(StoreError) -> [String]
  /// Every row that is not deleted, in the order of names, with its place as text; nil: nobody's.
  func liveRows() throws(StoreError) -> [(name: RowName, body: [UInt8], place: String?)]
}

/// An answer that its device has not confirmed.
package struct OldAnswer: Sendable, Equatable {
  package let id: OperationID
  package let version: Int64
  package let user: String

  package init(id: OperationID, version: Int64, user: String) {
    self.id = id
    self.version = version
    self.user = user
  }
}
