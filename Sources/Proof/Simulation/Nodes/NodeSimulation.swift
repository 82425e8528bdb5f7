import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerrySQLiteStore
import FerryServer
import FerryWire
import FerryWorld

/// One run of several nodes on one store, from a seed: the lease moves, leaders are stopped and go
/// on, lines break, answers to commits are lost, and devices take any node for their server.
final class NodeSimulation {
  let log: TraceLog
  private let time = SimulatedTime()
  private let chance: SeededChance
  private let business: MemoryBusiness
  private let contents = MadeContents()
  private let shared: SharedStore
  private let nodes: [SimulatedNode]
  private let devices: [NodeDevice]
  private var watch = NodeWatch()
  private(set) var counts = SimulationCounts()
  private(set) var step = 0
  private var hasFaults = true
  var onStep: (Int) -> Void = { _ in }

  init(seed: UInt64, folder: String, _ plan: SimulationPlan, trace: SimulationTrace) throws {
    let chance = SeededChance(seed)
    self.chance = chance
    let log = TraceLog(trace, folder: folder)
    self.log = log
    let business = SimulatedBusiness.make(
      SimulatedBusiness.package,
      remembers: true, isTransactional: true, notesChanges: false, contents: contents,
      planted: plan.planted)
    self.business = business
    let clock = SimulatedClock(time)
    let world = World(
      clock: clock, chance: SeededChance(seed ^ 0x4E0D), log: log,
      planted: plan.planted.intersection([.nodeBehind]))
    let file = try SQLiteFile(folder: "\(folder)/store", world: world, synchronous: .normal)
    let shared = try SharedStore(
      file, SimulatedBusiness.package.served, planted: plan.planted, time)
    self.shared = shared
    nodes = (0..<plan.nodes).map { SimulatedNode($0, shared, business, world, chance) }
    devices = [
      NodeDevice(name: "phone", user: "anna", agencies: [1]),
      NodeDevice(name: "tablet", user: "ben", agencies: [1, 2]),
      NodeDevice(name: "watch", user: "ben", agencies: [1, 2]),
    ]
    try nodes[0].serve(term: 1)
    for node in nodes.dropFirst() { try node.serve(term: nil) }
    setBusinessFaults()
  }

  private func setBusinessFaults() {
    let chance = self.chance
    let struck = struckCalls
    business.setFault { call in
      guard call == .perform, chance.happens(150) else { return nil }
      let fault: MemoryFault = chance.pick([.commitsLater, .timeoutAfterCommit, .away])
      struck.add(fault)
      return fault
    }
  }

  private let struckCalls = StruckCalls()

  /// Runs so many steps with faults, then without until nothing moves, then looks at the end.
  func run(steps: Int) throws {
    do {
      while step < steps {
        step += 1
        onStep(step)
        time.advance(milliseconds: chance.number(in: 20..<180))
        try act()
        for _ in 0..<8 { try work() }
        try look()
      }
      try comeToRest()
    } catch var failure as SimulationFailure {
      failure.step = step
      throw failure
    } catch let error as ServerError where error.code == .damagedStore {
      var failure = SimulationFailure(
        invariant: 2, problem: "an answered operation is to be performed again: \(error.message)")
      failure.step = step
      throw failure
    }
  }

  func end() { for node in nodes { node.end() } }

  private var now: Int64 { time.milliseconds }

  private func act() throws {
    switch chance.number(below: 1_000) {
    case ..<250: try change(chance.pick(devices))
    case ..<550: try exchange(chance.pick(devices), with: chance.pick(nodes))
    case ..<750: changeByOthers()
    case ..<800: _ = business.performLate()
    case ..<820: accident(chance.pick(nodes))
    case ..<880: stopLeader()
    default: break
    }
  }

  private func work() throws {
    let node = chance.pick(nodes)
    guard !node.isAway(at: now) else { return }
    if node.isBeatDue(at: now), chance.happens(200) {
      try node.beat(at: now)
    } else {
      try node.step(at: now)
    }
  }

  /// Between two steps of its work, for longer than its lease.
  private func stopLeader() {
    guard let leader = nodes.first(where: { $0.isReplaying && !$0.isAway(at: now) }) else { return }
    leader.pausedUntil = now + SharedStore.lease + chance.number(in: 500..<5_000)
    log.say("step \(step): node \(leader.number) is stopped while it replays")
    counts.add(.serverStalled)
  }

