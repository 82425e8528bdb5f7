import Ferry
import FerryConnector
import FerryFaultVFS
import FerryMemoryConnector
import FerryModel
import FerryServer
import FerryWorld

/// Backups that somebody has made.
struct Backups {
  var server: (disk: SimulatedDisk, branch: Oracle.Branch)?
  var devices: [Int: SimulatedDevice.Image] = [:]
}

/// What happens now and then.
extension Simulation {
  func accident() throws {
    let device = chance.pick(devices)
    switch chance.number(below: 100) {
    case ..<9: if may(.deviceStopped) { stop(device) }
    case ..<12: if may(.nonsenseSent) { try sendNonsense(as: device) }
    case ..<16: if may(.serverStopped) { try restartServer() }
    case ..<36: plan(anyCrash(), device.disk, below: 12, .deviceKilled, .devicePowerCut)
    case ..<48: plan(anyCrash(), server.disk, below: 15, .serverKilled, .serverPowerCut)
    case ..<54: plan(device.disk)
    case ..<60: plan(server.disk)
    case ..<68: try copy(device)
    case ..<74: try copyServer()
    case ..<79: if may(.rightsChanged) { changeRights() }
    case ..<82: if may(.dayPassed) { try skip(days: 1) }
    case ..<84: if may(.deviceSilent) { try silence(device) }
    case ..<87:
      let clock = chance.happens(300) ? server.clock : device.clock
      if may(.clockWrong) { setClock(clock) }
    case ..<90: if may(.extensionBeside) { try extend(device) }
    case ..<95: if may(.compaction) { try compact() }
    case ..<97: if may(.outage) { try cutAllLines() }
    case ..<98:
      guard may(.tokensRevoked) else { return }
      try withServer { try self.server.service.revoke(user: device.user) }
      counts.add(.tokensRevoked)
    default: try decideUnknowns()
    }
  }

  private func plan(
    _ crash: FaultDisk.Crash, _ disk: SimulatedDisk, below limit: Int, _ killed: SimulatedFault,
    _ cut: SimulatedFault
  ) {
    let operations = chance.number(below: limit)
    if may(crash == .kill ? killed : cut) { disk.plan(.crash(crash), in: operations) }
  }

  private func anyCrash() -> FaultDisk.Crash { chance.pick(FaultDisk.Crash.allCases) }

  private func plan(_ disk: SimulatedDisk) {
    let times = 1 + chance.number(below: 6)
    let isFull = chance.happens(500)
    let operations = chance.number(below: 12)
    guard may(isFull ? .diskFull : .diskBroken) else { return }
    disk.plan(isFull ? .full(times) : .broken(min(times, 2)), in: operations)
  }

  private func stop(_ device: SimulatedDevice) {
    guard device.isRunning else { return }
    counts.add(.deviceStopped)
    log.say("step \(step): device \(device.number) is ended")
    device.stop()
    device.sleepsUntil = step + chance.number(below: 5)
  }

  private func restartServer() throws {
    guard server.isRunning else { return }
    counts.add(.serverStopped)
    log.say("step \(step): the server is stopped")
    stopServer()
    try startServer()
  }

  // Copies.

  private func copy(_ device: SimulatedDevice) throws {
    guard device.endsAt == nil, !device.disk.isTroubled else { return }
    guard let image = backups.devices[device.number] else {
      backups.devices[device.number] = device.copy()
      return
    }
    if chance.happens(300) {
      backups.devices[device.number] = device.copy()
    } else if chance.happens(450) || devices.count > 3 {
      guard may(.deviceRestored) else { return }
      counts.add(.deviceRestored)
      log.say("step \(step): device \(device.number) is restored from a backup")
      device.restore(image)
      try start(device)
    } else if may(.deviceCloned) {
      counts.add(.deviceCloned)
      let now = device.copy()
      device.watch.isCopied()
      let clone = try addDevice(user: device.user, durability: .machine, disk: now.disk) { clone in
        clone.watch.forget()
        clone.watch.claims = now.claims
      }
      clone.endsAt = step + 40 + chance.number(below: 60)
      log.say("step \(step): device \(device.number) is cloned as \(clone.number)")
    }
  }

