/// Looks for less that shows the same failure: fewer faults, then fewer steps.
package struct SimulationShrink {
  package let seed: UInt64
  /// What still fails with the same invariant.
  package private(set) var plan: SimulationPlan
  /// How many runs it took.
  package private(set) var runs = 0
  private var result: SimulationResult
  /// How many steps it had to fail in.
  private let steps: Int
  private let tell: (String) -> Void

  /// `failed` is what `plan` gave; `tell` is called with a line for each thing that was left out.
  package init(
    _ failed: SimulationResult, _ plan: SimulationPlan, tell: @escaping (String) -> Void
  ) {
    seed = failed.seed
    result = failed
    self.plan = plan
    self.plan.keep = nil
    steps = plan.steps
    self.tell = tell
    end(at: failed)
  }

  package mutating func run() async {
    leaveOutFaults()
    await leaveOutSteps()
  }

  /// What comes after the failure is not needed.
  private mutating func end(at failed: SimulationResult) {
    result = failed
    plan.steps = max(1, min(plan.steps, failed.step ?? plan.steps))
  }

  private func isSame(_ other: SimulationResult) -> Bool {
    other.failure != nil && other.invariant == result.invariant
  }

  /// All of them, or else one after the other: what is left out moves what comes after it, so that a
  /// failure may need a fault only because of its place.
  mutating func leaveOutFaults() {
    let struck = SimulatedFault.allCases.filter {
      $0.isOptional && !plan.without.contains($0) && result.counts.faults[$0, default: 0] > 0
    }
    if tries(without: struck) { return }
    for fault in struck where result.counts.faults[fault, default: 0] > 0 {
      _ = tries(without: [fault])
    }
  }

  private mutating func tries(without faults: [SimulatedFault]) -> Bool {
    guard !faults.isEmpty else { return true }
    var next = plan
    next.without.formUnion(faults)
    // Without the fault it may fail later.
    next.steps = steps
    runs += 1
    let tried = SimulationRun.run(seed: seed, next)
    guard isSame(tried) else { return false }
    plan = next
    end(at: tried)
    tell("without \(faults.map(\.rawValue).joined(separator: ", ")): step \(plan.steps)")
    return true
  }

  /// From below, so that no shorter run fails in the same way.
  private mutating func leaveOutSteps() async {
    var first = 1
    while first < plan.steps {
      let plans = (first..<plan.steps).map { steps in
        var next = plan
        next.steps = steps
        return (seed: seed, plan: next)
      }
      var found: (plan: SimulationPlan, result: SimulationResult)?
      var last = plan.steps
      await SimulationRun.run(plans, stopsAtFailure: true) { plan, result in
        runs += 1
        guard found == nil, result.failure != nil else { return }
        last = plan.steps
        if isSame(result) { found = (plan, result) }
      }
      if let found {
        plan = found.plan
        result = found.result
        tell("\(plan.steps) steps are enough")
        return
      }
      // Another failure: not what is looked for.
      first = last + 1
    }
  }
}