  private func accident(_ node: SimulatedNode) {
    let until = now + chance.number(in: 500..<8_000)
    switch chance.number(below: 5) {
    case 0, 1:
      node.pausedUntil = until
      log.say("step \(step): node \(node.number) is stopped")
      counts.add(.serverStalled)
    case 2:
      node.end()
      node.downUntil = until
      log.say("step \(step): node \(node.number) is killed")
      counts.add(.serverKilled)
    case 3:
      node.cutOffUntil = until
      log.say("step \(step): node \(node.number) is cut off")
      counts.add(.outage)
    default:
      shared.losesAnswer = true
      log.say("step \(step): the answer to a commit is lost")
      counts.add(.responseCut)
    }
  }

  /// Others give an order one of two numbers of seats: what was refused may soon be accepted.
  private func changeByOthers() {
    let key = ObjectKey([.integer(Int64(1 + chance.number(below: 6)))])
    let seats = Int64(1 + chance.number(below: 2))
    counts.add(.changedByOthers)
    business.changeByOther { transaction in
      guard var values = transaction.row("Order", key) else { return }
      values[3] = .integer(seats)
      transaction.write("Order", key, values)
    }
    log.say("step \(step): others give Order \(key) \(seats) seats")
  }

  /// The app changes an order that it shows, or makes a customer.
  private func change(_ device: NodeDevice) throws {
    guard device.changes.count < 3 else { return }
    let digits = String(chance.next() | 1 << 63, radix: 16)
    guard let id = OperationID(String(repeating: "0", count: 32 - digits.count) + digits) else {
      preconditionFailure("\(digits) is no id")
    }
    let orders = device.rows.filter { $0.key.entity == "Order" && !device.isChanging($0.key) }
      .sorted { $0.key.key.text < $1.key.key.text }
    guard !orders.isEmpty else { return }
    let (name, row) = chance.pick(orders)
    let seats = AttributeValue.integer(Int64(1 + chance.number(below: 10)))
    let operation = Operation(
      id: id, chain: id, entity: "Order", kind: .update, key: name.key, changed: [3: seats],
      base: [3: row.values[3]])
    device.add(
      NodeDevice.Change(id: id, bytes: operation.encoded(for: SimulatedBusiness.order), row: name))
    log.say("step \(step): \(device.name) gives \(name) \(seats.shown) seats")
  }

  /// A whole request, whose answer may be lost.
  private func exchange(_ device: NodeDevice, with node: SimulatedNode) throws {
    guard !node.isAway(at: now), let messages = node.answer(device.request(), of: device, at: now)
    else {
      return
    }
    try observe()
    guard !hasFaults || !chance.happens(150) else { return }
    for message in messages {
      guard let checkpoint = try device.take(message) else { continue }
      log.say(
        "step \(step): \(device.name) has \(checkpoint.version) of \(checkpoint.group) from node "
          + "\(node.number)")
      counts.imports += 1
      counts.accepted += checkpoint.answers.count { $0.outcome == .replayResult }
      counts.refused += checkpoint.answers.count { $0.outcome == .replayFailed }
      try watch.check(device, checkpoint, now: now)
    }
  }

  private func observe() throws { try watch.observe(business, shared, now: now) }

  private func look() throws {
    try observe()
    try watch.checkAnswers(devices)
  }

  private func comeToRest() throws {
    log.say("step \(step): quiet")
    hasFaults = false
    shared.losesAnswer = false
    business.setFault(nil)
    for node in nodes { (node.pausedUntil, node.downUntil, node.cutOffUntil) = (0, 0, 0) }
    var calm = 0
    for _ in 0..<2_000 {
      business.performLate()
      time.advance(milliseconds: 500)
      for node in nodes {
        try node.beat(at: now)
        for _ in 0..<30 { try node.step(at: now) }
      }
      for device in devices {
        for node in nodes { try exchange(device, with: node) }
      }
      try look()
      let isCalm = nodes.allSatisfy(\.isIdle) && devices.allSatisfy(\.changes.isEmpty)
      calm = isCalm ? calm + 1 : 0
      if calm > 8 { return try watch.checkEnd(business) }
    }
    throw SimulationFailure(
      invariant: 9, problem: "the nodes do not become quiet without faults")
  }

  /// What was counted.
  func finalCounts() -> SimulationCounts {
    var counts = counts
    counts.steps = step
    counts.simulatedMilliseconds = Int(now)
    counts.commits = business.history.count
    for (fault, count) in struckCalls.counts { counts.faults[fault] = count }
    return counts
  }
}
