import Testing

/// The rules of operations, tried in every order of events up to a depth. A number that differs says
/// that a rule has changed: see `OperationMachine`.
@Suite("All orders of what happens to changes")
struct OperationExplorationTests {
  private static let both = [[0, 1], [1, 0]]

  private func explore(
    _ scope: OperationWorld.Scope, objects: Int = 2, depth: Int = .max,
    fault: OperationMachine.Fault? = nil
  ) -> OperationExploration {
    let start = OperationWorld(
      scope.keys, rows: [OperationMachine.Row](repeating: OperationMachine.absent, count: objects),
      fault: fault)
    return OperationExploration(
      start, scope, namings: objects == 1 ? [[0]] : Self.both, depth: depth)
  }

  private func expect(
    _ found: OperationExploration, states: Int, transitions: Int, complete: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(found.broken == nil, sourceLocation: sourceLocation)
    #expect(found.states == states, sourceLocation: sourceLocation)
    #expect(found.transitions == transitions, sourceLocation: sourceLocation)
    #expect(found.isComplete == complete, sourceLocation: sourceLocation)
  }

  @Test("One object with every event has so many states and no other")
  func one() {
    expect(
      explore(.init(keys: .business, unknown: true), objects: 1), states: 34, transitions: 102,
      complete: true)
    expect(
      explore(.init(keys: .app, unknown: true), objects: 1), states: 90, transitions: 394,
      complete: true)
  }

  @Test("Of two objects with keys of the business system, all properties hold in each state")
  func businessKeys() {
    expect(
      explore(.init(keys: .business, cancels: false, isReasonable: true), depth: 14), states: 1_987,
      transitions: 7_649)
    expect(explore(.init(keys: .business), depth: 11), states: 1_314, transitions: 6_477)
    expect(
      explore(.init(keys: .business, transactions: true), depth: 7), states: 1_289,
      transitions: 5_636)
  }

  @Test("Of two objects with keys of the app, all properties hold in each state")
  func appKeys() {
    expect(
      explore(.init(keys: .app, cancels: false, isReasonable: true), depth: 13), states: 1_811,
      transitions: 7_373)
    expect(explore(.init(keys: .app), depth: 9), states: 1_064, transitions: 4_756)
    expect(
      explore(.init(keys: .app, transactions: true), depth: 6), states: 1_064, transitions: 4_360)
  }

  @Test("A rule that is left out is found", arguments: OperationMachine.Fault.allCases)
  func planted(fault: OperationMachine.Fault) {
    var broken: String?
    for keys in [OperationMachine.Keys.app, .business] where broken == nil {
      broken = explore(.init(keys: keys, unknown: true), objects: 1, fault: fault).broken
      let scopes = [
        OperationWorld.Scope(keys: keys, cancels: false, isReasonable: true),
        OperationWorld.Scope(keys: keys),
        OperationWorld.Scope(keys: keys, transactions: true),
      ]
      for (scope, depth) in zip(scopes, [12, 9, 7]) where broken == nil {
        broken = explore(scope, depth: depth, fault: fault).broken
      }
    }
    #expect(broken != nil)
  }
}
