import Ferry
import FerryFaultVFS
import FerryServer
import FerryWorld

/// Processes and machines that end and start again, and disks that fail.
extension Simulation {
  func withServer(_ body: () throws -> Void) throws {
    guard server.isRunning else { return }
    do { try body() } catch let error as ServerError {
      guard server.disk.begun != nil else { throw error }
      log.say("step \(step): the server fails: \(error.message)")
    }
  }

  /// What was planned for the disks has its consequences.
  func settleTroubles() throws {
    count(server.disk)
    if case .crash(let crash)? = server.disk.begun { try crashServer(crash) }
    if server.disk.begun != nil, server.disk.isOver { server.disk.end() }
    endFull(server.disk) {
      log.say("step \(step): the server ends on a full disk")
      stopServer()
      serverSleepsUntil = step + chance.number(below: 4)
    }
    for device in devices {
      count(device.disk)
      if case .crash(let crash)? = device.disk.begun { crashDevice(device, crash) }
      endFull(device.disk) {
        log.say("step \(step): device \(device.number) ends on a full disk")
        device.stop()
        device.sleepsUntil = step + chance.number(below: 4)
      }
      if device.disk.begun != nil, device.disk.isOver { device.disk.end() }
      if !device.isRunning, step >= device.sleepsUntil { try start(device) }
    }
    if !server.isRunning, step >= serverSleepsUntil { try startServer() }
  }

  private func count(_ disk: SimulatedDisk) {
    if let fault = disk.takeStruck() { counts.add(fault) }
  }

  /// A disk that is full ends its process, stays full while that starts again, and has room later.
  private func endFull(_ disk: SimulatedDisk, _ stop: () -> Void) {
    guard disk.isFullOverRestart else { return }
    if let from = disk.hasRoomFrom {
      if step >= from { disk.end() }
    } else {
      disk.hasRoomFrom = step + 8 + chance.number(below: 25)
      stop()
    }
  }

  /// Starts a device whatever its disk does on the way; where that stays full it is tried again
  /// later.
  func start(_ device: SimulatedDevice) throws {
    if let wipe = device.wipe {
      return try destroy(device, wipe, Owner(device: wipe.device, user: device.user))
    }
    if device.life > 0 { counts.restarts += 1 }
    for _ in 0..<50 {
      do throws(FerryError) {
        try device.start()
        if device.disk.takeFullStart() { counts.add(.fullOverRestart) }
        log.say("step \(step): device \(device.number) starts")
        return
      } catch {
        guard let trouble = device.disk.begun else { throw error }
        log.say("step \(step): device \(device.number) cannot start: \(error.message)")
        device.stop()
        count(device.disk)
        switch trouble {
        case .crash(let crash): crashDevice(device, crash)
        case .fullOverRestart:
          if device.disk.takeFullStart() { counts.add(.fullOverRestart) }
          device.sleepsUntil = step + 1 + chance.number(below: 4)
          return
        case .full, .broken: device.disk.end()
        }
      }
    }
    throw SimulationFailure(invariant: 1, problem: "device \(device.number) does not start")
  }

  private func crashDevice(_ device: SimulatedDevice, _ planned: FaultDisk.Crash) {
    // What was told to be saved survives the machine only where that was asked for.
    let isKept = device.durability == .machine
    let crash = isKept || maySetBack ? planned : .kill
    let isSetBack = crash != .kill && !isKept
    counts.crashes += 1
    device.watch.reach(.died)
    counts.add(crash == .kill ? .deviceKilled : .devicePowerCut)
    log.say("step \(step): device \(device.number) dies (\(crash))")
    device.disk.crash(crash, seed: chance.next())
    device.stop()
    if isSetBack {
      device.watch.forget()
      device.forgetBatches()
      isDeviceSetBack = true
    }
    device.sleepsUntil = step + chance.number(below: 12)
  }

  func startServer() throws {
    if server.life > 0 { counts.restarts += 1 }
    guard try bringServerUp() else { return }
    try oracle.attach(server)
    log.say("step \(step): the server starts, era \(server.service.era.prefix(8))")
  }

  /// Starts the server whatever its disk does on the way; false where that stays full.
  private func bringServerUp() throws -> Bool {
    for _ in 0..<50 {
      do throws(ServerError) {
        try server.start()
        if server.disk.takeFullStart() { counts.add(.fullOverRestart) }
        server.service.listen { [unowned self] event in
          guard case .stirred(let id) = event else { return }
          for transfer in transfers where transfer.exchange?.id == id {
            transfer.isWaiting = false
          }
        }
        return true
      } catch {
        guard let trouble = server.disk.begun else { throw error }
        log.say("step \(step): the server cannot start: \(error.message)")
        stopServer()
        count(server.disk)
        switch trouble {
        case .crash(let crash): server.disk.crash(crash, seed: chance.next())
        case .fullOverRestart:
          if server.disk.takeFullStart() { counts.add(.fullOverRestart) }
          serverSleepsUntil = step + 1 + chance.number(below: 4)
          return false
        case .full, .broken: server.disk.end()
        }
      }
    }
    throw SimulationFailure(invariant: 1, problem: "the server does not start")
  }

  func stopServer() {
    for transfer in transfers { transfer.exchange = nil }
    oracle.detach()
    server.stop()
  }

  private func crashServer(_ crash: FaultDisk.Crash) throws {
    counts.crashes += 1
    reachAll(.serverDied)
    counts.add(crash == .kill ? .serverKilled : .serverPowerCut)
    log.say("step \(step): the server dies (\(crash))")
    server.disk.crash(crash, seed: chance.next())
    stopServer()
    serverSleepsUntil = step + chance.number(below: 15)
  }
}
