import Ferry
import FerryHTTPClient
import FerrySQLite
import FerryTestKit
import FerryTesting
import Synchronization
import Testing

@testable import FerryTestKit

@Suite("Simulated tests of an app", .timeLimit(.minutes(60)))
struct SimulatedTests {
  private func report(_ bug: Visits.Bug?, seeds: ClosedRange<Int> = 1...50) async -> String? {
    await SimulatedSeeds(seeds, of: "visits", only: nil).firstFailure { _ in
      try await simulate(Visits.package) { Visits.declare($0, bug: bug) }
    }
  }

  @Test("The correct app passes every seed", .simulated(seeds: 1...50))
  func correct() async throws {
    try await simulate(Visits.package) { Visits.declare($0, bug: nil) }
  }

  @Test(
    "A bug of the app is found by a seed, and the report says how to see it again",
    arguments: [
      (Visits.Bug.savesAgain, "no visit is in the business system twice"),
      (.deletesRefused, "every noted visit is there, or waits where it was made"),
      (.savesInTwo, "no visit is there without its way back"),
    ])
  func found(bug: Visits.Bug, invariant: String) async throws {
    let report = try #require(await report(bug))
    let seed = try #require(report.firstMatch(of: /visits fails with seed (\d+):/)?.1)
    #expect(report.contains("the invariant \"\(invariant)\" does not hold"))
    #expect(report.contains("\n  1. "))
    #expect(report.hasSuffix("This seed alone: FERRY_SEED=\(seed) swift test --filter visits"))
  }

  /// The steps of one run.
  private func steps(
    _ seed: Int, _ faults: SimulatedFaults = .all, bug: Visits.Bug? = nil
  ) async throws -> [String] {
    let run = SimulatedSeed(seed, isPrinted: false)
    try await SimulatedSeed.$current.withValue(run) {
      try await simulate(Visits.package, faults: faults) { Visits.declare($0, bug: bug) }
    }
    return run.steps
  }

  @Test("A seed has the same steps each time, and another seed has others")
  func repeats() async throws {
    let (first, again, other) = (try await steps(7), try await steps(7), try await steps(8))
    for (number, (one, two)) in zip(first, again).enumerated() { #expect(one == two, "\(number)") }
    #expect(first.count == 41 && again.count == 41 && first != other)
  }

  @Test("No retry follows a fault within its step, however slow the machine")
  func lastFault() async throws {
    let server = try await TestServer(Visits.package)
    let network = SimulatedNetwork(server)
    let request = TransportRequest(url: "http://test.invalid/exchange", method: .post)
    network.begin((before: 0, fault: .lost))
    await #expect(throws: TransportError.self) { _ = try await network.send(request) }
    await #expect(throws: TransportError.self) { _ = try await network.send(request) }
    #expect(network.end() == ["request 1 is lost"])
    network.begin(nil)
    _ = try await network.send(request)
    await server.stop()
  }

  @Test("Without faults nothing goes wrong")
  func withoutFaults() async throws {
    let steps = try await steps(1, .none)
    #expect(!steps.dropLast().contains { !$0.contains(" does ") && !$0.hasSuffix("synchronizes") })
  }

  @Test("FERRY_SEED runs that seed alone, also one that is not among the seeds")
  func alone() async {
    #expect(SimulatedSeeds(1...50, of: "visits", only: "77").seeds == [77])
    #expect(SimulatedSeeds(1...3, of: "visits", only: nil).seeds == [1, 2, 3])
  }

  @Test("The trait stops at the first seed whose run throws or records an issue, and reports it")
  func trait() async throws {
    let test = try #require(Test.current)
    for throwing in [true, false] {
      let seen = Mutex<[Int]>([])
      let texts = Mutex<[String]>([])
      let reported = IssueHandlingTrait.compactMapIssues { issue in
        texts.withLock { $0.append("\(issue)") }
        return nil
      }
      try await reported.provideScope(for: test, testCase: nil) {
        try await SimulatedTrait.simulated(seeds: 1...5).provideScope(
          for: test, testCase: nil
        ) {
          let number = SimulatedSeed.current?.number ?? 0
          seen.withLock { $0.append(number) }
          guard number == 3 else { return }
          if throwing { throw FerryError(.offline, "no network", hint: "none") }
          Issue.record("the third fails")
        }
      }
      #expect(seen.withLock { $0 } == [1, 2, 3])
      let report = texts.withLock { $0.last } ?? ""
      #expect(report.contains("trait fails with seed 3:"), "\(report)")
      #expect(report.contains("FERRY_SEED=3 swift test --filter trait"))
      #expect(report.contains(throwing ? "no network" : "the third fails"))
    }
  }

  @Test("simulate says what to do where there is no seed")
  func withoutSeed() async {
    let error = await #expect(throws: FerryError.self) {
      try await simulate(Visits.package) { _ in }
    }
    #expect(error?.code == .wrongState && error?.hint.contains(".simulated(seeds:") == true)
  }

  @Test("A change that vanishes from a device is a broken promise of Ferry, and so is a wrong row")
  func promises() async throws {
    let server = try await TestServer(Visits.package)
    try await server.insert(Visits.Visit.self, ["id": 1, "place": "Bonn"])
    let ledger = SimulatedLedger()
    let device = try await SimulatedDevice(
      1, SimulatedApp.User(name: "nancy", claims: [:]), on: server,
      settings: SessionSettings(), seed: 1, ledger: ledger)
    let run = SimulatedRun(server: server, devices: [device], ledger: ledger)
    var promises = FerryPromises()
    _ = try await Visits.Visit(place: "Ulm", in: device.database).save()
    await device.becomeQuiet()
    try promises.check(run, appRan: nil)
    try promises.checkShown(run)
    let file = try Connection(path: server.file(of: device.database))
    try file.execute("DELETE FROM ferry_operation")
    #expect(throws: SimulatedFailure.self) { try promises.check(run, appRan: nil) }
    try file.execute("UPDATE Visit SET place = 'Rom' WHERE id = 1")
    let shown = #expect(throws: SimulatedFailure.self) { try promises.checkShown(run) }
    #expect(
      shown?.description.contains(#""Rom" on device 1, and "Bonn""#) == true, "\(shown as Any)")
    await server.stop()
  }
}
