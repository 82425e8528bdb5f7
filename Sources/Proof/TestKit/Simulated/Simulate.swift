public import Ferry
public import FerryMemoryConnector
public import FerryModel

/// Runs an app's own actions on devices and a server in memory, with the faults that the seed draws,
/// and checks its invariants.
///
/// ```swift
/// @Test(.simulated(seeds: 1...50)) func everyVisitArrivesOnce() async throws {
///   try await simulate(Business.package, devices: 2) { app in
///     app.action("add a visit") { device in
///       let visit = Visit(place: "Bonn \(device.random.next())", in: device.database)
///       try await visit.save()
///       device.note(visit.place)
///     }
///     app.finalInvariant("every saved visit arrives once") { run in … }
///   }
/// }
/// ```
/// Each step is one action, one synchronization, or one fault; a fault may also meet a step from
/// inside, and then ends its network until the next step. Steps run one after the other. The seed
/// alone draws them: the same seed gives the same steps, as long as the app's own code is not
/// concurrent. Actions wait in real time, as for `outcome(of:within:)`: give them short limits.
///
/// After each step the invariants are checked, and two promises of Ferry: no change is performed
/// twice, and every saved change is pending on its device until it is accepted, refused or cancelled.
/// At the end faults stop, everything is sent and answered, and all devices fetch. Then every device
/// must show what the business system has, and the final invariants are checked.
///
/// Throws `SimulatedFailure`, or what an invariant or action throws, and `wrongState` outside of a
/// simulated test.
public func simulate(
  _ package: Package, devices: Int = 2, steps: Int = 40, faults: SimulatedFaults = .all,
  settings: SessionSettings = SessionSettings(), operations: [String: MemoryOperation] = [:],
  _ declare: (SimulatedApp) throws -> Void
) async throws {
  guard let seed = SimulatedSeed.current else {
    throw FerryError(
      .wrongState, "simulate was called without a seed",
      hint: "Write @Test(.simulated(seeds: 1...50)) with FerryTesting, or use SimulatedSeeds.")
  }
  precondition(devices > 0 && steps > 0, "a simulated test needs devices and steps")
  let app = SimulatedApp()
  try declare(app)
  if app.users.isEmpty { for _ in 0..<devices { app.device(user: "user") } }
  let server = try await TestServer(package, operations: operations)
  do {
    for setUp in app.setUps { try await setUp(server) }
    var driver = try await SimulatedDriver(app, server, seed, faults, settings)
    try await driver.run(steps: steps)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}

/// Draws the steps of a simulated test and takes them.
struct SimulatedDriver {
  let seed: SimulatedSeed
  let chance: SimulatedRandom
  let server: TestServer
  let business: SimulatedBusiness
  let devices: [SimulatedDevice]
  let faults: SimulatedFaults
  private let actions: [SimulatedApp.Action]
  private let invariants: [SimulatedApp.Invariant]
  private let starts: [@Sendable (SimulatedDevice) async throws -> Void]
  private let run: SimulatedRun
  private var promises = FerryPromises()
  private var step = 0

  init(
    _ app: SimulatedApp, _ server: TestServer, _ seed: SimulatedSeed, _ faults: SimulatedFaults,
    _ settings: SessionSettings
  ) async throws {
    self.seed = seed
    self.server = server
    self.faults = faults
    chance = SimulatedRandom(seed.number, step: 1 << 20)
    business = SimulatedBusiness(server)
    actions = app.actions.flatMap { Array(repeating: $0, count: $0.weight) }
    invariants = app.invariants
    starts = app.starts
    let ledger = SimulatedLedger()
    var devices: [SimulatedDevice] = []
    for (index, user) in app.users.enumerated() {
      devices.append(
        try await SimulatedDevice(
          index + 1, user, on: server, settings: settings, seed: seed.number, ledger: ledger))
    }
    self.devices = devices
    run = SimulatedRun(server: server, devices: devices, ledger: ledger)
    for device in devices { try await start(device) }
  }

  mutating func run(steps: Int) async throws {
    for _ in 0..<steps {
      step += 1
      let (line, device) = try await takeStep()
      seed.note(step: line)
      try await check(appRan: device)
    }
    try await end()
  }

  /// Returns what happened, and the device on which the app's code ran.
  private func takeStep() async throws -> (line: String, device: Int?) {
    let device = chance.element(of: devices)
    let roll = chance.number(in: 1...100)
    if roll > 80, let line = try await accident(device) { return (line, device.number) }
    let action = actions.isEmpty || roll <= 25 ? nil : chance.element(of: actions)
    return (try await act(device, action), device.number)
  }

  /// An action of the app, or a synchronization for nil, with what meets it.
  private func act(
    _ device: SimulatedDevice, _ action: SimulatedApp.Action?
  ) async throws -> String {
    let (fault, saves) = drawInnerFault(isAction: action != nil)
    device.set(random: SimulatedRandom(seed.number, step: step))
    device.network.begin(fault)
    device.process.begin(after: saves)
    var failure: (any Error)?
    var login = ""
    do {
      if let action {
        try await action.run(device)
      } else if try await device.synchronize(within: SimulatedDevice.patience) {
        login = "; the session had ended, it logs in again"
      }
    } catch { failure = error }
    await device.becomeQuiet()
    var happened = device.network.end()
    if let killed = device.process.end() { happened.append(killed) }
    if device.process.isDead { try await restart(device) }
    await server.becomeQuiet()
    var line = "\(device) \(action.map { "does \"\($0.name)\"" } ?? "synchronizes")"
    if !device.isOnline { line += " without a network" }
    line += login + happened.map { "; \($0)" }.joined()
    if let failure {
      line += "; it throws \(SimulatedDriver.short(failure))"
      let isExpected =
        !happened.isEmpty || !device.isOnline || (failure as? FerryError)?.isTransient == true
        || (failure as? FerryError)?.code == .notLoggedIn
      guard isExpected else {
        seed.note(step: line)
        throw failure
      }
    }
    return line
  }

  private static func short(_ error: any Error) -> String {
    (error as? FerryError)?.code.rawValue ?? "\(error)"
  }

  private func drawInnerFault(
    isAction: Bool
  ) -> (request: (before: Int, fault: SimulatedNetwork.Fault)?, saves: Int?) {
    // All are drawn each time, so that what is left out moves nothing else.
    let (isFaulty, kind) = (chance.number(in: 1...100) <= 40, chance.number(in: 0...5))
    let (before, arrived) = (chance.number(in: 0...1), chance.once(in: 2))
    let (bytes, saves) = (chance.number(in: 0...1_500), chance.number(in: 0...2))
    guard isFaulty else { return (nil, nil) }
    switch kind {
    case 0 where faults.contains(.lostRequests): return ((before, .lost), nil)
    case 1 where faults.contains(.lostAnswers): return ((before, .answerLost), nil)
    case 2 where faults.contains(.cuts): return ((before, .cut(bytes)), nil)
    case 3 where faults.contains(.kills) && isAction: return (nil, saves)
    case 4 where faults.contains(.kills): return ((before, .killed(arrived: arrived)), nil)
    case 5 where faults.contains(.serverRestarts):
      return ((before, .serverRestarts(arrived: arrived)), nil)
    default: return (nil, nil)
    }
  }

  /// A step that is nothing but a fault; nil where this kind is left out.
  private func accident(_ device: SimulatedDevice) async throws -> String? {
    let (kind, amount) = (chance.number(in: 0...5), chance.number(in: 1...10))
    switch kind {
    case 0 where faults.contains(.kills):
      try await restart(device)
      return "\(device) is killed and starts again"
    case 1 where faults.contains(.serverRestarts):
      try await server.restart()
      return "the server restarts"
    case 2 where faults.contains(.refusals):
      business.refuseNext()
      return "the business system will refuse the next change"
    case 3 where faults.contains(.unknownOutcomes):
      let isPerformed = amount > 5
      business.breakNext(isPerformed: isPerformed)
      return "the connection to the business system will break during the next change, "
        + "\(isPerformed ? "after" : "before") it is performed"
    case 4 where faults.contains(.time):
      let isDays = amount > 5
      await server.advance(by: isDays ? .seconds(amount * 86_400) : .seconds(amount * 600))
      return isDays ? "\(amount) days pass" : "\(amount * 10) minutes pass"
    case 5 where faults.contains(.offline):
      device.set(isOffline: device.isOnline)
      return "\(device) \(device.isOnline ? "has a network again" : "has no network")"
    default: return nil
    }
  }

  private func restart(_ device: SimulatedDevice) async throws {
    try await device.restart()
    try await start(device)
  }

  private func start(_ device: SimulatedDevice) async throws {
    guard !starts.isEmpty else { return }
    device.network.begin(nil)
    for start in starts { try await start(device) }
    await device.becomeQuiet()
    _ = device.network.end()
  }

  private mutating func check(appRan device: Int?, atEnd: Bool = false) async throws {
    try stopIfFailed(nil)
    try promises.check(run, appRan: device)
    for invariant in invariants where atEnd || !invariant.isFinal {
      do { try await invariant.check(run) } catch {
        throw SimulatedFailure("the invariant \"\(invariant.name)\" does not hold: \(error)")
      }
      try stopIfFailed(invariant.name)
    }
  }

  /// An issue was recorded, as by `#expect`.
  private func stopIfFailed(_ invariant: String?) throws {
    guard !seed.failures.isEmpty else { return }
    if let invariant { seed.fail("the invariant \"\(invariant)\" does not hold") }
    throw SimulatedFailure("an issue was recorded")
  }

  /// Faults stop, and everything is sent, answered and fetched.
  private mutating func end() async throws {
    business.stop()
    for device in devices { device.set(isOffline: false) }
    seed.note(step: "faults stop, and all devices synchronize")
    for _ in 0..<3 {
      for device in devices {
        device.network.begin(nil)
        _ = try await device.synchronize(within: SimulatedDevice.patience)
        await device.becomeQuiet()
        _ = device.network.end()
        await server.becomeQuiet()
      }
      try promises.check(run, appRan: nil)
    }
    try promises.checkShown(run)
    try await check(appRan: nil, atEnd: true)
  }
}
