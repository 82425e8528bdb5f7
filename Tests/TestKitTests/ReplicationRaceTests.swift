import Ferry
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryTestKit

/// What meets at one moment, with the timing that the test forces.
@Suite("Races of replication-based sessions", .timeLimit(.minutes(60)))
struct ReplicationRaceTests: TradeSuite {
  private let witness = StatusWitness()

  @Test(
    "A batch is completed when all of its operations are, and only finished ones are reported",
    .reference("sync/RC2", "sync/Q8")
  )
  func partOfBatch() async throws {
    let server = try await Trade.server()
    try await server.insert(Trade.Order.self, ["id": 11, "customer": 1, "city": "Ulm"])
    let database = try await device(server, witness)
    server.holdReplays()
    for id in [10, 11] as [Int64] {
      var order = try #require(
        try await Trade.Order.find(key: ObjectKey([.integer(id)]), in: database))
      order.city = "Kiel"
      try order.update()
      try order.submitPending()
    }
    try await database.synchronize(groups: ["orders"], uploadOnly: true)
    server.releaseReplays(1)
    let patience = Patience()
    while await patience.lasts(),
      server.rows(of: Trade.Order.self).count(where: { row in
        (try? row["city"] as String) == "Kiel"
      }) == 0
    {}
    try await otherDevice(server)
    #expect(!witness.statuses.contains(.asyncReplayCompleted))
    try await database.synchronize(groups: ["orders"])
    let accepted = witness.others.count { $0 == "accepted Order" }
    #expect(accepted <= 1)
    server.releaseReplays()
    await witness.hears(.finishing, times: 3)
    #expect(witness.statuses.count { $0 == .asyncReplayCompleted } == 1)
    #expect(witness.others.count { $0 == "accepted Order" } == 2)
    await server.stop()
  }

  @Test(
    "An app's session that meets the automatic one follows it, each with its own finishing",
    .reference("sync/RC3")
  )
  func meetsAutomatic() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    let mine = Mutex<SynchronizationSession?>(nil)
    witness.when { status in
      guard status == .asyncReplayCompleted else { return }
      mine.withLock {
        if $0 == nil { $0 = try? database.beginSynchronize(groups: ["orders", "master"]) }
      }
    }
    try move("Kiel", in: database)
    try await database.synchronize(groups: ["orders"], uploadOnly: true)
    await witness.hears(.finishing, times: 2)
    try await #require(mine.withLock { $0 }).value
    #expect(
      witness.statuses == [.starting, .uploading, .asyncReplayUploaded, .finishing] + automatic
        + [.starting, .downloading, .finishing])
    await server.stop()
  }

  @Test(
    "A batch that ends while the device is offline is completed when the line is back",
    .reference("sync/RC4"))
  func offline() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    server.holdReplays()
    try move("Kiel", in: database)
    try await database.synchronize(groups: ["orders"], uploadOnly: true)
    await server.setReachable(false)
    server.releaseReplays()
    await server.becomeQuiet()
    #expect(!witness.statuses.contains(.asyncReplayCompleted))
    await server.setReachable(true)
    database.networkIsBack()
    await witness.hears(.finishing, times: 2)
    #expect(try !isPending(database))
    await server.stop()
  }

  @Test(
    "An app that is killed after the upload hears of its batch after the restart",
    .reference("sync/RC13"))
  func killed() async throws {
    let server = try await Trade.server()
    var database = try await device(server, witness)
    server.holdReplays()
    try move("Kiel", in: database)
    let session = try database.beginSynchronize(groups: ["orders"], uploadOnly: true)
    await witness.hears(.asyncReplayUploaded)
    await database.close()
    // It may have ended in time.
    do { try await session.value } catch { #expect(error.code == .closed) }
    let second = StatusWitness()
    database = try await server.reopen(database, handler: second)
    server.releaseReplays()
    await second.hears(.asyncReplayCompleted)
    await second.hears(.finishing)
    #expect(second.statuses == automatic)
    #expect(try !isPending(database))
    #expect(try server.rows(of: Trade.Order.self).map { try $0["city"] as String } == ["Kiel"])
    await server.stop()
  }
}
