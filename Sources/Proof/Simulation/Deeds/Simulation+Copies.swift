import Ferry
import FerryFaultVFS
import FerryServer

/// Backups that somebody has made, each of some moment; and what stands by to take over.
struct Backups {
  struct Server {
    let disk: SimulatedDisk
    let branch: Oracle.Branch
  }

  var server: [Server] = []
  var devices: [Int: [SimulatedDevice.Image]] = [:]
  /// A copy of the server's store that is a little behind, and when it takes over.
  var standby: (backup: Server, at: Int)?
  static let limit = 4
}

/// Copies of servers and devices, and what comes of them.
extension Simulation {
  func copy(_ device: SimulatedDevice) throws {
    guard device.endsAt == nil, !device.disk.isTroubled else { return }
    if backups.devices[device.number] == nil || chance.happens(300) {
      keepBackup(of: device)
    } else if chance.happens(450) || devices.count > 3 {
      try restore(device)
    } else {
      try clone(device)
    }
  }

  func keepBackup(of device: SimulatedDevice) {
    guard device.endsAt == nil, !device.disk.isTroubled else { return }
    keep(device.copy(), in: &backups.devices[device.number, default: []])
  }

  /// The newest takes the place of any other.
  private func keep<Backup>(_ backup: Backup, in backups: inout [Backup]) {
    if backups.count >= Backups.limit { backups.remove(at: chance.number(below: backups.count)) }
    backups.append(backup)
  }

  /// The device goes on from any of its backups.
  func restore(_ device: SimulatedDevice) throws {
    guard device.endsAt == nil, !device.disk.isTroubled, may(.deviceRestored), maySetBack,
      let backups = backups.devices[device.number]
    else { return }
    counts.add(.deviceRestored)
    device.watch.reach(.restored)
    isDeviceSetBack = true
    log.say("step \(step): device \(device.number) is restored from a backup")
    device.restore(chance.pick(backups))
    try start(device)
  }

  func clone(_ device: SimulatedDevice) throws {
    guard device.endsAt == nil, !device.disk.isTroubled, devices.count < 4, may(.deviceCloned),
      maySetBack
    else { return }
    counts.add(.deviceCloned)
    device.watch.reach(.copied)
    isDeviceSetBack = true
    let now = device.copy()
    device.watch.isCopied()
    let clone = try addDevice(user: device.user, durability: .machine, disk: now.disk) { clone in
      clone.watch.forget()
      clone.watch.claims = now.claims
    }
    clone.endsAt = step + 40 + chance.number(below: 60)
    log.say("step \(step): device \(device.number) is cloned as \(clone.number)")
  }

  /// Copies whose time is over are thrown away with all that they hold.
  func endClones() {
    for device in devices {
      guard let end = device.endsAt, step >= end else { continue }
      throwAway(device)
      log.say("step \(step): device \(device.number) is thrown away")
    }
  }

  func throwAway(_ device: SimulatedDevice) {
    transfers.removeAll { $0.device === device }
    counts.imports += device.recorder.imports
    counts.reach.merge(device.watch.reach, uniquingKeysWith: +)
    device.stop()
    devices.removeAll { $0 === device }
    backups.devices[device.number] = nil
  }

  /// A device that is set back may send again what it does not know it has sent. Where the business
  /// system does not remember, that is done once only as long as the server does: devices are set
  /// back, or more days pass, not both.
  var maySetBack: Bool { mayPass(days: 0, setBack: true) }

  func mayPass(days: Int, setBack isSetBack: Bool? = nil) -> Bool {
    let isForgotten =
      counts.faults[.dayPassed, default: 0] + days >= SimulatedServer.limits.operationMemoryDays
    return remembers || !(isSetBack ?? isDeviceSetBack) || !isForgotten
  }

  /// A restored server may perform again what a business system without memory has done already;
  /// that is its operator's to know, and not tried here.
  var mayCopyServer: Bool { server.isRunning && !server.disk.isTroubled && remembers }

  func copyServer() throws {
    if chance.happens(500) { keepServerBackup() } else { try restoreServer() }
  }

  func keepServerBackup() {
    if mayCopyServer { keep(serverBackup(), in: &backups.server) }
  }

  func serverBackup() -> Backups.Server {
    Backups.Server(disk: server.disk.copy(), branch: oracle.backup())
  }

  /// The server goes on from any of its backups.
  func restoreServer() throws {
    guard mayCopyServer, may(.serverRestored), !backups.server.isEmpty else { return }
    counts.add(.serverRestored)
    try goOn(from: chance.pick(backups.server))
  }

  /// A copy that is made now takes over a little later: what was committed between is lost.
  func failOver() {
    guard mayCopyServer, backups.standby == nil else { return }
    backups.standby = (serverBackup(), step + 2 + chance.number(below: 30))
  }

  /// What stands by takes over when its time has come, whatever became of the first.
  func takeOver() throws {
    guard let standby = backups.standby, step >= standby.at else { return }
    backups.standby = nil
    guard may(.serverFailedOver) else { return }
    counts.add(.serverFailedOver)
    try goOn(from: standby.backup)
  }

  func goOn(from backup: Backups.Server) throws {
    reachAll(.serverRestored)
    stopServer()
    server.restore(backup.disk)
    ledger.forget(
      performed: Set(oracle.business.performed.keys),
      pending: devices.flatMap(\.watch.operations.values))
    oracle.restore(backup.branch)
    register.forget()
    // What it has forgotten is sent again, and completed with a later batch.
    for device in devices { device.forgetBatches() }
    log.say("step \(step): the server is restored to \(backup.branch.clock)")
    try startServer()
    if server.isRunning { ledger.forget(answersOf: try oracle.waiting()) }
  }
}
