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
    CommandOption("steps", "M", "steps with faults in each run (default 500)"),
    CommandOption("plant", "BUG", "switch a bug on, to see the checkers find it"),
    CommandOption("sealed", nil, "encrypt the devices' databases"),
    CommandOption("trace", nil, "print every event (with --seed)"),
    CommandOption.json,
  ]
  static let discussion = """
    Drives the session and the service that ship, over real SQLite files, with a false clock,
    network and business system: messages are lost, doubled, delayed, reordered and cut; devices
    and server start again; the business system fails before and after its commits. After every
    step the invariants are checked, and once more when nothing moves any longer.

    Bugs: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).

    Exit codes: 0 every invariant held; 1 one did not (its number, the seed and the last events
    are printed); 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let seeds = try seeds(arguments)
    let steps = Int(try arguments.value("steps") ?? "500") ?? 0
    guard steps > 0 else { throw UsageError("--steps is no number", hint: "Write --steps 500.") }
    var planted: Set<PlantedBug> = []
    if let name = try arguments.value("plant") {
      guard let bug = PlantedBug(rawValue: name) else {
        throw UsageError(
          "there is no bug \(name)",
          hint: "Known: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      planted.insert(bug)
    }
    var failed = 0
    for seed in seeds {
      let result = SimulationRun.run(
        seed: seed, steps: steps, planted: planted, isSealed: arguments.flag("sealed"),
        isTracing: arguments.flag("trace"))
      if arguments.flag("json") { print(json(result)) } else { show(result) }
      if result.failure != nil { failed += 1 }
    }
    if !arguments.flag("json") {
      let count = Terminal.counted(seeds.count, "seed", "seeds")
      print(
        "\(count), \(steps) steps each: \(failed == 0 ? "every invariant held" : "\(failed) failed")"
      )
    }
    return failed == 0 ? .success : .problems
  }

  private static func seeds(_ arguments: Arguments) throws -> [UInt64] {
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

  private static func show(_ result: SimulationResult) {
    let counts = result.counts
    print(
      "seed \(result.seed): \(counts.commits) commits, \(counts.imports) imports, "
        + "\(counts.accepted) accepted, \(counts.refused) refused, \(counts.restarts) restarts, "
        + "\(counts.lost) lines cut, \(counts.doubled) doubled")
    guard let failure = result.failure else { return }
    for event in result.lastEvents { print("    \(event)") }
    print("seed \(result.seed) FAILED: \(failure)")
  }

  private static func json(_ result: SimulationResult) -> String {
    let counts = result.counts
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("seed")
    writer.raw(String(result.seed).utf8)
    writer.field("steps", counts.steps)
    writer.field("commits", counts.commits)
    writer.field("imports", counts.imports)
    writer.field("accepted", counts.accepted)
    writer.field("refused", counts.refused)
    writer.field("cancelled", counts.cancelled)
    writer.field("restarts", counts.restarts)
    writer.field("lost", counts.lost)
    writer.field("doubled", counts.doubled)
    writer.field("failure", result.failure)
    writer.field("invariant", result.invariant.map { Int64($0) })
    writer.endObject()
    return writer.text
  }
}
