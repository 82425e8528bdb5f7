import FerryConnector
import FerryWorld

/// What a run is beside its seed: with the same plan the same seed gives the same run.
package struct SimulationPlan: Sendable {
  /// Steps with faults.
  package var steps: Int
  package var planted: Set<PlantedBug> = []
  /// Each device has an encrypted database.
  package var isSealed: Bool = false
  /// Servers that share a store. More than one is a run of another kind: it has the lease and what
  /// several nodes can do wrong, devices as small as they can be, and none of the other faults.
  package var nodes: Int = 1
  /// What does not strike: it is decided as before, and nothing comes of it.
  package var without: Set<SimulatedFault> = []
  /// Apps do more often what the run has met least. It is the same each time, and another run than the
  /// one without.
  package var isGuided: Bool = false
  /// What the server has behind it.
  package var business: Business = .database
  /// What the decisions about lost answers do wrong on purpose, where the business is a service.
  package var serviceFlaws: Set<AttemptMachine.Flaw> = []
  /// A folder that gets the databases of a run that fails, as `seed-N`.
  package var keep: String?

  /// Kinds of business systems.
  package enum Business: String, Sendable, CaseIterable {
    /// With transactions across operations, and perhaps a record of them.
    case database
    /// Reached by requests: each is done or not, and its answer may be lost.
    case service
    /// The same without change sets, read by pages that move under changes. It tells of its changes,
    /// and what it tells is lost, doubled, late and out of order.
    case rest
  }

  package init(steps: Int) { self.steps = steps }
}
