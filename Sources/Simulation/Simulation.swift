import Ferry
import FerryConnector
import FerryJSON
import FerryMemoryConnector
import FerryModel
import FerryServer
import FerryWire
import FerryWorld

/// One run of the whole circle from a seed: devices, network, server and business system, with
/// faults, and checkers that look after every step.
final class Simulation {
  let seed: UInt64
  let chance: SeededChance
  let clock = SimulatedClock()
  let log: TraceLog
  let world: World
  let business: MemoryBusiness
  let server: SimulatedServer
  var devices: [SimulatedDevice] = []
  private var transfers: [Transfer] = []
  private var oracle: Oracle
  private(set) var counts = SimulationCounts()
  private var hasFaults = true
  private var step = 0

  init(seed: UInt64, folder: String, planted: Set<PlantedBug>, isTracing: Bool) throws {
    self.seed = seed
    let chance = SeededChance(seed)
    self.chance = chance
    log = TraceLog(isPrinting: isTracing)
    world = World(
      clock: clock, chance: SeededChance(seed ^ 0xFE77), log: log, planted: planted)
    business = SimulatedBusiness.make()
    server = try SimulatedServer(
      folder: "\(folder)/server", business: business, world: world, chance: chance)
    oracle = try Oracle(folder: "\(folder)/server")
    let rights: [[Int64]] = [[1], [1, 2], [2]]
    for (number, agencies) in rights.enumerated() {
      let world = World(
        clock: clock, chance: SeededChance(seed ^ 0xDE71_CE00 ^ UInt64(number)),
        log: DeviceLog(number: number, trace: log), planted: planted)
      devices.append(
        try SimulatedDevice(
          number: number, user: "user\(number)", agencies: agencies,
          path: "\(folder)/device\(number).db", world: world))
    }
    setFaults()
  }

  private func setFaults() {
    let chance = self.chance
    business.setFault { call in
      guard chance.happens(call == .perform ? 60 : 20) else { return nil }
      switch call {
      case .perform: return chance.pick([.away, .timeoutBeforeCommit, .timeoutAfterCommit])
      default: return .away
      }
    }
  }

  /// Runs so many steps with faults, then without until nothing moves, then looks at the end.
  func run(steps: Int) throws {
    while step < steps {
      step += 1
      try takeStep()
      try look()
    }
    log.say("step \(step): quiet")
    hasFaults = false
    business.setFault(nil)
    try becomeQuiet()
    try oracle.checkEnd(self)
  }

  private func takeStep() throws {
    switch chance.number(below: 100) {
    case ..<18: try actAsApp(chance.pick(devices))
    case ..<40: try stepSession(chance.pick(devices))
    case ..<72: try stepNetwork()
    case ..<84: try server.stepReplay()
    case ..<88: try server.stepLoad()
    case ..<91: try server.stepReadBack()
    case ..<94: changeByOthers()
    case ..<98: clock.advance(milliseconds: chance.number(in: 10..<4_000))
    case ..<99: try restartDevice(chance.pick(devices))
    default: if chance.happens(400) { try restartServer() }
    }
  }

  private func look() throws {
    try oracle.observe(at: step)
    for device in devices { try oracle.check(device, at: step) }
    try oracle.checkEffects(business, at: step)
  }

  // The app.

  private func actAsApp(_ device: SimulatedDevice) throws {
    let entity = chance.pick(SimulatedBusiness.package.entities)
    let records = try device.records(entity)
    do throws(FerryError) {
      switch chance.number(below: 10) {
      case ..<2: try create(entity, device, records)
      case ..<6: try update(device, records)
      case ..<7: if !records.isEmpty { try delete(device, chance.pick(records)) }
      case ..<9: try submit(device, entity)
      default: try cancel(device, entity)
      }
    } catch {
      // What the store refuses is no change; what it fails at is no part of this world.
      guard error.code != .store else { throw error }
    }
  }

  private func create(_ entity: Entity, _ device: SimulatedDevice, _ records: [Record])
    throws(FerryError)
  {
    var record = Record(entity, store: device.store)
    switch entity.name {
    case "Customer":
      record.set(0, "N\(chance.number(below: 100_000))")
      record.set(1, "new")
    case "Order":
      record.set(1, chance.pick(device.agencies))
      record.set(2, chance.pick(["kiel", "ULM"]))
      record.set(3, Int64(chance.number(below: 11)))
    default:
      let orders = try device.store.records(SimulatedBusiness.order, "ORDER BY _id", [])
      guard !orders.isEmpty else { return }
      let order: Int64 = chance.pick(orders).get(0)
      record.set(0, order)
      record.set(1, Int64(chance.number(below: 1_000) + 10))
      record.set(2, "line")
    }
    guard try device.store.save(try record.change(.create)) != nil else { return }
    log.say("step \(step): device \(device.number) creates \(entity.name)")
  }

