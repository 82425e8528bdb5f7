import FerryWorld
import Foundation
import Testing

/// The bugs that `ferry simulate` plants on purpose, by the command as it is called by hand.
@Suite("Bugs on purpose", .serialized)
struct PlantTests {
  /// The invariants that each bug can break.
  ///
  /// Two of them break what is looked at first: a number that was drawn early belongs to a row that
  /// comes behind the clock (8), which a page has too soon (11), an import lacks (4) or a load puts
  /// back (10), or is missing in a sum (9); an older snapshot ends a download too low (9), before what
  /// a device has (8), or without rows of its checkpoint (4). What a reset sweeps away may be an
  /// answered change, of which the app is never told (7). Rows of rights that have ended are no state
  /// of the server (4). A restored server that opens no era gives a number twice: devices lack rows
  /// (4, 8), or their sums are wrong (9).
  private static let broken: [PlantedBug: Set<Int>] = [
    .sequence: [4, 8, 9, 10, 11], .fixedBound: [4, 8, 9], .noMark: [10], .idAtSubmit: [2],
    .answerAfterCheckpoint: [6], .leaveIgnoresPartition: [4, 9], .stagedFloor: [4, 9],
    .olderSnapshot: [4, 8, 9], .baseNotMoved: [6], .retryUnknown: [2, 5], .forgottenOriginal: [4],
    .interestAfterRead: [9], .eraNotOpened: [4, 8, 9], .loadIgnoresClaim: [5, 6],
    .contentUnchecked: [4], .saveDropsValue: [1], .rollbackKeeps: [1], .callbackKept: [7],
    .lostAttribute: [2], .groupInParts: [3], .staleClaims: [4, 9, 11],
    .resetSweepsPending: [7, 12],
    .endlessRound: [13], .numberAhead: [8], .unknownAlways: [2], .rightsIgnored: [11],
    .rightsFromCache: [11], .parentUnread: [11], .rowsNotHeld: [11],
    .rightsOfThen: [11], .referenceAhead: [3],
    .equivalentNames: [4, 9, 11], .chosenKey: [3, 11],
    .cancelHalf: [5, 9], .groupOvertakes: [3],
    .cursorBeforeCache: [9], .captureAfterCompare: [9], .oldKeyUnseen: [9],
    .recallTooEarly: [2, 5], .markIgnored: [9],
    .leaseWithoutTerm: [2, 8, 10], .fenceWithoutError: [2, 8, 10], .refusedThenPerformed: [2],
    .nodeBehind: [8], .readBeforeLock: [4, 8, 9],
    .wipeWithoutReceipt: [11], .currentTooEarly: [9], .batchForgotten: [7], .familyTooStrict: [11],
    .familyNeverEnds: [11], .oldRightsOfIssuer: [11],
    .claimUnasked: [4, 9, 11], .setForgotten: [9], .pieceUnasked: [11], .answeredOnce: [6, 9],
    .batchBelieved: [9], .windowForgotten: [4, 9, 11],
    .noticeOverClaim: [4, 5, 6, 7, 10], .olderNoticeWins: [10], .offsetSkips: [10],
    .idempotencyOtherBody: [2, 3],
  ]

  /// Where the search begins for those that the first twenty seeds do not find, to save time.
  private static let firstSeeds: [PlantedBug: Int] = [
    .loadIgnoresClaim: 81, .batchForgotten: 41, .familyNeverEnds: 21, .rowsNotHeld: 21,
    .refusedThenPerformed: 81, .idempotencyOtherBody: 11,
  ]

  /// All of them, or those that FERRY_PLANTS names.
  private static let drawn: [PlantedBug] = {
    guard let names = ProcessInfo.processInfo.environment["FERRY_PLANTS"] else {
      return PlantedBug.allCases
    }
    return names.split(separator: " ").map { name in
      guard let bug = PlantedBug(rawValue: String(name)) else {
        preconditionFailure("FERRY_PLANTS names \(name), and no planted bug is called so")
      }
      return bug
    }
  }()

  private struct Failed: Decodable {
    let seed: Int
    let invariant: Int
    let step: Int
    let failure: String
  }

  @Test(
    "Seeds 1-200 find each bug: exit 1, seed and invariant are named, and without it the run holds",
    arguments: drawn)
  func found(bug: PlantedBug) throws {
    let nodes =
      bug.isOfNodes ? ["--nodes", "2"] : bug.isOfREST ? ["--business", "rest"] : []
    let first = PlantTests.firstSeeds[bug] ?? 1
    let end = try RunningFerry.run(
      ["simulate", "--plant", bug.rawValue, "--seeds", "\(first)-200", "--json"] + nodes,
      withErrors: false)
    #expect(end.code == 1)
    let failed = end.said.split(separator: "\n").filter { $0.contains(#""invariant":"#) }
      .compactMap { try? JSONDecoder().decode(Failed.self, from: Data($0.utf8)) }
    let found = try #require(failed.first, "nothing was found")
    let invariants = try #require(PlantTests.broken[bug])
    #expect(invariants.contains(found.invariant), "seed \(found.seed): \(found.failure)")
    #expect(found.failure.hasPrefix("invariant \(found.invariant) at step \(found.step): "))
    let control = try RunningFerry.run(
      ["simulate", "--seed", String(found.seed), "--steps", String(max(1, found.step))] + nodes)
    #expect(control.code == 0, "without the bug: \(control.said)")
  }
}
