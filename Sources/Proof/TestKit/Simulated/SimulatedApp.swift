/// What an app declares for a simulated test: its own actions, and what must always be true.
public final class SimulatedApp {
  struct Action: Sendable {
    let name: String
    let weight: Int
    let run: @Sendable (SimulatedDevice) async throws -> Void
  }

  struct Invariant: Sendable {
    let name: String
    let isFinal: Bool
    let check: @Sendable (SimulatedRun) async throws -> Void
  }

  struct User: Sendable {
    let name: String
    let claims: [String: [String]]
  }

  var actions: [Action] = []
  var invariants: [Invariant] = []
  var users: [User] = []
  var setUps: [@Sendable (TestServer) async throws -> Void] = []
  var starts: [@Sendable (SimulatedDevice) async throws -> Void] = []

  /// Runs before there is a device: fills the business system, and says what it refuses.
  public func setUp(_ body: @escaping @Sendable (TestServer) async throws -> Void) {
    setUps.append(body)
  }

  /// Adds a device of this user. Without a call there are as many as `devices` of `simulate` says,
  /// all of the user `user`.
  public func device(user: String, claims: [String: [String]] = [:]) {
    users.append(User(name: user, claims: claims))
  }

  /// Runs whenever a device starts: once at the beginning, and after each kill.
  public func start(_ body: @escaping @Sendable (SimulatedDevice) async throws -> Void) {
    starts.append(body)
  }

  /// Adds an action: the app's own code, run on one device at a time.
  ///
  /// `weight`: how often it is drawn, compared with the other actions. An error that it throws is a
  /// failure of the test. While a fault is under way, and on a device without a network, it is not:
  /// then the step shows it. A `FerryError` that is transient is none either.
  public func action(
    _ name: String, weight: Int = 1,
    _ body: @escaping @Sendable (SimulatedDevice) async throws -> Void
  ) {
    precondition(weight > 0, "the weight of \(name) is \(weight)")
    actions.append(Action(name: name, weight: weight, run: body))
  }

  /// Adds what must be true after each step: `check` throws, or records an issue of the test library,
  /// if it is not.
  public func invariant(
    _ name: String, _ check: @escaping @Sendable (SimulatedRun) async throws -> Void
  ) { invariants.append(Invariant(name: name, isFinal: false, check: check)) }

  /// Adds what must be true at the end: when faults have stopped, everything is sent and answered,
  /// and every device has fetched it.
  public func finalInvariant(
    _ name: String, _ check: @escaping @Sendable (SimulatedRun) async throws -> Void
  ) { invariants.append(Invariant(name: name, isFinal: true, check: check)) }
}

/// What an invariant looks at.
public struct SimulatedRun: Sendable {
  public let server: TestServer
  public let devices: [SimulatedDevice]
  let ledger: SimulatedLedger

  /// What actions have noted on all devices, in order.
  public var notes: [String] { ledger.notes }

  /// Ends the test where `isTrue` is false; `text` says what is wrong, with the values.
  public func check(_ isTrue: Bool, _ text: @autoclosure () -> String) throws {
    if !isTrue { throw SimulatedFailure(text()) }
  }
}
