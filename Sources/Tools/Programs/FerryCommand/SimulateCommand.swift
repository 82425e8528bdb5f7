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
    CommandOption("plant", "BUG", "switch a known bug on; end at the first seed that finds it"),
    CommandOption(
      "nodes", "N", "2 to 5 servers on one store, with a lease that moves (default 1)"),
    CommandOption(
      "business", "KIND",
      "database, service (without transactions, answers lost) or \(restName) (read by pages, telling of its "
        + "changes) (default database)"),
    CommandOption("sealed", nil, "encrypt the devices' databases"),
    CommandOption(
      "without", "FAULT,…", "leave these faults out; all other decisions stay the same"),
    CommandOption(
      "shrink", nil, "with --seed: search for fewer faults and steps with the same failure"),
    CommandOption(
      "reach", nil, "print which deeds met which states of a change, how often, and which never"),
    CommandOption("guided", nil, "do more often what the run has met least (see --reach)"),
    CommandOption("keep", "FOLDER", "write the databases of failing seeds to FOLDER/seed-N"),
    CommandOption(
      "walk", nil, "try every order of deeds in small worlds, instead of seeds"),
    CommandOption("deeds", "N", "with --walk: so many deeds at most, 1 to 12 (default 6)"),
    CommandOption("trace", nil, "print every event, one seed after the other (--json: to stderr)"),
    CommandOption.json,
  ]
  static let discussion = """
    Runs the real client and server code over real SQLite, with simulated disks, clock, network and
    business system. Messages are lost, doubled, delayed, reordered and cut. Devices and server
    crash at any write and restart; their files are copied and restored. The business system fails
    before and after its commits. The invariants are checked after every step and at the end.
    Documentation/Simulation.md describes it. With --nodes the run is another one: servers share a
    store, one leads, leaders stop and go on. Some bugs need it: \(nodeBugs).
    Others need --business \(restName): \(restBugs).

    With --walk there is no chance: one device, two objects that refer to each other, and every list
    of deeds up to --deeds, over the state machines of client and server. The app saves, edits,
    deletes, cancels and submits; requests are sent, received and lost; operations are accepted,
    refused or unknown; processes crash, and the device's file is restored. It prints the states
    met, and at a violated invariant the fewest deeds that lead to it. --plant with it: \(walkBugs).

    With --guided a run draws among the deeds that it has met least often: the choice follows from the
    seed and from the run itself, so the same command gives the same run, and another one than without
    --guided. --reach counts over all seeds.

    Bugs: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).

    Faults that can be left out: \(optionalFaults.map(\.rawValue).joined(separator: ", ")).

    Exit codes: 0 every invariant held; 1 an invariant was violated (its number, the seed and the
    last events are printed); 2 wrong usage; 130 control-C ended it, and the summary of the seeds
    until then is printed. After a crash, standard error has the running seeds,
    their steps and the command that repeats them.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    _ = try arguments.operands()
    if let deeds = try WalkText.deeds(arguments) {
      return try await WalkText.run(
        deeds: deeds, planted: try planted(arguments), isJSON: arguments.flag("json"))
    }
    let seeds = try seeds(arguments)
    let text = try arguments.value("steps") ?? "500"
    guard let steps = Int(text), allowedSteps.contains(steps) else {
      throw UsageError(
        "--steps \(text) is not a number from 1 to \(allowedSteps.upperBound)",
        hint: "Write --steps 500.")
    }
    var plan = SimulationPlan(steps: steps)
    plan.planted = try planted(arguments)
    plan.without = try without(arguments)
    plan.isSealed = arguments.flag("sealed")
    plan.keep = try arguments.value("keep")
    plan.isGuided = arguments.flag("guided")
    plan.business = try business(arguments)
    if let bug = plan.planted.first(where: \.isOfREST), plan.business != .rest {
      throw UsageError(
        "the planted bug \(bug.rawValue) is met only with a REST service",
        hint: "Write --business \(restName).")
    }
    plan.nodes = try nodes(arguments, plan)
    guard plan.nodes == 1 || !plan.isGuided && !arguments.flag("reach") else {
      throw UsageError(
        "--nodes cannot be used with --reach or --guided", hint: "Leave out one of them.")
    }
    if arguments.flag("shrink"), try arguments.value("seed") == nil {
      throw UsageError("--shrink works only with --seed", hint: "Write --seed 7 --shrink.")
    }
    CrashReport.install(again: ("ferry simulate --seed ", " \(words(plan)) --trace"))
    return await run(
      seeds, plan, isJSON: arguments.flag("json"), isTraced: arguments.flag("trace"),
      isShrunk: arguments.flag("shrink"), showsReach: arguments.flag("reach"))
  }

  private static func run(
    _ seeds: [UInt64], _ plan: SimulationPlan, isJSON: Bool, isTraced: Bool, isShrunk: Bool,
    showsReach: Bool
  ) async -> ExitCode {
    let began = ContinuousClock.now
    let progress = SimulationProgress()
    var failed: SimulationResult?
    let known = SimulationSoFar(showsReach: showsReach) { summary in
      Terminal.show(isJSON ? summary.json : summary.plain(steps: plan.steps), asJSON: isJSON)
    }
    known.printOnInterrupt()
    let take = { (result: SimulationResult) in
      if result.failure != nil { failed = failed ?? result }
      let replay = again(result.seed, plan)
      let summary = known.add(result) {
        Terminal.show(
          isJSON
            ? SimulationText.json(result, replay: replay)
            : SimulationText.plain(result, replay: replay), asJSON: isJSON)
      }
      progress.tell(summary, of: seeds.count)
    }
    if isTraced {
      for seed in seeds {
        take(SimulationRun.run(seed: seed, plan, trace: isJSON ? .printedAsErrors : .printed))
      }
    } else {
      await SimulationRun.run(
        seeds.map { ($0, plan) }, stopsAtFailure: !plan.planted.isEmpty
      ) { _, result in
        take(result)
      }
    }
    if isShrunk { await shrink(failed, plan, isJSON: isJSON) }
    // A trace is the same each time, and time is not.
    let summary = known.end(wall: isTraced ? nil : began.duration(to: .now))
    return summary.failed == 0 ? .success : .problems
  }

  /// The command that makes the run again; a trace is said to be wished for.
  private static func again(_ seed: UInt64, _ plan: SimulationPlan) -> String {
    "ferry simulate --seed \(seed) \(words(plan)) --trace"
  }

  private static func words(_ plan: SimulationPlan) -> String {
    let without = plan.without.map(\.rawValue).sorted().joined(separator: ",")
    return "--steps \(plan.steps)" + (plan.isSealed ? " --sealed" : "")
      + (plan.isGuided ? " --guided" : "")
      + (plan.business == .database ? "" : " --business \(plan.business.rawValue)")
      + (plan.nodes > 1 ? " --nodes \(plan.nodes)" : "")
      + plan.planted.map { " --plant \($0.rawValue)" }.sorted().joined()
      + (without.isEmpty ? "" : " --without \(without)")
  }

  private static func shrink(
    _ failed: SimulationResult?, _ plan: SimulationPlan, isJSON: Bool
  ) async {
    guard let failed else {
      Terminal.error("Every invariant held: there is no failure to shorten.")
      return
    }
    var shrink = SimulationShrink(failed, plan) { Terminal.error("shorter: \($0)") }
    await shrink.run()
    let replay = again(shrink.seed, shrink.plan)
    Terminal.show(
      isJSON
        ? SimulationText.json(shrink, replay: replay)
        : "Shorter, after \(Terminal.counted(shrink.runs, "run", "runs")): \(replay)",
      asJSON: isJSON)
  }

  private static let optionalFaults: [SimulatedFault] = SimulatedFault.allCases
    .filter(\.isOptional)

  private static func planted(_ arguments: Arguments) throws -> Set<PlantedBug> {
    guard let name = try arguments.value("plant") else { return [] }
    guard let bug = PlantedBug(rawValue: name) else {
      throw UsageError(
        "there is no planted bug \(name)",
        hint: "Known: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    return [bug]
  }

  private static func business(_ arguments: Arguments) throws -> SimulationPlan.Business {
    let text = try arguments.value("business") ?? SimulationPlan.Business.database.rawValue
    guard let business = SimulationPlan.Business(rawValue: text) else {
      throw UsageError(
        "--business \(text) is neither database nor service nor \(restName)",
        hint: "Write --business service.")
    }
    return business
  }

  private static let walkBugs: String = Walk.plants.map(\.rawValue).joined(separator: ", ")

  private static let restName: String = SimulationPlan.Business.rest.rawValue

  private static let restBugs: String = PlantedBug.allCases.filter(\.isOfREST).map(\.rawValue)
    .joined(separator: ", ")

  private static let nodeBugs: String = PlantedBug.allCases.filter(\.isOfNodes).map(\.rawValue)
    .joined(separator: ", ")

  private static func nodes(_ arguments: Arguments, _ plan: SimulationPlan) throws -> Int {
    let text = try arguments.value("nodes") ?? "1"
    guard let nodes = Int(text), (1...5).contains(nodes) else {
      throw UsageError("--nodes \(text) is not a number from 1 to 5", hint: "Write --nodes 2.")
    }
    if let bug = plan.planted.first, bug.isOfNodes != (nodes > 1) {
      throw UsageError(
        "the planted bug \(bug.rawValue) is never met with \(nodes > 1 ? "several nodes" : "one node")",
        hint: nodes > 1 ? "Leave out --nodes." : "Write --nodes 2.")
    }
    guard
      nodes == 1
        || !plan.isSealed && plan.without.isEmpty && plan.keep == nil && plan.business == .database
    else {
      throw UsageError(
        "--nodes cannot be used with --sealed, --without, --keep or --business",
        hint: "Leave out one of them.")
    }
    return nodes
  }

  private static func without(_ arguments: Arguments) throws -> Set<SimulatedFault> {
    let names = try arguments.value("without")?.split(separator: ",").map(String.init) ?? []
    return Set(
      try names.map { name in
        guard let fault = SimulatedFault(rawValue: name), fault.isOptional else {
          throw UsageError(
            "there is no fault \(name)",
            hint: "Known: \(optionalFaults.map(\.rawValue).joined(separator: ", ")).")
        }
        return fault
      })
  }

  private static let allowedSteps = 1...1_000_000

  private static func seeds(_ arguments: Arguments) throws -> [UInt64] {
    if try arguments.value("seed") != nil, try arguments.value("seeds") != nil {
      throw UsageError("--seed and --seeds cannot be used together", hint: "Leave out one of them.")
    }
    if let text = try arguments.value("seed") {
      guard let seed = UInt64(text) else {
        throw UsageError("--seed \(text) is not a number", hint: "Write --seed 7.")
      }
      return [seed]
    }
    let text = try arguments.value("seeds") ?? "1-20"
    let bounds = text.split(separator: "-").compactMap { UInt64($0) }
    guard bounds.count == 2, bounds[0] <= bounds[1], bounds[1] - bounds[0] < 1_000_000 else {
      throw UsageError(
        "--seeds \(text) is not a range of at most 1000000 seeds", hint: "Write --seeds 1-20.")
    }
    return Array(bounds[0]...bounds[1])
  }
}
