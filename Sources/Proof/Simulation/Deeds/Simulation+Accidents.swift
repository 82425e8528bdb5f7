import Ferry
import FerryConnector
import FerryFaultVFS
import FerryMemoryConnector
import FerryModel
import FerryServer
import FerryWorld

/// What happens now and then.
extension Simulation {
  func accident() throws {
    let device = chance.pick(devices)
    switch chance.number(below: 108) {
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
    case ..<82: if may(.dayPassed), mayPass(days: 1) { try skip(days: 1) }
    case ..<84: try silence(device, .deviceSilent)
    case ..<87: setClock(chance.happens(300) ? server.clock : device.clock)
    case ..<90: try extend(device)
    case ..<95: if may(.compaction) { try compact() }
    case ..<97: try cutAllLines()
    case ..<98: try revokeTokens(of: device)
    case ..<100: try decideUnknowns()
    case ..<102: try endToken()
    case ..<104: fill(device.disk)
    case ..<105: fill(server.disk)
    case ..<107: failOver()
    default: try silence(device, .deviceSilentLong)
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

  /// It stays full while its process ends and starts again.
  func fill(_ disk: SimulatedDisk) {
    let operations = chance.number(below: 12)
    if may(.fullOverRestart) { disk.plan(.fullOverRestart, in: operations) }
  }

  func stop(_ device: SimulatedDevice) {
    guard device.isRunning else { return }
    counts.add(.deviceStopped)
    device.watch.reach(.ended)
    log.say("step \(step): device \(device.number) is ended")
    device.stop()
    device.sleepsUntil = step + chance.number(below: 5)
  }

  func restartServer() throws {
    guard server.isRunning else { return }
    counts.add(.serverStopped)
    reachAll(.serverEnded)
    log.say("step \(step): the server is stopped")
    stopServer()
    try startServer()
  }

  func extend(_ device: SimulatedDevice) throws {
    guard device.isRunning, may(.extensionBeside) else { return }
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

  func changeRights() {
    let user = chance.happens(500) ? SimulatedUsers.names.first : SimulatedUsers.names.second
    let rights = Set(SimulatedBusiness.agencies.filter { _ in chance.happens(550) })
    if users.rights(of: user) != rights { counts.add(.rightsChanged) }
    users.set(user, rights)
    log.say("step \(step): \(user) may see \(rights.sorted())")
  }

  /// `stride`: days that pass without the server's looking; a day that it has not seen does not
  /// count.
  func skip(days: Int, stride: Int64 = 1) throws {
    // What the server has forgotten meanwhile is sent again, and completed with a later batch.
    if Int64(days) >= SimulatedServer.limits.operationMemoryDays {
      for device in devices { device.forgetBatches() }
    }
    for _ in 0..<(days / Int(stride)) {
      time.advance(milliseconds: stride * 86_400_000)
      counts.skippedMilliseconds += Int(stride) * 86_400_000
      counts.add(.dayPassed)
      try compact()
    }
    log.say("step \(step): \(days) days pass")
  }

  /// Longer than the server remembers operations and keeps leaves, or than any session lasts.
  func silence(_ device: SimulatedDevice, _ fault: SimulatedFault) throws {
    let (days, stride): (Int, Int64) = fault == .deviceSilent ? (14, 1) : (400, 25)
    guard device.isRunning, may(fault), mayPass(days: days / Int(stride)) else { return }
    counts.add(fault)
    log.say("step \(step): device \(device.number) is silent")
    device.stop()
    device.sleepsUntil = step + 20 + chance.number(below: 40)
    try skip(days: days, stride: stride)
  }

  func revokeTokens(of device: SimulatedDevice) throws {
    guard may(.tokensRevoked), server.isRunning else { return }
    try withServer { try self.server.service.revoke(user: device.user) }
    counts.add(.tokensRevoked)
  }

  /// Time goes on over open lines until the token of a request that is under way has ended.
  func endToken() throws {
    let underWay = transfers.filter { transfer in
      guard transfer.request.token != nil, !transfer.isHalfOpen, transfer.session != nil else {
        return false
      }
      return transfer.serverLife == nil || isAlive(transfer) && !transfer.isServerDone
    }
    guard server.isRunning, may(.tokenEnded), !underWay.isEmpty else { return }
    let transfer = chance.pick(underWay)
    let now = server.clock.now
    guard let token = transfer.request.token,
      let identity = try? server.service.accessTokens.verify(token, now: now)
    else { return }
    let milliseconds = identity.expires.milliseconds - now.milliseconds
    log.say("step \(step): time goes on until a token of device \(transfer.device.number) ends")
    try idle(seconds: Int(milliseconds / 1_000) + 1)
    if transfers.contains(where: { $0 === transfer }) { counts.add(.tokenEnded) }
  }

  func setClock(_ clock: SimulatedClock) {
    guard may(.clockWrong) else { return }
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
    if server.isRunning, !server.isReplayIdle { counts.add(.serverStalled) }
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

  func cutAllLines() throws {
    guard may(.outage) else { return }
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
