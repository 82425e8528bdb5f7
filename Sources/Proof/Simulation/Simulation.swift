import Ferry
import FerryMemoryConnector
import FerryModel
import FerrySQLite
import FerryServer
import FerryWorld

/// One run of the whole circle from a seed: devices, network, disks, server and business system,
/// with faults, and checkers that look after every step.
final class Simulation {
  let seed: UInt64
  let chance: SeededChance
  let time = SimulatedTime()
  let log: TraceLog
  let business: MemoryBusiness
  /// In place of a database; nil where the business is one.
  let service: SimulatedService?
  /// What it tells of its changes; nil where it does not.
  let notices: SimulatedNotices?
  let users: SimulatedUsers
  let server: SimulatedServer
  let oracle = Oracle()
  let ledger = Ledger()
  let planted: Set<PlantedBug>
  let isSealed: Bool
  /// Whether the business system knows an operation again.
  let remembers: Bool
  var devices: [SimulatedDevice] = []
  var transfers: [Transfer] = []
  let contents = MadeContents()
  private(set) var contentWatch: ContentWatch
  var backups = Backups()
  var register = RegisterWatch()
  /// What the server did wrong with a refresh token.
  var tokenFailure: String?
  /// Whether a device goes on from a state that is not its last, or a copy of one does.
  var isDeviceSetBack = false
  var turns: Turns
  var effects = EffectWatch()
  var counts = SimulationCounts()
  /// What the business system was made to do wrong.
  let struckCalls = StruckCalls()
  var hasFaults = true
  /// A content that was given to somebody who may not see its row.
  var leak: SimulationFailure?
  /// A session that was said to have all results of its batch too early.
  var early: SimulationFailure?
  /// All tokens of the time with faults have ended: from now on everybody has the rights that the
  /// operator gave last.
  var haveTokensEnded = false
  var step = 0
  /// Until this step the server is down.
  var serverSleepsUntil = 0
  /// A state of the business system to which it is set back.
  var businessBackup: MemoryBackup?
  var wantsSetBack = false
  let lateness: SeededChance
  /// When apps ask for what is new.
  let rhythm: SeededChance
  /// What only some seeds have.
  var extras: Extras
  /// What has been met least is done more often.
  let isGuided: Bool
  let guidance: SeededChance
  /// How often a guided run has tried each pair.
  var guided: [ReachedPair: Int] = [:]
  let package: Package
  private let folder: String
  /// What does not strike in this run.
  let without: Set<SimulatedFault>
  var onStep: (Int) -> Void = { _ in }

  init(seed: UInt64, folder: String, _ plan: SimulationPlan, trace: SimulationTrace) throws {
    self.seed = seed
    self.folder = folder
    planted = plan.planted
    isSealed = plan.isSealed
    without = plan.without
    turns = Turns(seed: seed)
    extras = Extras(seed: seed, plan.business)
    isGuided = plan.isGuided
    guidance = SeededChance(seed ^ 0x6D1D)
    package =
      extras.has(.parameters)
      ? SimulatedBusiness.packageByParameter(isFlawed: planted.contains(.claimUnasked))
      : extras.has(.windows) ? SimulatedBusiness.packageWithVisits : SimulatedBusiness.package
    let chance = SeededChance(seed)
    self.chance = chance
    lateness = SeededChance(seed ^ 0x1A7E)
    rhythm = SeededChance(seed ^ 0xA5C5)
    let log = TraceLog(trace, folder: folder)
    self.log = log
    let traits: SimulatedService.Traits? =
      switch plan.business {
      case .database: nil
      case .service: SimulatedService.Traits(seed: seed)
      case .rest: SimulatedService.Traits(restSeed: seed)
      }
    remembers = traits == nil && seed % 4 != 0
    contentWatch = ContentWatch(contents)
    business = SimulatedBusiness.make(
      package, remembers: remembers, isTransactional: traits?.hasChangeSets ?? (seed % 3 != 0),
      // In five of ten seeds in a row, each time in others.
      notesChanges: plan.business != .rest && (seed + seed / 10) % 2 == 0, contents: contents,
      planted: planted)
    users = SimulatedUsers(first: [1], second: [1, 2], areOfIssuer: seed % 4 == 1)
    let clock = SimulatedClock(time)
    if let traits {
      service = SimulatedService(
        business, traits, seed: seed, clock: clock,
        isFlawed: planted.contains(.idempotencyOtherBody))
    } else {
      service = nil
    }
    notices = plan.business == .rest ? SimulatedNotices(seed: seed) : nil
    server = SimulatedServer(
      folder: "\(folder)/server", package: package, business: business,
      service: service.map { ($0, plan.serviceFlaws) }, users: users,
      world: World(clock: clock, chance: SeededChance(seed ^ 0xFE77), log: log, planted: planted),
      clock: clock, chance: chance, ledger: ledger, planted: planted)
    try startServer()
    let names = SimulatedUsers.names
    try addDevice(
      user: names.first, isReplicationBased: seed % 16 == 15, durability: .machine,
      disk: SimulatedDisk())
    try addDevice(user: names.second, durability: .application, disk: SimulatedDisk())
    try addDevice(
      user: names.second, isReplicationBased: seed % 4 == 2 || extras.has(.batches),
      durability: .machine,
      disk: SimulatedDisk())
    setBusinessFaults()
  }

