import Ferry
import FerryTestKit
import FerryTestTraits
import Foundation
import Testing

@testable import Ferry
@testable import FerryTestKit

/// Time that passes at the word of a test.
@Suite("Time", .timeLimit(.minutes(60)))
struct TimeTests: TradeSuite {
  private static let day: Duration = .seconds(86_400)

  @Test("After 59 days a device synchronizes without a login; after 61 it is asked for one")
  func session() async throws {
    for (days, isOver) in [(59, false), (61, true)] {
      let server = try await Trade.server()
      let database = try await server.database(user: "nancy")
      await server.setReachable(false)
      await server.advance(by: TimeTests.day * days)
      await server.setReachable(true)
      database.networkIsBack()
      if isOver {
        await #expect { try await database.synchronize() } throws: {
          ($0 as? FerryError)?.code == .notLoggedIn
        }
      } else {
        try await database.synchronize()
      }
      await server.stop()
    }
  }

  @Test(
    "A device that was silent for 400 days loses nothing and sends its change once",
    .reference("sync/P23"))
  func fourHundredDays() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy")
    await server.setReachable(false)
    try move("Jena", in: database)
    await server.advance(by: TimeTests.day * 200)
    // Others work on, and what they delete is long forgotten when the device comes back.
    await server.setReachable(true)
    let others = try await server.database(user: "otto")
    for city in ["Rome", "Riga"] {
      var order = Trade.order(of: 1, city, in: others)
      try order.create()
    }
    try others.submitPendingOperations()
    try await others.synchronize(awaitingAnswers: true)
    try await server.remove(
      #require(try Trade.Order.findAll(in: others).first { $0.city == "Rome" }))
    await others.close()
    await server.setReachable(false)
    await server.advance(by: TimeTests.day * 200)
    await server.setReachable(true)
    database.networkIsBack()
    await #expect { try await database.synchronize() } throws: {
      ($0 as? FerryError)?.code == .notLoggedIn
    }
    #expect(try database.hasPendingOperations, "the change waits for the login")
    let before = server.business.history.count
    try await database.onlineLogin(user: "nancy", password: "")
    try await database.synchronize(awaitingAnswers: true)
    #expect(try !database.hasPendingOperations)
    #expect(try Trade.Order.findAll(in: database).map(\.city) == ["Jena", "Riga"])
    #expect(
      try server.rows(of: Trade.Order.self).map { try $0["city"] as String } == ["Jena", "Riga"])
    #expect(server.business.history.count == before + 1)
    await server.stop()
  }
}
