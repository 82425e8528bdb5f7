import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// Random models, users and rights: each thing that a user gets is one that they may have, and what
/// they may have they get. Left out, as Decision 0024 lists them: keys that are taken, unique values,
/// and deletes that foreign keys forbid.
@Suite("Nobody gets what they may not have") struct RightsPropertyTests {
  /// How many observations are made; `FERRY_RIGHTS` names another number.
  private static let wanted =
    ProcessInfo.processInfo.environment["FERRY_RIGHTS"].flatMap { Int($0) } ?? 100_000

  @Test("Each observation of each user, in worlds made by chance, lies inside their rights")
  func holds() throws {
    var (checks, accepted, refused, exact, seed) = (0, 0, 0, 0, UInt64(0))
    while checks < RightsPropertyTests.wanted {
      seed += 1
      let world = try RightsWorld(seed: seed, rows: 9)
      try world.run(rounds: 12)
      try #require(world.leaks.isEmpty, "seed \(seed): \(world.leaks)")
      checks += world.checks
      accepted += world.accepted
      refused += world.refused
      exact += world.exact
    }
    // A server that refuses everything keeps every secret, and one that is never asked.
    let counted: Comment = """
      \(checks) observations in \(seed) worlds, \(accepted) operations accepted, \(refused) refused, \
      \(exact) of them with the one text that was worked out before
      """
    #expect(accepted > checks / 1_000, counted)
    #expect(refused > checks / 400, counted)
    #expect(exact > checks / 1_000, counted)
  }

  /// Each with what its leak says: another one would hide that it is not found.
  @Test(
    "A planted leak is found",
    arguments: [
      (PlantedBug.rightsFromCache, "did update Root: This Root is"),
      (.parentUnread, " Grand: This Grand is"), (.parentUnread, " Child: This Child is"),
      (.rightsOfThen, " is not among"), (.rightsOfThen, "user do not allow"),
      (.equivalentNames, " got Root"), (.rightsIgnored, " is not among"),
      (.rightsIgnored, "user do not allow"), (.rightsIgnored, ": The ref of this"),
    ])
  func found(plant: PlantedBug, told: String) throws {
    let found = try leak(told) { try RightsWorld(seed: $0, plant: plant) }
    #expect(found)
  }

  @Test("A business system that compares values before it asks whose row it is, is found")
  func comparesFirst() throws {
    let found = try leak("was told T") { try RightsWorld(seed: $0, comparesFirst: true) }
    #expect(found)
  }

  /// Whether one of the worlds 1 to 200 leaks so.
  private func leak(_ told: String, _ make: (UInt64) throws -> RightsWorld) throws -> Bool {
    for seed in UInt64(1)...200 {
      let world = try make(seed)
      try world.run(rounds: 12)
      if world.leaks.contains(where: { $0.contains(told) }) { return true }
    }
    return false
  }
}
