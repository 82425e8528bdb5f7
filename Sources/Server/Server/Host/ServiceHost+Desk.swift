import FerryConnector
import FerryModel
import FerryWire

/// What an operator asks of the operations.
extension ServiceHost {
  func deskOperations(
    _ filter: DeskFilter, before sequence: Int64?, count: Int
  ) throws(ServerError) -> DeskPage {
    try service.deskOperations(filter, before: sequence, count: count)
  }

  func deskCounts() throws(ServerError) -> DeskCounts { try service.deskCounts() }

  func deviceCounts() throws(ServerError) -> DeviceCounts { try service.deviceCounts() }

  func reports(
    _ question: DeviceReport.Question, before number: Int64?
  ) throws(ServerError) -> [DeviceReport] {
    try service.reports(question, before: number)
  }

  func deskEntry(_ id: OperationID) throws(ServerError) -> DeskEntry? {
    try service.deskEntry(id)
  }

  func correct(
    _ order: CorrectionOrder, isTrial: Bool
  ) throws(ServerError) -> StoredCorrection {
    guard !isStopped else { throw ServiceHost.stopped }
    return try service.correct(order, isTrial: isTrial)
  }

  func withdraw(
    _ correction: OperationID, of operation: OperationID
  ) throws(ServerError) -> StoredCorrection {
    try service.withdraw(correction, of: operation)
  }

  func explain(_ entity: String, _ key: String) throws(ServerError) -> Explanation {
    try service.explain(entity, key)
  }

  func rejectedRows() throws(ServerError) -> [RejectedRow] { try service.leftOutRows() }

  /// Ends the sessions of a user, on one device or on all.
  func signOut(user: String, device: String?) throws(ServerError) {
    try service.revoke(user: user, device: device, reason: "signedOutByOperator")
  }
}
