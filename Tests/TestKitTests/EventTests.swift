import Ferry
import FerryReference
import FerryTestKit
import Foundation
import Synchronization
import Testing

@Suite("The stream of events", .timeLimit(.minutes(60)))
struct EventTests {
  private typealias Customer = Trade.Customer
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await Trade.server()
    database = try await server.database(user: "nancy")
  }

  /// The first event that `pick` takes.
  private func first<Result: Sendable>(
    _ events: AsyncStream<FerryDatabase.Event>, _ pick: (FerryDatabase.Event) -> Result?
  ) async -> Result? {
    for await event in events { if let result = pick(event) { return result } }
    return nil
  }

  @Test("An accepted and a refused change are events, with the object and the reason")
  func answers() async throws {
    server.refuse(Customer.self, code: 409, "no Cy") { try $0["name"] == "Cy" }
    let events = database.events
    try await Trade.customer("Ben", in: database).save()
    try await database.synchronize(awaitingAnswers: true)
    let accepted = await first(events) {
      if case .accepted(let reference) = $0 { reference } else { nil }
    }
    let ben = try #require(try await accepted?.as(Customer.self, in: database))
    #expect(ben.name == "Ben" && ben.id == 2)
    #expect(try await accepted?.as(Trade.Order.self, in: database) == nil)

    try await Trade.customer("Cy", in: database).save()
    try await database.synchronize(awaitingAnswers: true)
    let refused = await first(events) {
      if case .refused(let reference, let refusal) = $0 { (reference, refusal) } else { nil }
    }
    let (reference, refusal) = try #require(refused)
    #expect(refusal == Ferry.Refusal(code: 409, message: "no Cy"))
    var cy = try #require(try await reference.as(Customer.self, in: database))
    cy.name = "Cyril"
    try await cy.save()
    try await database.synchronize(awaitingAnswers: true)
    #expect(
      try server.rows(of: Customer.self).map { try $0["name"] as String } == [
        "Ada", "Ben", "Cyril",
      ])
    await server.stop()
  }

  @Test("The constraint, detail and hint of a refusal reach the app, also after a restart")
  func words() async throws {
    server.refuse(
      Customer.self, code: 412, "no Cy", constraint: "customer_name", detail: "Cy is taken.",
      hint: "Choose another name.")
    try await Trade.customer("Cy", in: database).save()
    try await database.synchronize(awaitingAnswers: true)
    let wanted = Ferry.Refusal(
      code: 412, message: "no Cy", constraint: "customer_name", detail: "Cy is taken.",
      hint: "Choose another name.")
    let again = try await server.reopen(database)
    let refused = await first(again.events) {
      if case .refused(let reference, let refusal) = $0 { (reference, refusal) } else { nil }
    }
    #expect(refused?.1 == wanted)
    let cy = try #require(try await refused?.0.as(Customer.self, in: again))
    #expect(try await again.refusal(of: cy) == wanted)
    await server.stop()
  }

  @Test("Each loop has all events, an import names the entities, and close ends the loops")
  func loops() async throws {
    let (one, two) = (database.events, database.events)
    try await server.insert(Customer.self, ["id": 7, "name": "Gus"])
    try await database.synchronize()
    for events in [one, two] {
      let entities = await first(events) { event -> Set<String>? in
        if case .imported(let entities) = event, !entities.isEmpty { entities } else { nil }
      }
      #expect(entities == ["Customer"])
    }
    await database.close()
    // Ends: what was reported before is read first.
    for await _ in one {}
    #expect(await first(database.events) { _ in true } == nil)
    await server.stop()
  }

  @Test("A lost and a found network are events, and so is a login that the server refuses")
  func network() async throws {
    let events = database.events
    await server.setReachable(false)
    _ = try? await database.synchronize()
    let error = await first(events) {
      if case .disconnected(let error) = $0 { error } else { nil }
    }
    #expect(error?.code == .offline)
    await server.setReachable(true)
    try await database.synchronize()
    #expect(
      await first(events) { if case .connected = $0 { true } else { nil } } == true)
    try await database.signOut()
    server.refuseLogin(user: "nancy")
    _ = try? await database.onlineLogin(user: "nancy", password: "p")
    let login = await first(events) {
      if case .signInNeeded(let error) = $0 { error } else { nil }
    }
    #expect(login?.code == .notLoggedIn)
    await server.stop()
  }

  @Test("What came while nobody followed comes first, also after a restart, and once")
  func owed() async throws {
    server.refuse(Customer.self, code: 422, "no")
    try await Trade.customer("Ben", in: database).save()
    try await database.synchronize(awaitingAnswers: true)
    let again = try await server.reopen(database)
    let isRefused: (FerryDatabase.Event) -> Bool? = {
      if case .refused = $0 { true } else { nil }
    }
    #expect(await first(again.events, isRefused) == true)
    // Heard: the next loop begins with what comes later.
    let later = again.events
    try await server.insert(Customer.self, ["id": 7, "name": "Gus"])
    try await again.synchronize()
    let next = await first(later) { event -> String? in
      switch event {
      case .refused: "refused"
      case .imported(let entities) where entities.contains("Customer"): "imported"
      default: nil
      }
    }
    #expect(next == "imported")
    await server.stop()
  }

  @Test("A callback handler and a loop hear the same, each once")
  func both() async throws {
    let handler = StatusWitness()
    database.registerCallbackHandler(handler)
    let events = database.events
    try await Trade.customer("Ben", in: database).save()
    try await database.synchronize(awaitingAnswers: true)
    let accepted = await first(events) { if case .accepted = $0 { true } else { nil } }
    #expect(accepted == true)
    #expect(handler.others.filter { $0 == "accepted Customer" }.count == 1)
    await database.close()
    var more = 0
    for await event in events { if case .accepted = event { more += 1 } }
    #expect(more == 0)
    await server.stop()
  }
}
