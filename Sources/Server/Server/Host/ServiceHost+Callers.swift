import FerryModel
import FerryWire
import FerryWorld

/// Callers that wait for the answers to their operations.
struct CallerWaits {
  private struct Wait {
    let owner: Owner
    let continuation: CheckedContinuation<Void, Never>
  }

  private var waits: [Int: Wait] = [:]
  private var lastNumber = 0

  mutating func add(_ owner: Owner, _ continuation: CheckedContinuation<Void, Never>) -> Int {
    lastNumber += 1
    waits[lastNumber] = Wait(owner: owner, continuation: continuation)
    return lastNumber
  }

  mutating func resume(_ number: Int) { waits.removeValue(forKey: number)?.continuation.resume() }

  mutating func resume(_ owners: Set<Owner>) {
    for (number, wait) in waits where owners.contains(wait.owner) { resume(number) }
  }

  mutating func resumeAll() { for number in waits.keys { resume(number) } }
}

/// Users who ask without a device.
extension ServiceHost {
  private func mayAsk() throws(ServerError) {
    guard !isStopped else { throw ServiceHost.stopped }
    try service.requireRecentView()
  }

  func checkCaller(_ user: String) throws(ServerError) {
    try mayAsk()
    try service.checkCaller(user)
  }

  func knows(_ id: OperationID, of user: String) throws(ServerError) -> Bool {
    try mayAsk()
    return try service.knows(id, of: user)
  }

  func earlier(
    _ id: OperationID, of user: String
  ) throws(ServerError) -> EarlierOperation? {
    try mayAsk()
    return try service.earlier(id, of: user)
  }

  package func callerRows(
    of entity: Int, for user: String, after position: CallerPosition?, count: Int
  ) throws(ServerError) -> CallerPage {
    try mayAsk()
    return try service.callerRows(of: entity, for: user, after: position, count: count)
  }

  package func callerRows(
    _ names: [RowName], for user: String
  ) throws(ServerError) -> [RowName: CallerRow] {
    try mayAsk()
    return try service.callerRows(names, for: user)
  }

  /// Sends an operation and waits for its answer; nil where it is still in work after `patience`.
  /// `isKept`: the same operation may be sent again, so the answer stays.
  package func perform(
    _ operation: Operation, of entity: Entity, for user: String, patience: Duration, isKept: Bool
  ) async throws(ServerError) -> CallerOutcome {
    try mayAsk()
    let arrived = service.arrivedOperations
    let receipt = try service.take(operation, operation.encoded(for: entity), for: user)
    if service.arrivedOperations != arrived { wakeWorkers() }
    switch receipt {
    case .refused(let answer): return .answered(answer)
    case .otherOperation: return .otherOperation
    case .notTaken(let why): return .notTaken(why)
    case .taken: break
    }
    guard let answer = try await answer(to: operation.id, of: user, patience: patience) else {
      return .inWork
    }
    if !isKept { try service.confirmCaller(answer, of: user) }
    return .answered(answer)
  }

  /// The answer to an operation of the user; nil where it is still in work after `patience`, or is
  /// not known.
  package func answer(
    to id: OperationID, of user: String, patience: Duration
  ) async throws(ServerError) -> Answer? {
    let owner = Owner(device: Callers.device(of: user), user: user)
    let end = world.clock.moment.advanced(by: patience)
    while true {
      try mayAsk()
      if let answer = try service.callerAnswer(to: id, of: user) { return answer }
      let now = world.clock.moment
      guard now < end, !Task.isCancelled else { return nil }
      let rest = Duration.milliseconds(end.milliseconds - now.milliseconds)
      await withCheckedContinuation { continuation in
        let number = callerWaits.add(owner, continuation)
        executor.perform(after: rest) { [weak self] in
          self?.assumeIsolated { host in host.callerWaits.resume(number) }
        }
      }
    }
  }
}

/// How an operation of a caller ended.
package enum CallerOutcome: Sendable {
  case answered(Answer)
  /// It was stored, and has no answer yet.
  case inWork
  /// Another operation has its id.
  case otherOperation
  /// There is no room for it now; the text says why.
  case notTaken(String)
}
