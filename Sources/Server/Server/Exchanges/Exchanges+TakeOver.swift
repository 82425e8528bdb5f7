import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// What is remembered of operations that devices name and another package took in.
struct TakeOver {
  /// Accepted ones whose object is read first: the device shows the result with the answer.
  var afterReading: [ObjectName: [OperationID: Owner]] = [:]
  /// Since when nobody is there who performs them.
  var orphans: [OperationID: Timestamp] = [:]
}

/// A device that moved to another version of its package names operations that it sent with the version
/// before. Their answers are its own, and what nobody would ever perform is performed here.
extension Exchanges {
  /// A package that is replaced, or a server that starts, serves a version again within this time.
  static let orphanPatience: Duration = .seconds(60)

  /// What devices name and this package does not have. A node that follows leaves it to the leader.
  func takeOver(_ ids: [OperationID], of owner: Owner) throws(ServerError) {
    guard !ids.isEmpty, store.leads else { return }
    let found = try reading { () throws(StoreError) in
      try store.elsewhere(ids, user: owner.user.text)
    }
    var answered: [OperationElsewhere] = []
    var orphans: [OperationElsewhere] = []
    for operation in found {
      switch operation.state {
      case .answered, .confirmed:
        takeOver.orphans[operation.id] = nil
        if let name = objectToRead(operation) {
          takeOver.afterReading[name, default: [:]][operation.id] = owner
          intake.readLater(name, metAt: core.marks.moment)
        } else {
          answered.append(operation)
        }
      case .stored, .claimed: if isOrphan(operation) { orphans.append(operation) }
      }
    }
    try takeOver(answersTo: answered.map { ($0, owner) })
    let chains = Dictionary(grouping: orphans, by: \.chain)
    for chain in chains.keys.sorted(by: { $0.text < $1.text }) {
      try takeOver(orphans: chains[chain] ?? [], of: owner)
    }
  }

  /// Other packages have answered operations. Devices with an open channel here, which do not ask by
  /// themselves, may have sent them.
  func tellOthers(_ owners: Set<Owner>) {
    accounts.users.tellOthers(.answeredElsewhere(owners), than: accounts)
  }

  func takeAnswersElsewhere(of owners: Set<Owner>) {
    do throws(ServerError) { try answeredElsewhere(owners) } catch {
      world.log.warn("an answer of another package waits", ("reason", error.description))
    }
  }

  private func answeredElsewhere(_ owners: Set<Owner>) throws(ServerError) {
    for exchange in exchanges.values
    where exchange.state.isChannel && owners.contains(exchange.state.owner) {
      try takeOver(exchange.state.hello.open, of: exchange.state.owner)
    }
  }

  /// Objects were read from the business system. What another package answered about them follows.
  func finish(_ task: ReadBackTask, _ rows: [RowImage]) throws(ServerError) {
    let names = try intake.finish(task, rows, unwritten: operations.unwritten)
    try takeOverAnswers(afterReading: names)
  }

  /// After these objects were read from the business system.
  func takeOverAnswers(afterReading names: [ObjectName]) throws(ServerError) {
    guard !takeOver.afterReading.isEmpty else { return }
    var answered: [(OperationElsewhere, Owner)] = []
    for name in names {
      guard let waiting = takeOver.afterReading.removeValue(forKey: name) else { continue }
      for (id, owner) in waiting.sorted(by: { $0.key.text < $1.key.text }) {
        answered += try reading { () throws(StoreError) in
          try store.elsewhere([id], user: owner.user.text).map { ($0, owner) }
        }
      }
    }
    try takeOver(answersTo: answered)
  }

  /// The object that an accepted operation changed; nil where the model has none such.
  private func objectToRead(_ operation: OperationElsewhere) -> ObjectName? {
    guard operation.answer?.outcome == .replayResult, let key = operation.key,
      let entity = package.entity(named: operation.entity), !entity.isOperation,
      key.values(of: entity) != nil
    else { return nil }
    return ObjectName(entity: operation.entity, key: key)
  }

