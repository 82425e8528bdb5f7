import FerryWorld

/// What a run is beside its seed: with the same plan the same seed gives the same run.
public struct SimulationPlan: Sendable {
  /// Steps with faults.
  public var steps: Int
  public var planted: Set<PlantedBug> = []
  /// Each device has an encrypted database.
  public var isSealed: Bool = false
  /// What does not strike: it is decided as before, and nothing comes of it.
  public var without: Set<SimulatedFault> = []
  /// A folder that gets the databases of a run that fails, as `seed-N`.
  public var keep: String?

  public init(steps: Int) { self.steps = steps }
}
