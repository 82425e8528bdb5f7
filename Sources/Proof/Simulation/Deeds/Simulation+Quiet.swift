import Ferry
import FerryModel

/// The end of a run: the faults stop, all that is on its way arrives, and all must agree.
extension Simulation {
  func becomeQuiet() throws {
    log.say("step \(step): quiet")
    hasFaults = false
    server.hasFaults = false
    business.setFault(nil)
    business.setOverlap(nil)
    performLate()
    service?.becomeQuiet()
    notices?.end()
    server.disk.end()
    for device in devices { device.disk.end() }
    if !server.isRunning { try startServer() }
    for device in devices {
      if !device.isRunning { try start(device) }
      device.writing = nil
      for program in device.programs { program.session.setBackground(true) }
    }
    try keepRegister()
    try endDecisions()
    // Hints alone must be enough.
    if !business.notesChanges { server.wantLoad() }
    try comeToRest()
    // Tokens end, so that the rights of the last day are everyone's, and what nobody needs any more
    // goes; then everybody asks for all that is named.
    try skip(days: Int(SimulatedServer.limits.contentDays) + 2)
    haveTokensEnded = true
    for device in devices {
      device.watch.touch()
      try device.session.tidyContents()
    }
    try comeToRest()
    try downloadAll()
    try comeToRest()
    // Without a session nothing says that the server is in another era by now.
    for device in devices { beginWholeSession(device) }
    try comeToRest()
    // Such a session may have brought rows.
    try downloadAll()
    try comeToRest()
  }

  private func comeToRest() throws {
    var calm = 0
    for round in 0..<2_000 {
      let moved = try makeProgress()
      try look()
      calm = moved ? 0 : calm + 1
      if calm >= 4 {
        if try isAtRest() { return }
        for device in devices { beginWholeSession(device) }
      }
      time.advance(milliseconds: moved ? 20 : 1_000)
      // A group of which a device has lost a part, after the server forgot it, is over after a day.
      if round == 600 { try skip(days: 2) }
      if round % 10 == 9 { try beat() }
    }
    throw SimulationFailure(
      invariant: 9, problem: "the world does not come to rest without faults: \(try unrest() ?? "")"
    )
  }

  /// Everybody does what there is to do. False when nobody had anything.
  private func makeProgress() throws -> Bool {
    var moved = false
    for device in devices {
      // It ended when it was being wiped: its start destroys its data, and another one is in its place.
      guard device.isRunning else {
        if devices.contains(where: { $0 === device }) { try start(device) }
        moved = true
        continue
      }
      do throws(FerryError) { try device.logInIfNeeded() } catch { throw error }
      moved = try stepSession(device) || moved
      try look()
    }
    for _ in 0..<12 {
      if let transfer = transfers.first(where: isReady) {
        try step(transfer)
      } else if let download = downloads.first(where: isReady) {
        try step(download)
      } else {
        break
      }
      try look()
      moved = true
    }
    try lookAtDay()
    let clock = try server.service.clock()
    let commits = business.history.count
    for _ in 0..<6 {
      try server.stepReplay()
      try server.stepLoad()
      try server.stepReadBack()
    }
    try decideUnknowns()
    try checkUnknowns()
    let hasWorked = try server.service.clock() != clock || business.history.count != commits
    return moved || hasWorked || !server.isIdle
  }

  private func isAtRest() throws -> Bool { try unrest() == nil }

  /// What still moves; nil when nothing does.
  private func unrest() throws -> String? {
    if let download = downloads.first {
      return "device \(download.device.number) waits for a content"
    }
    for device in devices {
      let checkpoints = try device.checkpoints()
      let operations = try device.operations()
      for operation in operations where operation.isInFlight {
        return "\(operation.kind) of \(operation.entity) \(operation.key) on device "
          + "\(device.number) is \(operation.state)"
      }
      if let operation = DependencyCheck(operations, device.watch.tables).forNothing() {
        return "\(operation.shown) on device \(device.number) was submitted and waits for nothing"
      }
      let rights = try rights(of: device)
      for group in SimulatedBusiness.groups {
        guard let checkpoint = checkpoints[group] else {
          return "device \(device.number) has no checkpoint of \(group)"
        }
        guard !haveTokensEnded || device.watch.claims[checkpoint]?.last == rights else {
          return "device \(device.number) has other rights in \(group) than the operator gave"
        }
        guard try oracle.lastChange(in: group, for: rights) <= checkpoint.version else {
          return "device \(device.number) stands at \(checkpoint.version) of \(group)"
        }
      }
    }
    return nil
  }

  /// Invariants 2 and 9, when nothing moves any more.
  func checkEnd() throws {
    var real: [RowName: [UInt8]] = [:]
    try checkWindow()
    for entity in package.entities {
      for (key, values) in business.rows(of: entity.name) {
        real[RowName(entity: entity.name, key: key)] = RowCoder.encode(values)
      }
    }
    let cached = oracle.present()
    guard cached == real else {
      throw SimulationFailure(
        invariant: 9,
        problem: "the cache is not the business: \(Oracle.difference(cached, real))")
    }
    for device in devices {
      try checkEnd(device, real)
      try contentWatch.checkRest(device)
      try device.watch.checkRest(device)
      try checkBatches(device)
    }
    try register.checkRest(server.service.devices())
    try oracle.checkNoContents()
    try oracle.checkSums()
    try checkOutcomes()
    if performsWhole {
      try effects.checkGroups(oracle.business, ledger)
    } else {
      try effects.checkParts(oracle.business, ledger, oracle.outcomes())
    }
  }

  private func checkEnd(_ device: SimulatedDevice, _ real: [RowName: [UInt8]]) throws {
    let groups = try device.checkpoints()
    let rights = try rights(of: device)
    let wanted = real.filter {
      groups[SimulatedBusiness.group(of: $0.key.entity)] != nil
        && Oracle.isVisible($0.key, $0.value, real, rights, oracle.window)
    }
    let found = try device.bodies()
    guard found != wanted else { return }
    throw SimulationFailure(
      invariant: 9,
      problem: "device \(device.number) at rest: \(Oracle.difference(found, wanted))")
  }

  /// What the server has answered, and what devices were told though it has forgotten it since.
  private func checkOutcomes() throws {
    let answered = try oracle.outcomes().map { ($0.key, $0.value) }
    let told = ledger.told.flatMap { id, told in
      told.map(\.answer.outcome).filter { $0 != .unknown }.map { (id, $0) }
    }
    for (id, outcome) in (answered + told).sorted(by: { $0.0.text < $1.0.text }) {
      let times = oracle.business.performed[id] ?? 0
      guard times != (outcome == .replayResult ? 1 : 0) else { continue }
      // The row of a service was as it should be, and nothing else tells who made it so.
      if outcome == .replayResult, times == 0, service?.equal.contains(id) == true { continue }
      // Two copies made different changes of one: the second is told that the first was accepted.
      let isRefusal = outcome == .replayFailed || outcome == .notTried
      if isRefusal, times == 1, ledger.births[id]?.lineage == 0 { continue }
      // The restored server judges anew what its device could not know to have arrived.
      if isRefusal, times == 1, ledger.forgotten.contains(id) { continue }
      throw SimulationFailure(
        invariant: 2,
        problem: "the operation \(id) is answered \(outcome.rawValue) and was performed "
          + "\(times) times")
    }
  }
}
