import FerryFaultVFS
import FerryWorld

#if canImport(Glibc)
  import Glibc
#endif

/// An invariant does not hold.
package struct SimulationFailure: Error, Sendable, CustomStringConvertible {
  /// The number in `Documentation/Invariants.md`.
  package let invariant: Int
  package internal(set) var step = 0
  package let problem: String

  init(invariant: Int, problem: String) {
    self.invariant = invariant
    self.problem = problem
  }

  package var description: String { "invariant \(invariant) at step \(step): \(problem)" }
}

/// Where the events of a run go beside the last of them, which are kept for a failure.
package enum SimulationTrace: Sendable {
  case kept
  /// Every event is printed as it happens, to standard output or to standard error.
  case printed, printedAsErrors

  func show(_ line: String) {
    switch self {
    case .kept: break
    case .printed: puts(line)
    case .printedAsErrors:
      let bytes = Array("\(line)\n".utf8)
      _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
  }
}

/// The end of one run.
package struct SimulationResult: Sendable {
  package let seed: UInt64
  /// Of every event that is said whether it is printed or not: two runs that are the same have the
  /// same.
  package let digest: UInt64
  package let counts: SimulationCounts
  /// Nil when every invariant held.
  package let failure: String?
  /// The number of the invariant that did not hold; 0 when the run broke off otherwise.
  package let invariant: Int?
  /// The step at which it failed.
  package let step: Int?
  /// The last events before a failure.
  package let lastEvents: [String]
  /// Where its databases are, or why they are not, if they were to be kept.
  package let kept: String?
}

/// A world that a seed controls.
protocol SeededRun: AnyObject {
  var step: Int { get }
  var digest: UInt64 { get }
  var lastEvents: [String] { get }
  /// Called as each step begins.
  var onStep: (Int) -> Void { get set }
  func run(steps: Int) throws
  func finalCounts() -> SimulationCounts
  func end()
}

extension Simulation: SeededRun {}

extension NodeSimulation: SeededRun {
  var lastEvents: [String] { log.last }
  var digest: UInt64 { log.digest }
}

/// Runs seeds.
package enum SimulationRun {
  /// Runs many seeds, as many at one time as there are cores, and gives each result in the order of
  /// the seeds. With `stopsAtFailure` no further seed is begun after one that failed.
  package static func run(
    seeds: [UInt64], steps: Int, planted: Set<PlantedBug> = [], isSealed: Bool = false,
    stopsAtFailure: Bool = false, each: (SimulationResult) -> Void
  ) async {
    var plan = SimulationPlan(steps: steps)
    plan.planted = planted
    plan.isSealed = isSealed
    await run(seeds.map { ($0, plan) }, stopsAtFailure: stopsAtFailure) { _, result in
      each(result)
    }
  }

  /// Makes many runs, as many at one time as there are cores, and gives each result in their order.
  package static func run(
    _ runs: [(seed: UInt64, plan: SimulationPlan)], stopsAtFailure: Bool = false,
    each: (SimulationPlan, SimulationResult) -> Void
  ) async {
    let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    await withTaskGroup(of: (Int, SimulationResult).self) { group in
      var begun = 0
      var given = 0
      var hasFailed = false
      var ready: [Int: SimulationResult] = [:]
      func begin() {
        guard begun < runs.count, !(hasFailed && stopsAtFailure) else { return }
        let (place, next) = (begun, runs[begun])
        begun += 1
        group.addTask { (place, run(seed: next.seed, next.plan)) }
      }
      for _ in 0..<cores { begin() }
      for await (place, result) in group {
        hasFailed = hasFailed || result.failure != nil
        begin()
        ready[place] = result
        while let next = ready.removeValue(forKey: given) {
          each(runs[given].plan, next)
          given += 1
        }
      }
    }
  }

  /// One run; `isSealed` gives each device an encrypted database.
  package static func run(
    seed: UInt64, steps: Int, planted: Set<PlantedBug> = [], isSealed: Bool = false,
    trace: SimulationTrace = .kept
  ) -> SimulationResult {
    var plan = SimulationPlan(steps: steps)
    plan.planted = planted
    plan.isSealed = isSealed
    return run(seed: seed, plan, trace: trace)
  }

  /// One run in a folder of its own, which is removed afterwards.
  package static func run(
    seed: UInt64, _ plan: SimulationPlan, trace: SimulationTrace = .kept
  ) -> SimulationResult {
    run(seed: seed, plan, trace: trace) { _ in }
  }

  /// `onStep` is called as each step begins.
  static func run(
    seed: UInt64, _ plan: SimulationPlan, trace: SimulationTrace, onStep: @escaping (Int) -> Void
  ) -> SimulationResult {
    SimulationRun.prepare
    let place = CrashReport.enter(seed: seed)
    defer { place.leave() }
    let folder = makeFolder(seed)
    defer { removeFolder(folder) }
    var simulation: (any SeededRun)?
    // Disks outlive their connections.
    defer { simulation?.end() }
    do {
      let made: any SeededRun =
        try plan.nodes > 1
        ? NodeSimulation(seed: seed, folder: folder, plan, trace: trace)
        : Simulation(seed: seed, folder: folder, plan, trace: trace)
      simulation = made
      made.onStep = { step in
        place.enter(step: step)
        onStep(step)
      }
      try made.run(steps: plan.steps)
      return SimulationResult(
        seed: seed, digest: made.digest, counts: made.finalCounts(), failure: nil, invariant: nil,
        step: nil, lastEvents: [], kept: nil)
    } catch {
      return SimulationResult(
        seed: seed, digest: simulation?.digest ?? 0,
        counts: simulation?.finalCounts() ?? SimulationCounts(), failure: "\(error)",
        invariant: (error as? SimulationFailure)?.invariant ?? 0, step: simulation?.step,
        lastEvents: simulation?.lastEvents ?? [],
        kept: plan.keep.flatMap {
          (simulation as? Simulation)?.keepDisks(in: "\($0)/seed-\(seed)")
        })
    }
  }

  /// Once in a process, before the first run.
  private static let prepare: Void = FaultDisk.doNotCountMemory()

  /// In memory where the system has such a place: nothing of a run needs to outlive it.
  private static func makeFolder(_ seed: UInt64) -> String {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(base)/ferry-simulation-\(seed)-XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
    }
    guard let made else { preconditionFailure("no temporary folder can be made in \(base)") }
    return made
  }

  private static func removeFolder(_ path: String) {
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name != ".", name != ".." else { continue }
      if unlink("\(path)/\(name)") != 0 { removeFolder("\(path)/\(name)") }
    }
    closedir(folder)
    rmdir(path)
  }
}
