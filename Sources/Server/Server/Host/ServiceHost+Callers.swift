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

  func callerMark(of entity: Int, for user: String) throws(ServerError) -> CallerMark? {
    try mayAsk()
    return try service.callerMark(of: entity, for: user)
  }

  func callerChanges(
    of entity: Int, for user: String, since mark: CallerMark, limit: Int
  ) throws(ServerError) -> CallerChanges {
    try mayAsk()
    return try service.callerChanges(of: entity, for: user, since: mark, limit: limit)
  }

  func callerKey() throws(ServerError) -> [UInt8] {
    try mayAsk()
    return try service.callerKey()
  }

  /// Sends the operations of one chain and waits for their answers; `inWork` where one has none after
  /// `patience`. `isKept`: they may be sent again, so the answers stay.
  package func perform(
    _ chain: [Operation], for user: String, patience: Duration, isKept: Bool
  ) async throws(ServerError) -> CallerOutcome {
    precondition(!chain.isEmpty, "a chain without an operation")
    try mayAsk()
    let arrived = service.arrivedOperations
    let bytes = chain.map { operation in
      guard let entity = service.package.entity(named: operation.entity) else {
        preconditionFailure("\(operation.entity) is no entity of the package")
      }
      return operation.encoded(for: entity)
    }
    let receipt = try service.take(chain, bytes, for: user)
    if service.arrivedOperations != arrived { wakeWorkers() }
    switch receipt {
    case .refused(let answer): return .answered([answer])
    case .otherOperation: return .otherOperation
    case .notTaken(let why): return .notTaken(why)
    case .taken: break
    }
    let end = world.clock.moment.advanced(by: patience)
    var answers: [Answer] = []
    for operation in chain {
      let rest = max(0, end.milliseconds - world.clock.moment.milliseconds)
      guard
        let answer = try await answer(
          to: operation.id, of: user, patience: .milliseconds(rest))
      else { return .inWork }
      answers.append(answer)
    }
    if !isKept { for answer in answers { try service.confirmCaller(answer, of: user) } }
    return .answered(answers)
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

/// How a chain of a caller ended.
package enum CallerOutcome: Sendable {
  /// In the order of the operations; the only one of a chain that was not taken in.
  case answered([Answer])
  /// It was stored, and has no answer yet.
  case inWork
  /// Another operation has its id.
  case otherOperation
  /// There is no room for it now; the text says why.
  case notTaken(String)
}