  /// Copies whose time is over are thrown away with all that they hold.
  func endClones() {
    for device in devices {
      guard let end = device.endsAt, step >= end else { continue }
      transfers.removeAll { $0.device === device }
      counts.imports += device.recorder.imports
      device.stop()
      devices.removeAll { $0 === device }
      log.say("step \(step): device \(device.number) is thrown away")
    }
  }

  /// A restored server may perform again what a business system without memory has done already;
  /// that is its operator's to know, and not tried here.
  private func copyServer() throws {
    guard server.isRunning, !server.disk.isTroubled, remembers else { return }
    guard let backup = backups.server, chance.happens(600) else {
      backups.server = (server.disk.copy(), oracle.backup())
      return
    }
    guard may(.serverRestored) else { return }
    counts.add(.serverRestored)
    stopServer()
    server.restore(backup.disk)
    ledger.forget(
      performed: Set(oracle.business.performed.keys),
      pending: devices.flatMap(\.watch.operations.values))
    oracle.restore(backup.branch)
    log.say("step \(step): the server is restored to \(backup.branch.clock)")
    try startServer()
  }

  private func extend(_ device: SimulatedDevice) throws {
    guard device.isRunning else { return }
    if device.programs.count > 1 {
      device.endExtension()
      return
    }
    do throws(FerryError) {
      try device.startExtension()
      counts.add(.extensionBeside)
    } catch {
      guard device.disk.begun != nil else { throw error }
    }
  }

  // Time and rights.

  private func changeRights() {
    let user = chance.happens(500) ? "ann" : "bob"
    let rights = Set(SimulatedBusiness.agencies.filter { _ in chance.happens(550) })
    if users.rights(of: user) != rights { counts.add(.rightsChanged) }
    users.set(user, rights)
    log.say("step \(step): \(user) may see \(rights.sorted())")
  }

  func skip(days: Int) throws {
    for _ in 0..<days {
      time.advance(milliseconds: 86_400_000)
      counts.skippedMilliseconds += 86_400_000
      counts.add(.dayPassed)
      try compact()
    }
    log.say("step \(step): \(days) days pass")
  }

  /// Longer than the server remembers operations and keeps leaves.
  private func silence(_ device: SimulatedDevice) throws {
    guard device.isRunning else { return }
    counts.add(.deviceSilent)
    log.say("step \(step): device \(device.number) is silent")
    device.stop()
    device.sleepsUntil = step + 20 + chance.number(below: 40)
    try skip(days: 14)
  }

  private func setClock(_ clock: SimulatedClock) {
    let year: Int64 = 365 * 86_400_000
    let wrong = chance.pick([-year, 0, year])
    if wrong != 0 { counts.add(.clockWrong) }
    clock.set(wrongByMilliseconds: wrong)
    log.say("step \(step): a clock is wrong by \(wrong / 86_400_000) days")
  }

  func compact() throws {
    counts.add(.compaction)
    try withServer { _ = try self.server.service.compact() }
  }

  /// Nothing happens for a while but that open lines show that they are.
  func idle(seconds: Int) throws {
    var left = seconds
    while left > 0 {
      let slice = min(left, 10)
      left -= slice
      time.advance(milliseconds: Int64(slice) * 1_000)
      try beat()
    }
  }

  func beat() throws {
    for transfer in transfers where transfer.isWaiting && !transfer.isHalfOpen {
      guard transfer.underWay.isEmpty, isAlive(transfer) else { continue }
      transfer.put(Exchange.beat)
      transfer.isWaiting = false
      if try deliver(transfer) {
        close(transfer)
        transfers.removeAll { $0 === transfer }
      }
    }
  }

  private func cutAllLines() throws {
    counts.add(.outage)
    log.say("step \(step): all lines break")
    for transfer in transfers where !transfer.isHalfOpen {
      if try breakOff(transfer) {
        close(transfer)
        transfers.removeAll { $0 === transfer }
      }
    }
  }
}
