import Ferry
import FerryTestKit
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("Whether a device shows what the business system has", .timeLimit(.minutes(60)))
struct CurrentTests: TradeSuite {
  @Test(
    "current returns with everything that was committed before, in both kinds of databases",
    arguments: [SynchronizationKind.messageBased, .replicationBased])
  func current(kind: SynchronizationKind) async throws {
    let server = try await Trade.server()
    var settings = SessionSettings()
    settings.synchronization = kind
    let witness = StatusWitness()
    let database = try await device(server, witness, settings: settings)
    if kind == .messageBased { database.startBackgroundSynchronization() }
    for round in 1...5 as ClosedRange<Int64> {
      // Nobody asks the server to look: it finds the commit by itself.
      _ = server.business.changeByOther {
        $0.write("Note", ObjectKey([.integer(round)]), [.integer(round), .text("note \(round)")])
      }
      #expect(try await database.current(within: .seconds(600)) == .current)
      #expect(try Trade.Note.findAll(in: database).count == Int(round))
    }
    if kind == .replicationBased { #expect(witness.statuses.isEmpty) }
    await server.stop()
  }

  @Test("Without a line it says so at once, and since when the data is as it is")
  func offline() async throws {
    let server = try await Trade.server()
    let database = try await device(server, StatusWitness())
    let before = try database.lastSynchronizationTime(group: "master")
    await server.setReachable(false)
    let patience = Patience()
    let state = try await database.current(within: Patience.limit * 10)
    #expect(!patience.hasEnded, "it waited for the end of the limit")
    #expect(state == .stale(.offline, asOf: before))
    await server.setReachable(true)
    #expect(try await database.current(within: .seconds(600)) == .current)
    await server.stop()
  }

  @Test("A business system that is away is named, and so is a change that is not read in time")
  func businessAway() async throws {
    let server = try await Trade.server()
    let database = try await device(server, StatusWitness())
    server.setBusinessReachable(false)
    guard case .stale(.businessAway, .some) = try await database.current(within: .seconds(600))
    else {
      Issue.record("the business system is away, and nobody says so")
      return
    }
    server.setBusinessReachable(true)
    #expect(try await database.current(within: .seconds(600)) == .current)
    await server.stop()
  }

  @Test("A server whose looks take long says that it is behind, after the time that was given")
  func behind() async throws {
    let server = try await Trade.server()
    let database = try await device(server, StatusWitness())
    server.holdReplays()
    try move("Kiel", in: database)
    try await database.synchronize(groups: ["orders"], uploadOnly: true)
    // The thread that looks for changes performs the replay, which the test holds.
    let limit: Duration = .seconds(1)
    let state = try await database.current(within: limit)
    guard case .stale(let reason, .some) = state else {
      Issue.record("it takes old data for current")
      return
    }
    #expect([.serverBehind, .serverSilent].contains(reason))
    server.releaseReplays()
    #expect(try await database.current(within: .seconds(600)) == .current)
    await server.stop()
  }

  @Test("Nobody logged in, nothing subscribed: each has its reason")
  func notReady() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy", settings: Trade.replication)
    #expect(try await database.current() == .stale(.notSubscribed, asOf: nil))
    try database.subscribe()
    #expect(try await database.current() == .stale(.notLoggedIn, asOf: nil))
    await database.close()
    await #expect { _ = try await database.current() } throws: { error in
      (error as? FerryError)?.code == .closed
    }
    await server.stop()
  }
}
