import FerryConnector
import FerryModel
import FerryServer
import FerryWire

extension StoreDecorator {
  package func countDay() throws(StoreError) {
    try inner.countDay()
  }

  package func version(daysAgo days: Int64) throws(StoreError) -> Int64 {
    try inner.version(daysAgo: days)
  }

  package func leftPartitions() throws(StoreError) -> [(partition: Int64, rows: Int64, left: Int64)]
  {
    try inner.leftPartitions()
  }

  package func leave(of partition: Int64, after count: Int64) throws(StoreError) -> Int64? {
    try inner.leave(of: partition, after: count)
  }

  package func purgeLeaves(
    of partition: Int64, upTo version: Int64, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64 {
    try inner.purgeLeaves(of: partition, upTo: version, transaction)
  }

  package func purgeRows(upTo version: Int64) throws(StoreError) -> Int64 {
    try inner.purgeRows(upTo: version)
  }

  package func forgetOperations(afterDays days: Int64) throws(StoreError) -> Int64 {
    try inner.forgetOperations(afterDays: days)
  }

  package func unconfirmedAnswers(
    ofDevices prefix: String, afterDays days: Int64, count: Int
  ) throws(StoreError) -> [OldAnswer] {
    try inner.unconfirmedAnswers(ofDevices: prefix, afterDays: days, count: count)
  }

  package func forgetReports(afterDays days: Int64) throws(StoreError) {
    try inner.forgetReports(afterDays: days)
  }

  package func explain(_ entity: String, _ key: String) throws(StoreError) -> Explanation {
    try inner.explain(entity, key)
  }

  package func dump() throws(StoreError) -> [String] {
    try inner.dump()
  }

  package func liveRows() throws(StoreError) -> [(name: RowName, body: [UInt8], place: String?)] {
    try inner.liveRows()
  }
}

extension StoreDecorator {
  package var isShared: Bool { inner.isShared }

  package func news() throws(StoreError) -> StoreNews? {
    try inner.news()
  }

  package func arrivals() throws(StoreError) -> [ReceivedOperation] {
    try inner.arrivals()
  }

  package func waiting(of owner: Owner) throws(StoreError) -> WaitingOperations? {
    try inner.waiting(of: owner)
  }

  package func waitingOperations() throws(StoreError) -> Int? {
    try inner.waitingOperations()
  }

  package func tell(_ open: [OperationID], of owner: Owner, hasNews: Bool) throws(StoreError) {
    try inner.tell(open, of: owner, hasNews: hasNews)
  }

  package func sessionChanges() throws(StoreError) -> Int64 { try inner.sessionChanges() }
}
