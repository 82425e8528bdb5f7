import FerrySimulation
import FerryTestTraits
import FerryWorld
import Testing

@Suite("The circle from a seed", .serialized)
struct SeedTests {
  private func results(
    _ seeds: ClosedRange<UInt64>, steps: Int, isSealed: Bool = false
  ) async -> [SimulationResult] {
    var results: [SimulationResult] = []
    await SimulationRun.run(seeds: Array(seeds), steps: steps, isSealed: isSealed) {
      results.append($0)
    }
    return results
  }

  @Test(
    "Whatever the network, disks, copies and clocks do, every invariant holds in ten seeds, and what can go wrong does",
    .reference("sync/P11", "sync/P23", "sync/P25", "sync/P26")
  )
  func holds() async {
    let results = await results(28...37, steps: 500)
    #expect(results.map(\.seed) == Array(28...37))
    for result in results {
      #expect(
        result.failure == nil, "seed \(result.seed): \(result.lastEvents.joined(separator: "\n"))")
      #expect(result.counts.steps == 500)
    }
    let counts = results.map(\.counts)
    for fault in SimulatedFault.allCases {
      #expect(counts.contains { $0.faults[fault, default: 0] > 0 }, "\(fault)")
    }
    for act in StatedAct.all {
      #expect(counts.contains { $0.acts[act, default: 0] > 0 }, "\(act)")
    }
    let answers: [KeyPath<SimulationCounts, Int>] = [
      \.accepted, \.refused, \.unknown, \.cancelled, \.crashes, \.restarts, \.resets,
    ]
    for answer in answers { #expect(counts.contains { $0[keyPath: answer] > 0 }, "\(answer)") }
  }

  @Test(
    "Seeds that left a change waiting for nothing, or performed one twice after a restore, hold; so do those that ended too early, or waited for the report of a batch that the other process had sent",
    arguments: [14, 700_073, 800_017, 800_673, 800_727, 800_825, 81_352_781, 81_352_858]
      as [UInt64])
  func holdsNow(seed: UInt64) {
    let result = SimulationRun.run(seed: seed, steps: 500)
    #expect(result.failure == nil, "\(result.lastEvents.joined(separator: "\n"))")
  }

  @Test(
    "Seeds of deeds that only some have hold: parameters, moves of rows with big values, two copies, a batch that the server forgets, a window of days",
    arguments: [11, 16, 18, 26, 2181, 2182] as [UInt64])
  func extras(seed: UInt64) {
    let result = SimulationRun.run(seed: seed, steps: 500)
    #expect(result.failure == nil, "\(result.lastEvents.joined(separator: "\n"))")
  }

  @Test("A guided run is another one, the same each time, and meets states that the other does not")
  func guided() {
    var plan = SimulationPlan(steps: 300)
    let plain = SimulationRun.run(seed: 7, plan)
    plan.isGuided = true
    let first = SimulationRun.run(seed: 7, plan)
    let second = SimulationRun.run(seed: 7, plan)
    #expect(first.failure == nil, "\(first.lastEvents.joined(separator: "\n"))")
    #expect(first.digest == second.digest)
    #expect(first.counts == second.counts)
    #expect(first.digest != plain.digest)
    let new = Set(first.counts.reach.keys).subtracting(plain.counts.reach.keys)
    #expect(!new.isEmpty)
  }

  @Test("The same holds on sealed databases")
  func sealed() async {
    for result in await results(1...3, steps: 300, isSealed: true) {
      #expect(result.failure == nil, "\(result.lastEvents.joined(separator: "\n"))")
    }
  }

  @Test(
    "The same seed gives the same run, event by event (invariant 14)",
    arguments: [7, 15, 16] as [UInt64])
  func repeats(seed: UInt64) {
    let first = SimulationRun.run(seed: seed, steps: 200)
    let second = SimulationRun.run(seed: seed, steps: 200)
    #expect(first.failure == nil)
    #expect(first.counts == second.counts)
    #expect(first.digest == second.digest)
  }
}
