/// A partition without a row, and the bytes of its place.
package struct EmptyPartition: Sendable, Equatable {
  package let number: Int64
  package let bytes: Int

  package init(number: Int64, bytes: Int) {
    self.number = number
    self.bytes = bytes
  }
}

/// The numbers of partitions.
package protocol PartitionStore: AnyObject {
  func partition(at place: Place) throws(StoreError) -> Int64?
  func place(of partition: Int64) throws(StoreError) -> Place?
  /// All places of one rule in one group, in the order of their numbers.
  func places(group: String, rule: String) throws(StoreError) -> [Place]
  /// `user`: who asks for it; nil where a row lies in it.
  func makePartition(
    _ place: Place, for user: String?, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64
  /// Notes that devices have these today.
  func asked(_ partitions: some Sequence<Int64>) throws(StoreError)
  /// Partitions without a row that `user` has asked for, those asked for longest ago first.
  func emptyPartitions(askedBy user: String) throws(StoreError) -> [EmptyPartition]
  /// Partitions without a row that no device has asked for in so many days.
  func emptyPartitions(unaskedForDays days: Int64) throws(StoreError) -> [Int64]
  /// Removes partitions of which nothing is left, not even a row that left them.
  func removePartitions(
    _ partitions: [Int64], _ transaction: NumberedTransaction
  ) throws(StoreError)
  /// The days of the windows, as they were last kept.
  func borders() throws(StoreError) -> [WindowBorder]
  /// Keeps the days of these windows; those of others stay.
  func keep(
    _ borders: [WindowBorder], _ transaction: NumberedTransaction
  ) throws(StoreError)
}
