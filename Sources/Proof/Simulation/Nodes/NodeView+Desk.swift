import FerryConnector
import FerryModel
import FerryServer

/// Operations as an operator looks for them, and corrections.
extension NodeView {
  func deskOperations(
    _ filter: DeskFilter, before sequence: Int64?, count: Int
  ) throws(StoreError) -> [DeskOperation] {
    try any { store throws(StoreError) in
      try store.deskOperations(filter, before: sequence, count: count)
    }
  }

  func deskCounts() throws(StoreError) -> DeskCounts {
    try any { store throws(StoreError) in try store.deskCounts() }
  }

  func reports(
    _ question: DeviceReport.Question, before number: Int64?
  ) throws(StoreError) -> [DeviceReport] {
    try any { store throws(StoreError) in try store.reports(question, before: number) }
  }

  func deviceCounts(since moment: Int64) throws(StoreError) -> DeviceCounts {
    try any { store throws(StoreError) in try store.deviceCounts(since: moment) }
  }

  func add(_ correction: StoredCorrection) throws(StoreError) -> Bool {
    try any { store throws(StoreError) in try store.add(correction) }
  }

  func corrections(of operations: [OperationID]) throws(StoreError) -> [StoredCorrection] {
    try any { store throws(StoreError) in try store.corrections(of: operations) }
  }

  func openCorrections(
    of owner: Owner, count: Int
  ) throws(StoreError) -> [StoredCorrection] {
    try any { store throws(StoreError) in try store.openCorrections(of: owner, count: count) }
  }

  func end(
    _ id: OperationID, of owner: Owner, as state: StoredCorrection.State, detail: String,
    became operation: OperationID?, at moment: Int64
  ) throws(StoreError) -> StoredCorrection? {
    try any { store throws(StoreError) in
      try store.end(
        id, of: owner, as: state, detail: detail, became: operation, at: moment)
    }
  }

  func leftOutRows(count: Int) throws(StoreError) -> [RejectedRow] {
    try any { store throws(StoreError) in try store.leftOutRows(count: count) }
  }

  func emptyRefused(afterDays days: Int64, before moment: Int64) throws(StoreError) {
    try any { store throws(StoreError) in
      try store.emptyRefused(afterDays: days, before: moment)
    }
  }
}
