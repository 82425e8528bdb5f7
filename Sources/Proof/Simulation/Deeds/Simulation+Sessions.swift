import Ferry
import FerrySQLite
import FerryWire

/// Synchronizations that the app of a replication-based device asks for, and cancels anywhere.
extension Simulation {
  /// Apps synchronize more often than chance lets them.
  func askForNews() throws {
    guard rhythm.happens(60) else { return }
    let device = rhythm.pick(devices)
    guard device.isRunning, device.isReplicationBased || rhythm.happens(300) else { return }
    try actAsApp(device) { () throws(FerryError) in
      device.watch.cause = nil
      if device.isReplicationBased { beginSession(device) } else { askCurrent(device) }
    }
  }

  /// Of some groups, with or without a download, waiting for the replay or not.
  func beginSession(_ device: SimulatedDevice) {
    let groups = SimulatedBusiness.groups.filter { _ in chance.happens(700) }
    let plan = SynchronizationPlan(
      number: device.session.nextPlanNumber(),
      groups: groups.isEmpty ? SimulatedBusiness.groups : groups,
      isUploadOnly: chance.happens(500), awaitsAnswers: chance.happens(300))
    device.session.begin(plan)
    log.say(
      "step \(step): device \(device.number) begins a session of \(plan.groups.joined(separator: " "))"
        + (plan.isUploadOnly ? ", upload only" : ""))
  }

  /// A question whether everything is there, of any device.
  func askCurrent(_ device: SimulatedDevice) {
    guard device.session.plan == nil else { return }
    var plan = SynchronizationPlan(
      number: device.session.nextPlanNumber(), groups: SimulatedBusiness.groups)
    plan.currentWait = 60_000
    device.session.begin(plan)
    log.say("step \(step): device \(device.number) asks whether it is current")
  }

  /// What the business system had when a question arrived. Of one that notes no changes only a load
  /// says what is there, and one that was set back has other states.
  func noteQuestion(_ transfer: Transfer) {
    guard business.notesChanges, !transfer.isStrange, counts.faults[.serverRestored] == nil,
      let frame = try? FrameReader.frames(of: transfer.request.body).first,
      case .hello(let hello)? = try? Message(frame), hello.asksCurrent
    else { return }
    transfer.asked = oracle.business.states
  }

  /// Everything, at the end of a run.
  func beginWholeSession(_ device: SimulatedDevice) {
    guard device.isReplicationBased, device.session.plan == nil else { return }
    device.session.begin(
      SynchronizationPlan(
        number: device.session.nextPlanNumber(), groups: SimulatedBusiness.groups))
  }

  /// The app answers what its session asks. False where it cancels.
  func ask(_ session: Session, _ device: SimulatedDevice) throws(FerryError) -> Bool {
    while let status = session.questions.first {
      if status == .asyncReplayUploaded, let batch = session.plan?.batch {
        // The other process may have sent the same changes meanwhile: then its batch reports on them.
        let operations = try device.operations(ofBatch: batch)
        if !operations.isEmpty { device.batches[batch] = operations }
      }
      let isCancelled = hasFaults && chance.happens(120)
      if isCancelled {
        log.say("step \(step): device \(device.number) cancels at \(status)")
        counts.sessionsCancelled += 1
      }
      let isSent = session.plan.map { !$0.isUnsent } ?? false
      guard try session.answer(isCancelled ? .cancel : .proceed) else {
        if isSent { try FlawedSession.cancelled(device, planted) }
        do { try takeEnded(session, device) } catch { early = error as? SimulationFailure }
        return false
      }
    }
    return true
  }

  /// What has ended is noted, as the app would hear it.
  func takeEnded(_ session: Session, _ device: SimulatedDevice) throws {
    for ended in session.takeEndedPlans() {
      counts.sessions += 1
      log.say(
        "step \(step): device \(device.number) ends a session: "
          + (ended.error?.code.rawValue ?? "well"))
      guard case .completion(let batch) = ended.plan.origin else { continue }
      let done = device.completing.removeValue(forKey: batch) ?? []
      if ended.error == nil { try checkCompleted(batch, done, of: ended.plan.groups, device) }
      guard ended.error == nil || ended.error?.code == .cancelled else { continue }
      device.batches[batch] = nil
      // Operations that were sent once more belong to the later batch.
      device.batches = device.batches.compactMapValues { operations in
        let left = operations.subtracting(done)
        return left.isEmpty ? nil : left
      }
    }
  }

  /// Invariant 7: a session that has fetched the results of a batch leaves none of its operations with
  /// the server. One that was sent again belongs to a later batch by then, and one of another group
  /// that was sent with them is answered with that group.
  private func checkCompleted(
    _ batch: Int64, _ operations: Set<OperationID>, of groups: [String], _ device: SimulatedDevice
  ) throws {
    guard device.isRunning, !operations.isEmpty else { return }
    let running = try device.sql { (connection) throws(SQLiteError) in
      try connection.rows(
        """
        SELECT id, entity FROM ferry_operation WHERE state = 'submitted' AND acknowledged = 1
          AND id NOT IN (SELECT operation FROM ferry_batch_member)
        """
      ).filter { groups.contains(SimulatedBusiness.group(of: $0[1].text ?? "")) }
        .compactMap { $0[0].text.flatMap(OperationID.init) }
    }
    guard let first = running.filter(operations.contains).map(\.text).min() else { return }
    throw SimulationFailure(
      invariant: 7,
      problem: "device \(device.number) has ended the session for the results of the batch "
        + "\(batch), and the server still replays \(first) of it")
  }

  /// Invariant 7: what was sent and not waited for is completed by a session of its own.
  func checkBatches(_ device: SimulatedDevice) throws {
    guard let batch = device.batches.keys.min() else { return }
    throw SimulationFailure(
      invariant: 7,
      problem: "device \(device.number) has the completed batch \(batch), and nothing reported it")
  }
}
