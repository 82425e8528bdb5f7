import Ferry
import FerryServer
import FerryWire
import FerryWorld

/// What an operator decides about a device, and what the device makes of it.
extension Simulation {
  /// The device as the server's register has it; nil: it is not there, or there is a decision.
  private func registered(_ device: SimulatedDevice) throws -> Owner? {
    guard device.isRunning, device.endsAt == nil, server.isRunning,
      let id = try device.setting(.device)
    else { return nil }
    let owner = Owner(device: id, user: device.user)
    var found: Owner?
    try withServer {
      let known = try self.server.service.devices().first { $0.owner == owner }
      if known?.state == .active { found = owner }
    }
    return found
  }

  private func decide(
    _ verb: DeviceVerb, _ owner: Owner, withPending: Bool = false
  ) throws -> Bool {
    guard server.isRunning else { return false }
    do throws(ServerError) {
      _ = try server.service.decide(verb, owner, reason: "lost", withPending: withPending)
      return true
    } catch {
      // The register does not have it any more, or it has reported changes that were not sent.
      guard error.code != .badRequest else { return false }
      guard server.disk.begun != nil else { throw error }
      log.say("step \(step): the server fails: \(error.message)")
      return false
    }
  }

  /// Locks a device for a while.
  func lock(_ device: SimulatedDevice) throws {
    guard may(.deviceLocked), register.locked.isEmpty, let owner = try registered(device),
      try decide(.lock, owner)
    else { return }
    counts.add(.deviceLocked)
    register.lock(owner, until: step + 30 + turns.chance.number(below: 60))
    log.say("step \(step): device \(device.number) is locked")
  }

  /// Orders a device to destroy its data. False where nothing was ordered.
  func orderWipe(of device: SimulatedDevice) throws -> Bool {
    guard may(.deviceWiped), !register.hasOrders else { return true }
    let withPending = turns.chance.happens(500)
    guard maySetBack, let owner = try registered(device),
      try decide(.wipe, owner, withPending: withPending)
    else { return false }
    register.order(owner)
    log.say(
      "step \(step): device \(device.number) is to destroy its data"
        + (withPending ? ", changes included" : ""))
    return true
  }

  /// Decisions end when their time has come, and receipts are sent until a server has them.
  func keepRegister() throws {
    guard !register.isEmpty || !register.owed.isEmpty else { return }
    for (owner, end) in register.locked where step >= end || !hasFaults {
      guard try decide(.unlock, owner) else { continue }
      register.unlock(owner)
      log.say("step \(step): \(owner.device.text) is unlocked")
    }
    register.owed = try register.owed.filter { try !sendReceipt($0.wipe, $0.owner) }
    try withServer { try self.register.check(self.server.service.devices()) }
  }

  /// True once a server has answered.
  private func sendReceipt(_ wipe: Wipe, _ owner: Owner) throws -> Bool {
    if hasFaults, turns.chance.happens(500) { return false }
    guard try take(.wiped, of: wipe, from: owner) else { return false }
    log.say("step \(step): \(owner.device.text) has sent the receipt of its wipe")
    // The answer may be lost, and then the receipt is sent again.
    return !hasFaults || turns.chance.happens(500)
  }

  /// False where the server does not answer.
  private func take(_ receipt: WipeReceipt, of wipe: Wipe, from owner: Owner) throws -> Bool {
    guard server.isRunning else { return false }
    do throws(ServerError) {
      try server.service.take(receipt, wipe.receipt, from: owner)
      if receipt == .wiped { register.give(owner) }
      return true
    } catch {
      // The order was taken back, or a restored server does not know it.
      if error.code == .badRequest { return true }
      guard server.disk.begun != nil else { throw error }
      return false
    }
  }

  /// Does what the order says, as the runner of a session does.
  func obey(_ order: WipeOrder, _ session: Session, _ device: SimulatedDevice) throws {
    let owner = Owner(device: order.device, user: device.user)
    let (wipe, pending) = try session.accept(order)
    guard pending == 0 || order.withPending else {
      log.say("step \(step): device \(device.number) keeps its data: \(pending) changes")
      guard try take(.refused(pending: pending), of: wipe, from: owner) else { return }
      // The operator gives up, or wants it all the same.
      if turns.chance.happens(500) {
        _ = try decide(.wipe, owner, withPending: true)
      } else if try decide(.unlock, owner) {
        register.take(back: owner)
      }
      return
    }
    device.wipe = wipe
    if turns.chance.happens(300) {
      log.say("step \(step): device \(device.number) dies with the mark of its wipe")
      device.stop()
      device.sleepsUntil = step + 1 + turns.chance.number(below: 10)
    } else {
      try destroy(device, wipe, owner)
    }
  }

  /// The device loses all that it has; somebody gets a new one.
  func destroy(_ device: SimulatedDevice, _ wipe: Wipe, _ owner: Owner) throws {
    counts.add(.deviceWiped)
    isDeviceSetBack = true
    log.say("step \(step): device \(device.number) destroys its data")
    register.destroy(wipe, owner)
    throwAway(device)
    try addDevice(
      user: device.user, isReplicationBased: device.isReplicationBased,
      durability: device.durability, disk: SimulatedDisk())
  }

  /// The operator takes back every decision that is not done.
  func endDecisions() throws {
    for device in try server.service.devices() {
      switch device.state {
      case .locked, .wiping:
        guard try decide(.unlock, device.owner) else { continue }
        register.unlock(device.owner)
        register.take(back: device.owner)
      case .wiped:
        // A copy of it goes on as a device of its own.
        guard try devices.contains(where: { try $0.setting(.device) == device.device }),
          try decide(.forget, device.owner)
        else { continue }
        register.take(back: device.owner)
      case .active, .activating: continue
      }
    }
  }
}
