import Ferry
import FerryTestKit
import Testing

@testable import Ferry

@Suite("The order of objects whose key is temporary", .timeLimit(.minutes(60)))
struct TemporaryOrderTests {
  private typealias Order = Trade.Order

  @Test("New objects come last, as they were created, until they have their keys")
  func newOnes() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy")
    server.holdReplays()
    for city in ["Ulm", "Kiel", "Trier"] {
      var record = ObjectRecord(Order.entity, in: database)
      record.set(1, 1 as Int64)
      record.set(2, city)
      try await Order(record: record).save()
    }
    let customer = try #require(try await Trade.Customer.find(in: database).first)
    let orders: [Order] = try await customer.record.referring(by: "buyer")
    #expect(orders.map(\.city) == ["Bonn", "Ulm", "Kiel", "Trier"])
    await server.stop()
  }
}