  private func update(_ device: SimulatedDevice, _ records: [Record]) throws(FerryError) {
    guard !records.isEmpty else { return }
    var record = chance.pick(records)
    switch record.entity.name {
    case "Customer": record.set(1, "name \(chance.number(below: 50))")
    case "Order":
      if chance.happens(500) {
        record.set(2, chance.pick(["Kiel", "ULM", "jena", "HOF"]))
      } else {
        record.set(3, Int64(chance.number(below: 12)))
      }
      if device.agencies.count > 1, chance.happens(150) {
        record.set(1, chance.pick(device.agencies))
      }
    default: record.set(2, "text \(chance.number(below: 50))")
    }
    _ = try device.store.save(try record.change(.update))
    log.say("step \(step): device \(device.number) updates \(record.entity.name) \(record.key)")
  }

  private func delete(_ device: SimulatedDevice, _ record: Record) throws(FerryError) {
    _ = try device.store.save(try record.change(.delete))
    log.say("step \(step): device \(device.number) deletes \(record.entity.name) \(record.key)")
  }

  private func submit(_ device: SimulatedDevice, _ entity: Entity) throws(FerryError) {
    try device.store.submitAll(entity)
    log.say("step \(step): device \(device.number) submits \(entity.name)")
  }

  private func cancel(_ device: SimulatedDevice, _ entity: Entity) throws(FerryError) {
    let pending = try device.store.records(entity, "WHERE _pending <> 'N' ORDER BY _id", [])
    guard !pending.isEmpty, let object = chance.pick(pending).object else { return }
    _ = try device.store.cancel(entity, object)
    counts.cancelled += 1
    log.say("step \(step): device \(device.number) cancels \(entity.name) object \(object)")
  }

  // The session and the network.

  private func stepSession(_ device: SimulatedDevice) throws {
    switch try device.session.next() {
    case .wait: break
    case .cancel(let lane): endTransfers(of: device, lane)
    case .send(let request):
      endTransfers(of: device, request.lane)
      transfers.append(
        Transfer(device: device.number, deviceLife: device.life, request: request))
      if hasFaults, chance.happens(60), request.path == "exchange" {
        counts.doubled += 1
        transfers.append(
          Transfer(
            device: device.number, deviceLife: device.life, request: request, isGhost: true))
      }
      log.say("step \(step): device \(device.number) sends \(request.path)")
    }
  }

  private func endTransfers(of device: SimulatedDevice, _ lane: SessionMachine.Lane) {
    transfers.removeAll { transfer in
      guard transfer.device == device.number, transfer.lane == lane, !transfer.isGhost else {
        return false
      }
      close(transfer)
      return true
    }
  }

  private func close(_ transfer: Transfer) {
    if let exchange = transfer.exchange, transfer.serverLife == server.life {
      server.service.close(exchange)
    }
    transfer.exchange = nil
  }

  private func stepNetwork() throws {
    guard !transfers.isEmpty else { return }
    let index = chance.number(below: transfers.count)
    let transfer = transfers[index]
    let device = devices[transfer.device]
    guard transfer.isGhost || transfer.deviceLife == device.life else {
      close(transfer)
      transfers.remove(at: index)
      return
    }
    if try progress(transfer, device) {
      close(transfer)
      transfers.removeAll { $0 === transfer }
    }
  }

  /// One thing happens to a transfer; true when it is over.
  private func progress(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    if hasFaults, chance.happens(25) {
      counts.lost += 1
      return try breakOff(transfer, device)
    }
    if transfer.request.path == "login" || transfer.request.path == "token" {
      try answerLogin(transfer, device)
      return true
    }
    guard transfer.exchange != nil || transfer.isServerDone else {
      arrive(transfer, device)
      return false
    }
    if transfer.serverLife != server.life, transfer.underWay.isEmpty, !transfer.isServerDone {
      return try breakOff(transfer, device)
    }
    if !transfer.underWay.isEmpty, chance.happens(700) { return try deliver(transfer, device) }
    return try answer(transfer, device)
  }

  private func arrive(_ transfer: Transfer, _ device: SimulatedDevice) {
    let identity = Identity(
      user: device.user, device: nil, claims: ["agency": device.agencies.map(String.init)],
      expires: clock.now.advanced(by: .seconds(900)))
    transfer.serverLife = server.life
    log.write(.trace, "a request arrives", [("device", "\(device.number)"), ("lane", "\(transfer.lane)")])
    transfer.exchange =
      transfer.lane == .channel
      ? server.service.channel(transfer.request.body, by: identity, until: identity.expires)
      : server.service.exchange(transfer.request.body, by: identity)
  }

  /// The server says something more.
  private func answer(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    guard let exchange = transfer.exchange, transfer.serverLife == server.life else {
      return try deliver(transfer, device)
    }
    switch exchange.next() {
    case .bytes(let bytes): if !transfer.isGhost { transfer.underWay += bytes }
    case .waiting:
      if transfer.isGhost { return true }
      if !hasFaults || chance.happens(30) { transfer.underWay += Exchange.beat }
    case .end:
      transfer.isServerDone = true
      transfer.exchange = nil
      if transfer.isGhost { return true }
      if transfer.underWay.isEmpty { return try finish(transfer, device) }
    }
    return false
  }

