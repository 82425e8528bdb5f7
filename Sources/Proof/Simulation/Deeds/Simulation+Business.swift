import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerryServer
import Synchronization

/// The business system by itself, and the operator who looks after it.
extension Simulation {
  func setBusinessFaults() {
    // A service has faults of its own.
    guard service == nil else { return }
    // Of its own: the other choices of a seed stay as they are.
    let overlap = SeededChance(seed ^ 0x07E2)
    let without = self.without
    business.setOverlap { held in
      guard overlap.happens(400), !without.contains(.changedByOthers) else { return nil }
      return SimulatedBusiness.overlapping(overlap, held)
    }
    let chance = self.chance
    let struck = struckCalls
    // Only where nobody remembers can an outcome stay unknown.
    let performs = remembers ? 150 : 300
    let lateness = self.lateness
    let mayCommitLater = business.notesChanges && remembers && business.isTransactional
    business.setFault { call in
      if call == .perform, mayCommitLater, lateness.happens(250),
        !without.contains(.committedLater)
      {
        struck.add(.commitsLater)
        return .commitsLater
      }
      if call == .perform, struck.takeForced() {
        struck.add(.timeoutBeforeCommit)
        return .timeoutBeforeCommit
      }
      guard chance.happens(call == .perform ? performs : 25) else { return nil }
      let fault: MemoryFault =
        call == .perform ? chance.pick([.away, .timeoutBeforeCommit, .timeoutAfterCommit]) : .away
      guard !without.contains(StruckCalls.name(of: fault)) else { return nil }
      struck.add(fault)
      return fault
    }
  }

  /// Transactions whose line broke end at some time.
  func endLate() {
    guard business.notesChanges, !business.late.isEmpty else { return }
    // Who asks too early finds the rights changed.
    if lateness.happens(40), may(.rightsChanged) { changeRights() }
    guard lateness.happens(30) else { return }
    performLate()
  }

  /// They are judged by the rights of the moment in which they end.
  func performLate() {
    for operation in business.late { ledger.arrivals.perform(operation, users) }
    let count = business.performLate()
    if count > 0 { log.say("step \(step): \(count) transactions commit late") }
  }

  /// Others give a tag another key, or the operator sets the business system back to a backup.
  func troubleNotes() throws {
    guard business.notesChanges else { return }
    // While the first comparison runs, more often.
    if lateness.happens(step < 40 ? 300 : 60) { changeKey() }
    // Wanted until it can be done. Seldom, and not in each run: all is compared then, so that what was
    // missed before shows no more.
    if lateness.happens(8) { wantsSetBack = true }
    guard wantsSetBack, seed % 3 == 2, server.isRunning else { return }
    guard let backup = businessBackup else {
      wantsSetBack = false
      businessBackup = business.backup()
      return
    }
    guard try server.wouldNotice(backup) else { return }
    wantsSetBack = false
    business.setBack(to: backup)
    businessBackup = nil
    log.say("step \(step): the business system is set back to a backup")
  }

  private func changeKey() {
    guard may(.keyChanged) else { return }
    let tags = business.rows(of: "Tag")
    let new = ObjectKey([.text("T\(lateness.number(below: 9))")])
    guard !tags.isEmpty, tags[new] == nil else { return }
    let old = lateness.pick(tags.keys.sorted { $0.text < $1.text })
    guard var values = tags[old] else { return }
    values[0] = new.values(of: SimulatedBusiness.tag)?[0] ?? values[0]
    business.changeByOther { transaction in
      transaction.write("Tag", old, nil)
      transaction.write("Tag", new, values)
    }
    counts.add(.keyChanged)
    log.say("step \(step): others give Tag \(old) the key \(new)")
  }

