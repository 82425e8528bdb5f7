import FerryArguments
import FerryJSON
import FerrySimulation
import FerryWorld

/// `ferry simulate`: the whole circle in one process, with faults, from a seed.
enum SimulateCommand: Subcommand {
  static let name = "simulate"
  static let summary = "run devices, server and business system from a seed, with faults"
  static let operands = "[options]"
  static let options = [
    CommandOption("seed", "N", "one seed; the same seed gives the same run"),
    CommandOption("seeds", "A-B", "all seeds from A to B (default 1-20)"),
    CommandOption("steps", "M", "steps with faults in each run, 1 to 1000000 (default 500)"),
    CommandOption("plant", "BUG", "switch a bug on; stops at the first seed that finds it"),
    CommandOption("sealed", nil, "encrypt the devices' databases"),
    CommandOption("trace", nil, "print every event, one seed after the other (--json: to stderr)"),
    CommandOption.json,
  ]
  static let discussion = """
    Drives the session and the service that ship, over real SQLite on disks that fail and forget,
    with a false clock, network and business system: messages are lost, doubled, delayed, reordered
    and cut; devices and server die at any write and start again, are copied and restored; the
    business system fails before and after its commits. After every step the invariants are checked,
    and once more when nothing moves any longer. Documentation/Simulation.md tells more.

    Bugs: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).

    Exit codes: 0 every invariant held; 1 one did not (its number, the seed and the last events
    are printed); 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    _ = try arguments.operands()
    let seeds = try seeds(arguments)
    let text = try arguments.value("steps") ?? "500"
    guard let steps = Int(text), allowedSteps.contains(steps) else {
      throw UsageError(
        "--steps \(text) is no number from 1 to \(allowedSteps.upperBound)",
        hint: "Write --steps 500.")
    }
    var planted: Set<PlantedBug> = []
    if let name = try arguments.value("plant") {
      guard let bug = PlantedBug(rawValue: name) else {
        throw UsageError(
          "there is no bug \(name)",
          hint: "Known: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      planted.insert(bug)
    }
    let isJSON = arguments.flag("json")
    let isSealed = arguments.flag("sealed")
    let how =
      "--steps \(steps)" + (isSealed ? " --sealed" : "")
      + planted.map { " --plant \($0.rawValue)" }.joined()
    let began = ContinuousClock.now
    var summary = SimulationSummary()
    let take = { (result: SimulationResult) in
      summary.add(result)
      let replay = "ferry simulate --seed \(result.seed) \(how) --trace"
      print(
        isJSON
          ? SimulationText.json(result, replay: replay)
          : SimulationText.plain(result, replay: replay))
    }
    if arguments.flag("trace") {
      for seed in seeds {
        take(
          SimulationRun.run(
            seed: seed, steps: steps, planted: planted, isSealed: isSealed,
            trace: isJSON ? .printedAsErrors : .printed))
      }
    } else {
      await SimulationRun.run(
        seeds: seeds, steps: steps, planted: planted, isSealed: isSealed,
        stopsAtFailure: !planted.isEmpty, each: take)
    }
    // A trace is the same each time, and time is not.
    if !arguments.flag("trace") { summary.wall = began.duration(to: .now) }
    print(isJSON ? summary.json : summary.plain(steps: steps))
    return summary.failed == 0 ? .success : .problems
  }

  private static let allowedSteps = 1...1_000_000

  private static func seeds(_ arguments: Arguments) throws -> [UInt64] {
    if try arguments.value("seed") != nil, try arguments.value("seeds") != nil {
      throw UsageError("--seed and --seeds exclude each other", hint: "Leave one of them out.")
    }
    if let text = try arguments.value("seed") {
      guard let seed = UInt64(text) else {
        throw UsageError("--seed \(text) is no number", hint: "Write --seed 7.")
      }
      return [seed]
    }
    let text = try arguments.value("seeds") ?? "1-20"
    let bounds = text.split(separator: "-").compactMap { UInt64($0) }
    guard bounds.count == 2, bounds[0] <= bounds[1], bounds[1] - bounds[0] < 1_000_000 else {
      throw UsageError("--seeds \(text) is no range", hint: "Write --seeds 1-20.")
    }
    return Array(bounds[0]...bounds[1])
  }
}
