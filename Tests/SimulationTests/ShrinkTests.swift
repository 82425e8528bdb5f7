import FerryWorld
import Testing

@testable import FerrySimulation

@Suite("What helps with a seed that fails", .serialized)
struct ShrinkTests {
  private func plan(_ bug: PlantedBug) -> SimulationPlan {
    var plan = SimulationPlan(steps: 500)
    plan.planted = [bug]
    return plan
  }

  @Test("A failing seed is made shorter: no fewer steps fail with the same invariant")
  func shorter() async throws {
    let failed = SimulationRun.run(seed: 97, plan(.rollbackKeeps))
    try #require(failed.invariant == 1)
    var shrink = SimulationShrink(failed, plan(.rollbackKeeps)) { _ in }
    await shrink.run()
    #expect(shrink.plan.steps <= 20)
    #expect(SimulationRun.run(seed: 97, shrink.plan).invariant == 1)
    for steps in 1..<shrink.plan.steps {
      var less = shrink.plan
      less.steps = steps
      #expect(SimulationRun.run(seed: 97, less).invariant != 1, "\(steps) steps")
    }
  }

  @Test("Faults that a failure does not need are left out, and it fails with the same invariant")
  func fewer() throws {
    let failed = SimulationRun.run(seed: 15, plan(.saveDropsValue))
    try #require(failed.invariant == 1)
    var lines: [String] = []
    var shrink = SimulationShrink(failed, plan(.saveDropsValue)) { lines.append($0) }
    shrink.leaveOutFaults()
    #expect(!shrink.plan.without.isEmpty)
    #expect(lines.allSatisfy { $0.hasPrefix("without ") } && !lines.isEmpty)
    #expect(SimulationRun.run(seed: 15, shrink.plan).invariant == 1)
  }

  @Test(
    "A fault that is left out does not strike, and one that never struck can be left out freely")
  func without() {
    // Days that pass at the end of each run, and what goes with them, are no faults.
    let ends: [SimulatedFault] = [.dayPassed, .compaction]
    let optional = SimulatedFault.allCases.filter { $0.isOptional && !ends.contains($0) }
    var calm = SimulationPlan(steps: 300)
    calm.without = Set(optional)
    for seed in 1...3 as ClosedRange<UInt64> {
      let result = SimulationRun.run(seed: seed, calm)
      #expect(result.failure == nil)
      for fault in optional { #expect(result.counts.faults[fault, default: 0] == 0, "\(fault)") }
      #expect(result.counts.crashes == 0)
      #expect(result.counts.accepted > 0)
    }
    let whole = SimulationRun.run(seed: 1, SimulationPlan(steps: 100))
    let absent = [SimulatedFault.halfOpen, .outage, .requestLost, .clockWrong, .tokensRevoked]
      .filter { whole.counts.faults[$0, default: 0] == 0 }
    #expect(!absent.isEmpty)
    var plan = SimulationPlan(steps: 100)
    plan.without = Set(absent)
    #expect(SimulationRun.run(seed: 1, plan).digest == whole.digest)
  }

  @Test("A crash says which seed and step were under way, and the command that runs it again")
  func crash() async throws {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      CrashReport.install(again: ("ferry simulate --seed ", " --steps 100 --trace"))
      _ = SimulationRun.run(seed: 3, SimulationPlan(steps: 100), trace: .kept) { step in
        if step == 7 { fatalError("planted") }
      }
    }
    try expectLastWords(end)
  }

  @Test("So does a stack that runs out")
  func overflow() async throws {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      CrashReport.install(again: ("ferry simulate --seed ", " --steps 100 --trace"))
      _ = SimulationRun.run(seed: 3, SimulationPlan(steps: 100), trace: .kept) { step in
        if step == 7 { _ = ShrinkTests.depth(0) }
      }
    }
    try expectLastWords(end)
  }

  private func expectLastWords(_ end: ExitTest.Result?) throws {
    let said = String(decoding: try #require(end).standardErrorContent, as: UTF8.self)
    #expect(said.contains(" in seed 3 at step 7\n"), "\(said)")
    #expect(said.contains("\nAgain: ferry simulate --seed 3 --steps 100 --trace\n"), "\(said)")
  }

  /// Has no end for numbers from 0 on.
  private static func depth(_ number: Int) -> Int {
    number < 0 ? 0 : depth(number + 1) &+ number
  }
}
