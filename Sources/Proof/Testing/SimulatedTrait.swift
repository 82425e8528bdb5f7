import FerryTestKit
public import Testing

/// Runs a test once with each seed of a simulation; see `simulated(seeds:)`.
public struct SimulatedTrait: TestTrait, TestScoping {
  let seeds: ClosedRange<Int>

  /// Swift Testing calls it around the test.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let name = String(test.name.prefix { $0 != "(" })
    let report = await SimulatedSeeds(seeds, of: name).firstFailure { seed in
      let watch = IssueHandlingTrait.compactMapIssues { issue in
        if issue.isFailure { seed.fail("\(issue)") }
        return issue
      }
      try await watch.provideScope(for: test, testCase: testCase, performing: function)
    }
    if let report {
      Issue.record(Comment(rawValue: report), sourceLocation: test.sourceLocation)
    }
  }
}

extension Trait where Self == SimulatedTrait {
  /// Runs the test once with each seed, one after the other, until one fails. The test calls
  /// `simulate`.
  ///
  /// The failure shows the seed, the steps, and the line with which this seed alone runs again:
  /// `FERRY_SEED=17 swift test --filter everyVisitArrivesOnce`. With `FERRY_SEED` each step is also
  /// printed as it happens.
  public static func simulated(seeds: ClosedRange<Int> = 1...50) -> Self {
    SimulatedTrait(seeds: seeds)
  }
}