  /// Whether its package has been served by nobody for long enough, and nothing is performed for it.
  /// In a store of several nodes another one may serve it: there nobody is sure, and it waits.
  private func isOrphan(_ operation: OperationElsewhere) -> Bool {
    guard !store.isShared else { return false }
    guard !accounts.users.mayPerform(operation.package) else {
      takeOver.orphans[operation.id] = nil
      return false
    }
    let now = world.clock.moment
    if takeOver.orphans.count > limits.registeredInMemory { takeOver.orphans = [:] }
    let since = takeOver.orphans[operation.id] ?? now
    takeOver.orphans[operation.id] = since
    return now >= since.advanced(by: Exchanges.orphanPatience)
  }

  /// They get a number of this package, and go with its next checkpoint.
  private func takeOver(
    answersTo operations: [(operation: OperationElsewhere, owner: Owner)]
  ) throws(ServerError) {
    let answered = operations.compactMap { operation, owner in
      operation.answer.map { ($0, operation, owner) }
    }
    guard !answered.isEmpty else { return }
    try write(isTakenOver: true) { transaction, _ throws(StoreError) in
      try store.takeOver(
        answered.map(\.0.id), groups: answered.map { group(of: $0.1) }, isWaiting: false)
      try store.answer(
        answered.map { $0.0.numbered(transaction.version) }, transaction)
      return (
        (),
        answered.map { answer, operation, owner in
          AnsweredOperation(
            owner: owner, group: group(of: operation), chain: operation.chain, isLastOfChain: true)
        }
      )
    }
  }

  /// A group of which every answer reaches the device, whatever its model has by now.
  private func group(of operation: OperationElsewhere) -> String {
    package.entity(named: operation.entity)?.group ?? package.groups.first?.name ?? ""
  }

  /// The members of one chain: all are performed by this package, or all are answered.
  private func takeOver(
    orphans: [OperationElsewhere], of owner: Owner
  ) throws(ServerError) {
    let fits = orphans.allSatisfy { orphan in
      orphan.payload.map { (try? Operation($0, in: package)) != nil } ?? false
    }
    for orphan in orphans { takeOver.orphans[orphan.id] = nil }
    world.log.info(
      "operations of a package that is not served are taken over",
      ("package", orphans[0].package), ("operations", String(orphans.count)),
      ("fit", String(fits)))
    guard fits else { return try refuse(orphans, of: owner) }
    let (received, missing) = try guarded { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        try store.takeOver(orphans.map(\.id), groups: orphans.map(group), isWaiting: true)
        let received = try store.operations(orphans.map(\.id))
        return (
          received, try received.map { one throws(StoreError) in try operations.missing(one) }
        )
      }
    }
    for (received, missing) in zip(received, missing) {
      operations.enqueue(received, missing: missing)
    }
  }

  /// What the model cannot read is not performed. What may have been is for an operator to find out.
  private func refuse(
    _ orphans: [OperationElsewhere], of owner: Owner
  ) throws(ServerError) {
    try write { transaction, _ throws(StoreError) in
      try store.takeOver(orphans.map(\.id), groups: orphans.map(group), isWaiting: false)
      let answers = orphans.map { orphan in
        let record = LogRecord(
          component: orphan.entity, entityKey: orphan.key?.text ?? "", code: 422,
          message: orphan.mayHaveRun
            ? "this change was sent with \(orphan.package), which is served no more; it is unknown "
              + "whether the business system performed it"
            : "this change was sent with \(orphan.package), which is served no more, and does not "
              + "fit \(package.id): it was not performed. Save it again.",
          operation: nil, requestID: orphan.id, timestamp: world.clock.now.milliseconds,
          level: .error)
        return Answer(
          id: orphan.id, version: transaction.version,
          outcome: orphan.mayHaveRun ? .unknown : .replayFailed, newKey: nil, logRecords: [record])
      }
      try store.answer(answers, transaction)
      return (
        (),
        orphans.map {
          AnsweredOperation(
            owner: owner, group: group(of: $0), chain: $0.chain, isLastOfChain: true)
        }
      )
    }
  }
}

extension Answer {
  /// The same as another numbered transaction wrote it.
  fileprivate func numbered(_ version: Int64) -> Answer {
    var answer = Answer(
      id: id, version: version, outcome: outcome, newKey: newKey, logRecords: logRecords,
      isToBeSentAgain: isToBeSentAgain)
    answer.written = written
    return answer
  }
}
