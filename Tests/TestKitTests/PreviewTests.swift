import Ferry
import FerryReference
import FerryTestKit
import Testing

@Suite("A database for previews")
struct PreviewTests {
  @Test("Sample rows look downloaded, follow each other by key, and are seen by live queries")
  func sample() async throws {
    let database = FerryDatabase.preview(Trade.package) { database in
      [
        Trade.customer("Ada", in: database), Trade.customer("Ben", in: database),
        Trade.order(of: 2, "Bonn", in: database),
      ]
    }
    let customers = try await Trade.Customer.find(in: database)
    #expect(customers.map(\.id) == [1, 2] && customers.map(\.name) == ["Ada", "Ben"])
    #expect(customers.allSatisfy { !$0.isPending && !$0.isNew })
    let order = try #require(try await Trade.Order.first(in: database))
    let buyer: Trade.Customer? = try await order.record.related("buyer")
    #expect(order.id == 1 && buyer?.name == "Ben")
    #expect(try !database.hasPendingOperations)

    let live = Trade.Customer.live(in: database).makeAsyncIterator()
    #expect(try await live.next()?.count == 2)
    var ada = customers[0]
    ada.name = "Anna"
    try await ada.save()
    #expect(try await live.next()?.first?.name == "Anna")
    #expect(try Trade.Customer.countReplayPendingObjects(in: database) == 0)
    await database.close()
  }

  @Test("Each call is a database of its own, without rows unless they are given")
  func apart() async throws {
    let (one, two) = (
      FerryDatabase.preview(Trade.package) { [Trade.customer("Ada", in: $0)] },
      FerryDatabase.preview(Trade.package)
    )
    #expect(try await Trade.Customer.count(in: one) == 1)
    #expect(try await Trade.Customer.count(in: two) == 0)
    for database in [one, two] { await database.close() }
  }
}
