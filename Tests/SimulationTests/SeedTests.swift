import FerrySimulation
import FerryWorld
import Testing

@Suite("The circle from a seed")
struct SeedTests {
  @Test(
    "sync/P11, P23, P25, P26: under lost, doubled, reordered messages and restarts every invariant holds",
    arguments: 1...12 as ClosedRange<UInt64>)
  func holds(seed: UInt64) {
    let result = SimulationRun.run(seed: seed, steps: 500)
    #expect(result.failure == nil, "\(result.lastEvents.joined(separator: "\n"))")
    #expect(result.counts.steps == 500)
  }

  @Test("The same holds on sealed databases", arguments: 1...3 as ClosedRange<UInt64>)
  func sealed(seed: UInt64) {
    let result = SimulationRun.run(seed: seed, steps: 400, isSealed: true)
    #expect(result.failure == nil, "\(result.lastEvents.joined(separator: "\n"))")
  }

  @Test("The faults and the answers all occur in a dozen seeds")
  func occurs() {
    let counts = (1...12).map { SimulationRun.run(seed: UInt64($0), steps: 400).counts }
    #expect(counts.reduce(0) { $0 + $1.accepted } > 20)
    #expect(counts.reduce(0) { $0 + $1.refused } > 5)
    #expect(counts.reduce(0) { $0 + $1.restarts } > 20)
    #expect(counts.reduce(0) { $0 + $1.lost } > 10)
    #expect(counts.reduce(0) { $0 + $1.doubled } > 3)
    #expect(counts.reduce(0) { $0 + $1.cancelled } > 3)
  }

  @Test("The same seed gives the same run (invariant 14)")
  func repeats() {
    let first = SimulationRun.run(seed: 7, steps: 400)
    let second = SimulationRun.run(seed: 7, steps: 400)
    #expect(first.counts == second.counts)
  }

  @Test(
    "Each planted bug is found by seeds, with the invariant it breaks",
    arguments: PlantedBug.allCases)
  func found(bug: PlantedBug) {
    let broken: [PlantedBug: Set<Int>] = [
      .forgottenOriginal: [4, 5, 9], .leaveIgnoresPartition: [4, 9], .baseNotMoved: [6],
      .noMark: [4, 9],
    ]
    let result = (1...60 as ClosedRange<UInt64>).lazy
      .map { SimulationRun.run(seed: $0, steps: 500, planted: [bug]) }
      .first { $0.failure != nil }
    #expect(result.flatMap(\.invariant).map { broken[bug]?.contains($0) == true } == true)
  }
}
