/// What may go wrong in a simulated test.
public struct SimulatedFaults: OptionSet, Sendable, Hashable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// A request does not reach the server.
  public static let lostRequests: SimulatedFaults = SimulatedFaults(rawValue: 1)
  /// The server has taken a request, and nothing of its answer arrives.
  public static let lostAnswers: SimulatedFaults = SimulatedFaults(rawValue: 2)
  /// The connection breaks in the middle of an answer.
  public static let cuts: SimulatedFaults = SimulatedFaults(rawValue: 4)
  /// A device is killed, before it saves or during a request, and opened again from its file.
  public static let kills: SimulatedFaults = SimulatedFaults(rawValue: 8)
  /// The server ends and starts again with its files, also during a request.
  public static let serverRestarts: SimulatedFaults = SimulatedFaults(rawValue: 16)
  /// The business system refuses a change, with the code 409.
  public static let refusals: SimulatedFaults = SimulatedFaults(rawValue: 32)
  /// The connection to the business system breaks while it performs a change. The server then asks
  /// the business system what it did.
  public static let unknownOutcomes: SimulatedFaults = SimulatedFaults(rawValue: 64)
  /// A device has no network for some steps.
  public static let offline: SimulatedFaults = SimulatedFaults(rawValue: 128)
  /// Minutes or days pass, at most ten days at once.
  public static let time: SimulatedFaults = SimulatedFaults(rawValue: 256)

  public static let none: SimulatedFaults = []
  public static let network: SimulatedFaults = [.lostRequests, .lostAnswers, .cuts, .offline]
  public static let all: SimulatedFaults = [
    .network, .kills, .serverRestarts, .refusals, .unknownOutcomes, .time,
  ]
}
