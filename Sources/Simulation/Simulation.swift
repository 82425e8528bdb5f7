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
  var transfers: [Transfer] = []
  private var oracle: Oracle
  var counts = SimulationCounts()
  var hasFaults = true
  var step = 0

  init(
    seed: UInt64, folder: String, planted: Set<PlantedBug>, isSealed: Bool, isTracing: Bool
  ) throws {
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
          path: "\(folder)/device\(number).db",
          key: isSealed ? try DatabaseKey(bytes: world.chance.bytes(32)) : nil, world: world))
    }
    setFaults()
  }

  func setFaults() {
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

  func takeStep() throws {
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

  func look() throws {
    try oracle.observe(at: step)
    for device in devices { try oracle.check(device, at: step) }
    try oracle.checkEffects(business, at: step)
  }

  // The business system by itself, and accidents.

  func changeByOthers() {
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

  func restartDevice(_ device: SimulatedDevice) throws {
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

  func restartServer() throws {
    for transfer in transfers { transfer.exchange = nil }
    for transfer in transfers where transfer.serverLife == server.life {
      transfer.isServerDone = false
    }
    try server.restart()
    counts.restarts += 1
    log.say("step \(step): the server starts again")
  }

  // The end.

  func becomeQuiet() throws {
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

  func fingerprint() throws -> String {
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