  /// Adds a device and starts it.
  @discardableResult
  func addDevice(
    user: String, isReplicationBased: Bool = false, durability: Durability, disk: SimulatedDisk,
    prepare: (SimulatedDevice) -> Void = { _ in }
  ) throws -> SimulatedDevice {
    let number = counts.devices
    counts.devices += 1
    let clock = SimulatedClock(time)
    let deviceLog = DeviceLog(number: number, trace: log)
    let world = World(
      clock: clock, chance: SeededChance(seed ^ 0xDE71_CE00 &+ UInt64(number) &* 0x9E37),
      log: deviceLog, planted: planted)
    let device = SimulatedDevice(
      number: number, user: user, isReplicationBased: isReplicationBased, durability: durability,
      disk: disk,
      key: isSealed ? try DatabaseKey(bytes: [UInt8](repeating: 7, count: 32)) : nil,
      model: package,
      world: world, clock: clock, log: deviceLog)
    prepare(device)
    devices.append(device)
    try start(device)
    return device
  }

  /// Runs so many steps with faults, then without until nothing moves, then looks at the end.
  func run(steps: Int) throws {
    do {
      try look()
      while step < steps {
        step += 1
        onStep(step)
        time.advance(milliseconds: chance.number(in: 2..<80))
        endClones()
        endLate()
        service?.step()
        try takeNotices()
        try troubleNotes()
        try takeOver()
        try takeTurns()
        try keepRegister()
        try askForNews()
        try takeExtras()
        try takeGuided()
        try takeStep()
        try settleTroubles()
        try look()
        for _ in 0..<2 {
          try goOn()
          try settleTroubles()
          try look()
        }
      }
      try becomeQuiet()
      try checkEnd()
    } catch var failure as SimulationFailure {
      failure.step = step
      throw failure
    }
  }

  /// Ends all that runs.
  func end() {
    stopServer()
    for device in devices { device.stop() }
    transfers = []
  }

  /// Whether this fault may strike in this run: where it may not, all chances stay as they are.
  func may(_ fault: SimulatedFault) -> Bool { !without.contains(fault) }

  private func takeStep() throws {
    switch chance.number(below: 1_000) {
    case ..<300: try actAsApp(chance.pick(devices))
    case ..<850: try goOn()
    case ..<910: changeByOthers()
    case ..<950: try idle(seconds: chance.number(below: 60) + 5)
    default: try accident()
    }
  }

  /// What is under way goes on somewhere.
  private func goOn() throws {
    // The server looks for changes at once where somebody waits for that.
    if transfers.contains(where: { $0.asked != nil && $0.isWaiting }), chance.happens(300) {
      return try withServer {
        if self.chance.happens(500) {
          try self.server.stepLoad()
        } else {
          try self.server.stepReadBack()
        }
      }
    }
    switch chance.number(below: 100) {
    case ..<27: try stepSession(chance.pick(devices))
    case ..<73: try stepNetwork()
    case ..<86: try withServer { try self.server.stepReplay() }
    case ..<96: try withServer { try self.server.stepLoad() }
    default: try withServer { try self.server.stepReadBack() }
    }
  }

  func look() throws {
    if let leak { throw leak }
    if let early { throw early }
    if let wrong = service?.wrong { throw wrong }
    if server.isRunning { try oracle.observe(business, server: server) }
    for device in devices where device.isRunning {
      guard device.watch.cause != nil || device.watch.isUnseen(life: device.life) else { continue }
      try device.watch.look(device, oracle, ledger, contentWatch)
      try checkUnknowns(device)
    }
    try contentWatch.check(business)
    try effects.check(oracle, ledger, isTransactional: performsWhole)
  }

  /// Whether each group of operations is one transaction.
  var performsWhole: Bool { service == nil && business.isTransactional }

  /// What was counted, and what the app was told.
  func finalCounts() -> SimulationCounts {
    var counts = counts
    counts.steps = step
    counts.simulatedMilliseconds = Int(time.milliseconds) - counts.skippedMilliseconds
    counts.commits = business.history.count
    counts.imports = devices.reduce(counts.imports) { $0 + $1.recorder.imports }
    counts.accepted = devices.reduce(counts.accepted) { $0 + $1.recorder.count(of: .success) }
    counts.refused = devices.reduce(counts.refused) { $0 + $1.recorder.count(of: .failure) }
    counts.unknown = devices.reduce(counts.unknown) { $0 + $1.recorder.count(of: .unknown) }
    for device in devices { counts.reach.merge(device.watch.reach, uniquingKeysWith: +) }
    counts.faults[.group] = server.replayCounts.groups
    counts.faults[.refusedInGroup] = server.replayCounts.refusedGroups
    counts.faults[.answeredTogether] = server.replayCounts.answeredTogether
    counts.faults[.loadTorn] = server.tornLoads
    for (fault, count) in struckCalls.counts { counts.faults[fault] = count }
    counts.faults[.loadTruncated] = server.truncatedLoads
    return counts
  }

  var lastEvents: [String] { log.last }
  var digest: UInt64 { log.digest }
}
