import FerryConnector
import FerrySimulation
import Testing

/// The whole circle with a service without transactions as business.
@Suite("A service as business", .timeLimit(.minutes(60)))
struct ServiceTests {
  private func plan(
    _ business: SimulationPlan.Business = .service, _ flaws: Set<AttemptMachine.Flaw> = []
  ) -> SimulationPlan {
    var plan = SimulationPlan(steps: 400)
    plan.business = business
    plan.serviceFlaws = flaws
    return plan
  }

  @Test(
    "Seeds hold: ETags as versions, as hashes or none, with and without change sets",
    arguments: [1, 2, 3, 4, 22, 24, 32, 38] as [UInt64])
  func holds(seed: UInt64) {
    let result = SimulationRun.run(seed: seed, plan())
    #expect(result.failure == nil, "\(result.lastEvents.joined(separator: "\n"))")
  }

  @Test(
    "Seeds of a REST service hold: pages that move, numbers that are forgotten, notices in any order",
    arguments: [1, 2, 3, 4, 5, 11, 12, 24] as [UInt64])
  func restHolds(seed: UInt64) {
    let result = SimulationRun.run(seed: seed, plan(.rest))
    #expect(result.failure == nil, "\(result.lastEvents.joined(separator: "\n"))")
  }

  @Test("The same seed gives the same run")
  func repeats() {
    #expect(
      SimulationRun.run(seed: 5, plan()).digest == SimulationRun.run(seed: 5, plan()).digest)
  }
}
