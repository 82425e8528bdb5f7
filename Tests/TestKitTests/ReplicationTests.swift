import Ferry
import FerryTestKit
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@testable import Ferry

/// The ordering tables of replication-based synchronization, each row as an exact sequence, with the
/// server that ships and a business system whose replays the test holds.
@Suite("Replication-based sessions", .timeLimit(.minutes(60)))
struct ReplicationTests: TradeSuite {
  private let witness = StatusWitness()

  @Test(
    "An upload-only session ends before its results, and a second one brings them",
    .reference("sync/R11", "sync/R12", "sync/R13", "sync/R14", "sync/R17", "sync/S4-f", "sync/S4-g")
  )
  func uploadOnly() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    server.holdReplays()
    try move("Kiel", in: database)
    let session = try database.beginSynchronize(
      groups: ["orders"], context: "evening", uploadOnly: true)
    try await session.value
    let first: [Status] = [.starting, .uploading, .asyncReplayUploaded, .finishing]
    #expect(witness.statuses == first)
    #expect(try isPending(database), "no data reaches the database in this session")
    #expect(witness.contexts.allSatisfy { $0.userContext as? String == "evening" })
    #expect(witness.groups.allSatisfy { $0 == ["orders"] })
    server.releaseReplays()
    await witness.hears(.finishing, times: 2)
    #expect(witness.statuses == first + automatic)
    #expect(witness.others == ["accepted Order", "import orders"])
    #expect(try !isPending(database))
    #expect(try city(database) == "Kiel")
    await server.stop()
  }

  @Test(
    "With awaited replay the results are here at finishing, in both call modes",
    .reference("sync/R2", "sync/R3", "sync/R4", "sync/R5", "sync/R8", "sync/R9", "sync/S4-e"),
    arguments: [true, false])
  func awaited(isBlocking: Bool) async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    try database.setAsyncReplay(false)
    try move("Kiel", in: database)
    let atFinishing = Mutex<String?>(nil)
    witness.when { status in
      guard status == .finishing else { return }
      let found = try? Trade.Order.find(key: ObjectKey([.integer(10)]), in: database)
      atFinishing.withLock { $0 = found.map { "\($0.city ?? "") \($0.isPending)" } }
    }
    if isBlocking {
      try await database.synchronize()
    } else {
      database.beginSynchronize()
      await witness.hears(.finishing)
    }
    #expect(witness.statuses == [.starting, .uploading, .downloading, .finishing])
    #expect(atFinishing.withLock { $0 } == "Kiel false")
    #expect(witness.others.contains("accepted Order"), "sync/R22: each replay is reported")
    await server.stop()
  }

  @Test(
    "A synchronous session asks once: the server holds its answer until the replay has ended",
    .reference("sync/Q7")
  )
  func held() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    server.holdReplays()
    try move("Kiel", in: database)
    let session = try database.beginSynchronize(
      groups: ["orders"], context: nil, uploadOnly: false, awaitingAnswers: true)
    await witness.hears(.uploading)
    let before = try await exchanges(of: database)
    try await otherDevice(server)
    #expect(try await exchanges(of: database) == before)
    server.releaseReplays()
    try await session.value
    #expect(try await exchanges(of: database) == before, "the answer came with the only request")
    #expect(try city(database) == "Kiel")
    await server.stop()
  }

  private func exchanges(of database: FerryDatabase) async throws -> Int {
    let count = Mutex(0)
    try await database.runner.act { session in count.withLock { $0 = session.begunExchanges } }
    return count.withLock { $0 }
  }

  @Test(
    "A full session with asynchronous replay takes what is ready, and an automatic one the rest",
    .reference("sync/R6", "sync/R20", "sync/RC1")
  )
  func fullAsync() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    server.holdReplays()
    try move("Kiel", in: database)
    try await database.synchronize()
    let first: [Status] = [
      .starting, .uploading, .asyncReplayUploaded, .downloading, .finishing,
    ]
    #expect(witness.statuses == first)
    #expect(try isPending(database), "what is not confirmed stays pending")
    server.releaseReplays()
    await witness.hears(.finishing, times: 2)
    #expect(witness.statuses == first + automatic)
    #expect(try !isPending(database))
    await server.stop()
  }

  @Test(
    "An automatic session that the app cancels at starting downloads nothing, and the next one does",
    .reference("sync/R15", "sync/R18", "sync/R19")
  )
  func automaticCancelled() async throws {
    let server = try await Trade.server()
    let isOn = Mutex(true)
    let witness = StatusWitness {
      $0.suffix(2) == [.asyncReplayCompleted, .starting] && isOn.withLock { $0 }
    }
    let database = try await device(server, witness)
    try move("Kiel", in: database)
    try await database.synchronize(groups: ["orders"], uploadOnly: true)
    await witness.hears(.starting, times: 2)
    try await otherDevice(server)
    let cancelled: [Status] = [
      .starting, .uploading, .asyncReplayUploaded, .finishing, .asyncReplayCompleted, .starting,
    ]
    #expect(witness.statuses == cancelled)
    #expect(witness.others.isEmpty)
    #expect(try isPending(database))
    isOn.withLock { $0 = false }
    witness.forget()
    try await database.synchronize(groups: ["orders"])
    #expect(witness.statuses == [.starting, .downloading, .finishing])
    #expect(try !isPending(database))
    #expect(witness.others == ["accepted Order", "import orders"])
    await server.stop()
  }

  @Test(
    "An upload-only session with awaited replay ends when the business system has decided",
    .reference("sync/R16")
  )
  func uploadOnlyAwaited() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    server.holdReplays()
    try move("Kiel", in: database)
    let session = try database.beginSynchronize(
      groups: ["orders"], context: nil, uploadOnly: true, awaitingAnswers: true)
    await witness.hears(.uploading)
    try await otherDevice(server)
    #expect(witness.statuses == [.starting, .uploading])
    server.releaseReplays()
    try await session.value
    #expect(witness.statuses == [.starting, .uploading, .finishing])
    #expect(try server.rows(of: Trade.Order.self).map { try $0["city"] as String } == ["Kiel"])
    #expect(try isPending(database), "the result comes with the next download")
    try await database.synchronize(groups: ["orders"])
    #expect(try !isPending(database))
    await server.stop()
  }

  @Test(
    "CANCEL at any status leaves a complete state, and the next session does the rest",
    .reference("sync/RC15"),
    arguments: [Status.starting, .uploading, .asyncReplayUploaded, .downloading, .finishing])
  func cancelled(at status: Status) async throws {
    let server = try await Trade.server()
    let isOn = Mutex(true)
    let witness = StatusWitness { statuses in
      statuses.last == status && isOn.withLock { $0 }
    }
    isOn.withLock { $0 = false }
    let database = try await device(server, witness)
    isOn.withLock { $0 = true }
    server.holdReplays()
    try await server.insert(Trade.Note.self, ["id": 1, "text": "new"])
    try move("Kiel", in: database)
    let session = try database.beginSynchronize(groups: ["orders"])
    do {
      try await session.value
      #expect(status == .finishing)
    } catch {
      #expect(error.code == .cancelled)
      #expect(try Trade.Note.findAll(in: database).isEmpty, "nothing is visible in part")
    }
    let whole: [Status] = [
      .starting, .uploading, .asyncReplayUploaded, .downloading, .finishing,
    ]
    #expect(witness.statuses == Array(whole.prefix { $0 != status }) + [status])
    #expect(try isPending(database))
    isOn.withLock { $0 = false }
    server.releaseReplays()
    try await database.synchronize(groups: ["orders"], awaitingAnswers: true)
    #expect(try Trade.Note.findAll(in: database).map(\.text) == ["new"])
    #expect(try !isPending(database))
    #expect(try city(database) == "Kiel")
    #expect(server.business.history.count <= 4, "nothing was done twice")
    await server.stop()
  }

  @Test("A session of one group neither sends, loads nor reports another one")
  func oneGroup() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    var customer = Trade.customer("Grace", in: database)
    try customer.create()
    try customer.submitPending()
    try await server.insert(Trade.Customer.self, ["id": 2, "name": "Bob"])
    try await server.insert(Trade.Note.self, ["id": 1, "text": "new"])
    try await database.synchronize(groups: ["orders"])
    #expect(witness.statuses == [.starting, .downloading, .finishing])
    #expect(witness.others == ["import orders"])
    #expect(try Trade.Note.findAll(in: database).count == 1)
    #expect(try Trade.Customer.findAll(in: database).map(\.name).sorted() == ["Ada", "Grace"])
    #expect(server.rows(of: Trade.Customer.self).count == 2)
    try await database.synchronize(groups: ["master"], awaitingAnswers: true)
    #expect(
      try Trade.Customer.findAll(in: database).map(\.name).sorted() == ["Ada", "Bob", "Grace"])
    await server.stop()
  }

  @Test("What refers to a new object of another group waits until that one has its key")
  func dependency() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    var customer = Trade.customer("Grace", in: database)
    try customer.create()
    try customer.submitPending()
    var order = Trade.order(of: customer.id, "Jena", in: database)
    try order.create()
    try order.submitPending()
    try await database.synchronize(groups: ["orders"], awaitingAnswers: true)
    #expect(server.rows(of: Trade.Order.self).count == 1, "it does not overtake the customer")
    #expect(try !database.isReplayQueueEmpty)
    try await database.synchronize(groups: ["master"], awaitingAnswers: true)
    try await database.synchronize(groups: ["orders"], awaitingAnswers: true)
    let grace = try #require(server.rows(of: Trade.Customer.self).last)
    let jena = try #require(server.rows(of: Trade.Order.self).last)
    #expect(try grace["id"] as Int64 == jena["customer"] as Int64)
    #expect(try database.isReplayQueueEmpty)
    await server.stop()
  }

  @Test("What one transaction changed in two groups goes with a session of either")
  func transaction() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    let known = try #require(
      try await Trade.Customer.find(key: ObjectKey([.integer(1)]), in: database))
    try await database.transaction { () throws(FerryError) in
      var customer = known
      customer.name = "Grace"
      try customer.update()
      var order = Trade.order(of: 1, "Jena", in: database)
      try order.create()
    }
    try database.submitPendingOperations()
    try await database.synchronize(groups: ["orders"], awaitingAnswers: true)
    #expect(try server.rows(of: Trade.Customer.self).map { try $0["name"] as String } == ["Grace"])
    #expect(server.rows(of: Trade.Order.self).count == 2)
    await server.stop()
  }

  @Test(
    "Subscribe brings no rows to a replication-based database", .reference("sync/I6", "sync/I8"))
  func subscribed() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    let fresh = try server.newDatabase(user: "nancy", settings: Trade.replication)
    try await fresh.onlineLogin(user: "nancy", password: "")
    try fresh.subscribe()
    fresh.startBackgroundSynchronization()
    for await state in fresh.states where state.subscription == .accepted { break }
    try await otherDevice(server)
    #expect(try Trade.Order.findAll(in: fresh).isEmpty)
    try await fresh.synchronize()
    #expect(try Trade.Order.findAll(in: fresh).count == 1)
    _ = database
    await server.stop()
  }

  @Test("asyncReplay is kept over restarts, and beginSynchronize heeds it", .reference("sync/R7"))
  func asyncReplayKept() async throws {
    let server = try await Trade.server()
    var database = try await device(server, witness)
    #expect(try database.asyncReplay)
    try database.setAsyncReplay(false)
    database = try await server.reopen(database, handler: witness)
    #expect(try !database.asyncReplay)
    try move("Kiel", in: database)
    database.beginSynchronize()
    await witness.hears(.finishing)
    #expect(witness.statuses == [.starting, .uploading, .downloading, .finishing])
    await server.stop()
  }

  @Test(
    "A session without changes starts, downloads and finishes, each once",
    .reference("sync/R1", "sync/R10"))
  func nothingToSend() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    let session = try database.beginSynchronize(groups: ["orders", "master"])
    var statuses: [Status] = []
    for await context in session.statuses where statuses.last != context.status {
      statuses.append(context.status)
    }
    #expect(statuses == [.starting, .downloading, .finishing])
    #expect(witness.contexts.filter { $0.status == .finishing }.count == 1)
    await server.stop()
  }

  @Test("A group that does not exist, no group, no subscription and no login are clear errors")
  func badInput() async throws {
    let server = try await Trade.server()
    let database = try await device(server, witness)
    #expect { try database.beginSynchronize(groups: ["order"]) } throws: { error in
      (error as? FerryError)?.message == "Trade:1.0 has no synchronization group order"
        && (error as? FerryError)?.hint.contains("orders") == true
    }
    #expect { try database.beginSynchronize(groups: []) } throws: { error in
      (error as? FerryError)?.code == .invalidQuery
    }
    let fresh = try server.newDatabase(user: "nancy", settings: Trade.replication)
    await #expect { try await fresh.synchronize(groups: ["orders"]) } throws: { error in
      (error as? FerryError)?.code == .notSubscribed
    }
    await #expect { try await fresh.synchronize(groups: ["orders"], uploadOnly: true) } throws: {
      error in (error as? FerryError)?.code == .notLoggedIn
    }
    await server.stop()
  }
}