  func changeByOthers() {
    guard may(.changedByOthers) else { return }
    let orders = business.rows(of: "Order").keys.sorted {
      ($0.text.count, $0.text) < ($1.text.count, $1.text)
    }
    guard let last = orders.last else { return }
    let key = chance.pick(orders)
    let choice = chance.number(below: 19)
    let number = Int64(chance.number(below: 9))
    counts.add(.changedByOthers)
    for device in devices {
      device.watch.reach(.changedByOthers, RowName(entity: "Order", key: key))
    }
    // The same size as what was there, now and then: only the digest tells.
    let present = business.rows(of: "Order")[key]?[5].bigReference
    let photo = business.keep(content: contents.make(chance, like: present?.sizeBytes))
    business.changeByOther { transaction in
      guard var values = transaction.row("Order", key) else { return }
      switch choice {
      case ..<5: values[3] = .integer(number)
      case 17...:
        // A tag goes to another line, or comes.
        let lines = transaction.rows(of: "Line").values.sorted {
          ObjectKey([$0[0], $0[1]]).text < ObjectKey([$1[0], $1[1]]).text
        }
        guard !lines.isEmpty else { return }
        let line = lines[Int(number) % lines.count]
        let tag = "T\(number)"
        transaction.write(
          "Tag", ObjectKey([.text(tag)]), [.text(tag), line[0], line[1], .text("by others")])
        return
      case 12...: values[5] = photo
      case ..<9: values[1] = .text(SimulatedBusiness.name(ofAgency: number % 3 + 1))
      case ..<10:
        transaction.write(
          "Line", ObjectKey([values[0], .integer(number)]),
          [values[0], .integer(number), .text("by others")])
        return
      default:
        // The business never gives a key twice.
        guard key != last else { return }
        for (line, row) in transaction.rows(of: "Line").sorted(by: { $0.key.text < $1.key.text })
        where row[0] == values[0] {
          for (tag, named) in transaction.rows(of: "Tag").sorted(by: { $0.key.text < $1.key.text })
          where named[1] == row[0] && named[2] == row[1] {
            transaction.write("Tag", tag, nil)
          }
          transaction.write("Line", line, nil)
        }
        transaction.write("Order", key, nil)
        return
      }
      transaction.write("Order", key, values)
    }
    log.say("step \(step): others change Order \(key)")
  }

  /// The operator looks into the business system and says how unknown operations ended.
  func decideUnknowns() throws {
    guard !remembers else { return }
    try withServer {
      for (id, key) in try oracle.unknowns() {
        service?.settle(id)
        ledger.loosen(id)
        let effect = oracle.business.effects.first { $0.operation == id }
        let decision: OperationDecision
        if oracle.business.performed[id] != nil, let key = effect?.name.key ?? key {
          decision = .accepted(key: key)
          // Nobody says in which form the values were written.
          ledger.recalled(id, key)
        } else {
          decision = chance.happens(500) ? .again : .refused(message: "it was not done")
        }
        try server.service.decide(id, decision)
        log.say("step \(step): the operator decides \(id)")
      }
    }
  }
}

extension Simulation {
  /// Invariant 2: where the business system remembers operations no outcome stays unknown, and nobody
  /// is told of one.
  func checkUnknowns() throws {
    guard remembers, !hasFaults, server.isRunning, let unknown = try oracle.unknowns().first else {
      return
    }
    throw SimulationFailure(
      invariant: 2,
      problem: "the outcome of \(unknown.id) stays unknown, and the business system remembers it")
  }

  /// The same for what an app was told.
  func checkUnknowns(_ device: SimulatedDevice) throws {
    guard remembers, device.recorder.count(of: .unknown) > 0 else { return }
    throw SimulationFailure(
      invariant: 2,
      problem: "device \(device.number) is told of an unknown outcome, and the business system "
        + "remembers what it did")
  }
}

/// Counts the faults of the business system, from inside its calls.
final class StruckCalls: Sendable {
  private let struck = Mutex<[SimulatedFault: Int]>([:])
  private let isForced = Mutex(false)

  var counts: [SimulatedFault: Int] { struck.withLock { $0 } }

  /// The next call ends in a time-out.
  func forceTimeout() { isForced.withLock { $0 = true } }

  /// Whether this one does.
  func takeForced() -> Bool {
    isForced.withLock { isForced in
      defer { isForced = false }
      return isForced
    }
  }

  func add(_ fault: MemoryFault) {
    struck.withLock { $0[StruckCalls.name(of: fault), default: 0] += 1 }
  }

  static func name(of fault: MemoryFault) -> SimulatedFault {
    switch fault {
    case .away: .businessAway
    case .timeoutBeforeCommit: .timeoutBeforeCommit
    case .timeoutAfterCommit: .timeoutAfterCommit
    case .commitsLater: .committedLater
    }
  }
}
