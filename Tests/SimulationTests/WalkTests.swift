import FerryWorld
import Testing

@testable import FerrySimulation

/// The walk of all small worlds: it holds, and it finds what is planted.
@Suite("An exhaustive walk of small worlds", .serialized)
struct WalkTests {
  @Test("No list of four deeds breaks an invariant", arguments: WalkKind.allCases)
  func holds(_ kind: WalkKind) async {
    let (counts, failures) = await Walk.run(kind, deeds: 4)
    let text = failures.map { "\($0.problem): \($0.deeds.joined(separator: "; "))" }
    #expect(failures.isEmpty, "\(text)")
    #expect(counts.states > 500)
    #expect(counts.transitions > counts.states)
    for word in ["save", "edit", "delete", "cancel", "submit", "send", "receive", "restore"] {
      #expect(counts.deeds[word, default: 0] > 0, "\(word)")
    }
    for word in ["accepted", "refused", "unknown", "crash"] {
      #expect(counts.deeds[word, default: 0] > 0, "\(word)")
    }
  }

  @Test("The same walk meets the same states, whatever its tasks do first")
  func repeats() async {
    let first = await Walk.run(.newUnderGivenKeys, deeds: 3).counts
    let second = await Walk.run(.newUnderGivenKeys, deeds: 3).counts
    #expect(first.states == second.states)
    #expect(first.transitions == second.transitions)
    #expect(first.deeds == second.deeds)
  }

  private struct Plant: Sendable {
    let bug: PlantedBug
    let kind: WalkKind
    let deeds: Int
    let invariants: Set<Int>
  }

  private static let plants: [Plant] = [
    Plant(bug: .forgottenOriginal, kind: .bothThere, deeds: 1, invariants: [4]),
    Plant(bug: .referenceAhead, kind: .newUnderOwnKeys, deeds: 4, invariants: [3]),
    Plant(bug: .retryUnknown, kind: .newUnderGivenKeys, deeds: 4, invariants: [2]),
  ]

  @Test("Planted bugs are found, with the deeds that show them", arguments: plants)
  private func found(_ plant: Plant) async throws {
    // Faults of Known.md break other invariants here.
    let failures = await Walk.run(plant.kind, deeds: plant.deeds, planted: [plant.bug]).failures
    let failure = try #require(failures.first { plant.invariants.contains($0.invariant) })
    #expect(!failure.deeds.isEmpty)
    #expect(failure.deeds.count - failure.quietDeeds <= plant.deeds)
    // No shorter list of deeds shows it.
    let shorter = failure.deeds.count - failure.quietDeeds - 1
    if shorter > 0 {
      let less = await Walk.run(plant.kind, deeds: shorter, planted: [plant.bug])
      #expect(!less.failures.contains { plant.invariants.contains($0.invariant) })
    }
  }

  @Test("Worlds that differ only in the names of ids and the places of operations are one")
  func canonical() {
    let model = WalkModel(.bothThere, planted: [])
    func world(_ deeds: [WalkDeed]) -> WalkWorld {
      var start = WalkKind.bothThere.start
      start.canonicalize()
      var step = WalkStep(model, start)
      for deed in deeds { #expect(throws: Never.self) { try step.make(deed) } }
      return step.world
    }
    let edit = WalkDeed(kind: .editValue, target: 1)
    let cancel = WalkDeed(kind: .cancel, target: 1)
    #expect(world([edit, cancel, edit]) == world([edit]))
    #expect(world([edit]) != world([edit, edit]))
  }
}
