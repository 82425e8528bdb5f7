import FerryConnector
import FerryModel
import FerryWire

/// The calls of an operator about operations.
extension Service {
  package func deskOperations(
    _ filter: DeskFilter, before sequence: Int64?, count: Int
  ) throws(ServerError) -> DeskPage {
    defer { handOut() }
    return try desk.list(filter, before: sequence, count: count)
  }

  package func deskCounts() throws(ServerError) -> DeskCounts {
    defer { handOut() }
    return try desk.counts()
  }

  func deviceCounts() throws(ServerError) -> DeviceCounts {
    defer { handOut() }
    return try desk.deviceCounts()
  }

  func reports(
    _ question: DeviceReport.Question, before number: Int64?
  ) throws(ServerError) -> [DeviceReport] {
    defer { handOut() }
    return try desk.reports(question, before: number)
  }

  package func deskEntry(_ id: OperationID) throws(ServerError) -> DeskEntry? {
    defer { handOut() }
    return try desk.entry(id)
  }

  /// Says what is to become of a refused operation; its device does it with its next welcome.
  package func correct(
    _ order: CorrectionOrder, isTrial: Bool = false
  ) throws(ServerError) -> StoredCorrection {
    defer { handOut() }
    return try desk.correct(order, isTrial: isTrial)
  }

  package func withdraw(
    _ correction: OperationID, of operation: OperationID
  ) throws(ServerError) -> StoredCorrection {
    defer { handOut() }
    return try desk.withdraw(correction, of: operation)
  }

  /// Rows that no device gets, the first of them.
  func leftOutRows() throws(ServerError) -> [RejectedRow] {
    defer { handOut() }
    return try core.reading { () throws(StoreError) in try store.leftOutRows(count: 1_000) }
  }

  func explain(_ entity: String, _ key: String) throws(ServerError) -> Explanation {
    defer { handOut() }
    return try core.reading { () throws(StoreError) in try store.explain(entity, key) }
  }
}
