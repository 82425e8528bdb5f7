import FerryConnector
import FerryModel
import FerryServer

/// Operations as an operator looks for them, and corrections.
extension StoreDecorator {
  package func deskOperations(
    _ filter: DeskFilter, before sequence: Int64?, count: Int
  ) throws(StoreError) -> [DeskOperation] {
    try inner.deskOperations(filter, before: sequence, count: count)
  }

  package func deskCounts() throws(StoreError) -> DeskCounts {
    try inner.deskCounts()
  }

  package func deviceCounts(since moment: Int64) throws(StoreError) -> DeviceCounts {
    try inner.deviceCounts(since: moment)
  }

  package func add(_ correction: StoredCorrection) throws(StoreError) -> Bool {
    try inner.add(correction)
  }

  package func corrections(of operations: [OperationID]) throws(StoreError) -> [StoredCorrection] {
    try inner.corrections(of: operations)
  }

  package func openCorrections(
    of owner: Owner, count: Int
  ) throws(StoreError) -> [StoredCorrection] {
    try inner.openCorrections(of: owner, count: count)
  }

  package func end(
    _ id: OperationID, of owner: Owner, as state: StoredCorrection.State, detail: String,
    became operation: OperationID?, at moment: Int64
  ) throws(StoreError) -> StoredCorrection? {
    try inner.end(
      id, of: owner, as: state, detail: detail, became: operation, at: moment)
  }

  package func reports(
    _ question: DeviceReport.Question, before number: Int64?
  ) throws(StoreError) -> [DeviceReport] {
    try inner.reports(question, before: number)
  }

  package func leftOutRows(count: Int) throws(StoreError) -> [RejectedRow] {
    try inner.leftOutRows(count: count)
  }

  package func emptyRefused(afterDays days: Int64, before moment: Int64) throws(StoreError) {
    try inner.emptyRefused(afterDays: days, before: moment)
  }
}