  /// Some of what is under way comes to the device.
  private func deliver(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    if !transfer.isHeadTold {
      transfer.isHeadTold = true
      device.session.received(status: 200, on: transfer.lane)
    }
    let count =
      chance.happens(700) ? transfer.underWay.count : chance.number(below: transfer.underWay.count + 1)
    let bytes = Array(transfer.underWay.prefix(count))
    transfer.underWay.removeFirst(count)
    do throws(FerryError) { try device.session.received(bytes, on: transfer.lane) } catch {
      guard error.code != .store else { throw error }
      return true
    }
    return transfer.isServerDone && transfer.underWay.isEmpty ? try finish(transfer, device) : false
  }

  private func finish(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    if !transfer.isHeadTold { device.session.received(status: 200, on: transfer.lane) }
    try device.session.ended(transfer.lane, nil)
    return true
  }

  private func breakOff(_ transfer: Transfer, _ device: SimulatedDevice) throws -> Bool {
    guard !transfer.isGhost else { return true }
    // A part of what was under way may still have come.
    if transfer.isHeadTold, !transfer.underWay.isEmpty {
      let part = Array(transfer.underWay.prefix(chance.number(below: transfer.underWay.count)))
      do throws(FerryError) { try device.session.received(part, on: transfer.lane) } catch {
        guard error.code != .store else { throw error }
        return true
      }
    }
    try device.session.ended(
      transfer.lane,
      FerryError(.offline, "the line broke", hint: "It is tried again.", isTransient: true))
    return true
  }

  private func answerLogin(_ transfer: Transfer, _ device: SimulatedDevice) throws {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("accessToken", "access")
    writer.field("refreshToken", "refresh")
    writer.field("expiresIn", 900)
    writer.field("user", device.user)
    writer.endObject()
    device.session.received(status: 200, on: transfer.lane)
    try device.session.received(writer.bytes, on: transfer.lane)
    try device.session.ended(transfer.lane, nil)
  }

  // The business system by itself, and accidents.

  private func changeByOthers() {
    let orders = business.rows(of: "Order").keys.sorted { $0.text < $1.text }
    guard !orders.isEmpty else { return }
    let key = chance.pick(orders)
    let choice = chance.number(below: 10)
    let number = Int64(chance.number(below: 9))
    business.changeByOther { transaction in
      guard var values = transaction.row("Order", key) else { return }
      switch choice {
      case ..<5: values[3] = .integer(number)
      case ..<8: values[1] = .integer(number % 2 + 1)
      default:
        for (line, row) in transaction.rows(of: "Line").sorted(by: { $0.key.text < $1.key.text })
        where row[0] == values[0] {
          transaction.write("Line", line, nil)
        }
        transaction.write("Order", key, nil)
        return
      }
      transaction.write("Order", key, values)
    }
    log.say("step \(step): others change Order \(key)")
  }

  private func restartDevice(_ device: SimulatedDevice) throws {
    let before = try device.state()
    try device.restart()
    counts.restarts += 1
    log.say("step \(step): device \(device.number) starts again")
    let after = try device.state()
    guard before == after else {
      throw SimulationFailure(
        invariant: 1, step: step,
        problem: "device \(device.number) holds something else after its restart")
    }
  }

  private func restartServer() throws {
    for transfer in transfers { transfer.exchange = nil }
    for transfer in transfers where transfer.serverLife == server.life { transfer.isServerDone = false }
    try server.restart()
    counts.restarts += 1
    log.say("step \(step): the server starts again")
  }

  // The end.

  private func becomeQuiet() throws {
    var still = 0
    for round in 0..<4_000 {
      let before = try fingerprint()
      clock.advance(milliseconds: round % 10 == 0 ? 2_000 : 60)
      for device in devices {
        if round % 40 == 0 { device.session.requestExchange() }
        try stepSession(device)
      }
      for _ in 0..<8 { try stepNetwork() }
      for _ in 0..<6 {
        try server.stepReplay()
        try server.stepLoad()
        try server.stepReadBack()
      }
      try look()
      still = try fingerprint() == before && server.isIdle ? still + 1 : 0
      if still > 120 { return }
    }
    throw SimulationFailure(
      invariant: 9, step: step, problem: "the world does not come to rest without faults")
  }

  private func fingerprint() throws -> String {
    var text = "\(try server.service.clock()) \(business.history.count)"
    for device in devices {
      text += " \(try device.checkpoint() ?? -1) \(try device.operations().map(\.state.rawValue))"
    }
    return text
  }

  /// What was counted, the refusals and what was told included.
  func finalCounts() -> SimulationCounts {
    var counts = counts
    counts.steps = step
    counts.commits = business.history.count
    counts.imports = devices.reduce(0) { $0 + $1.callbacks.count(of: "import") }
    counts.accepted = devices.reduce(0) { $0 + $1.callbacks.count(of: "success") }
    counts.refused = devices.reduce(0) { $0 + $1.callbacks.count(of: "failure") }
    return counts
  }

  var lastEvents: [String] { log.last }
}
