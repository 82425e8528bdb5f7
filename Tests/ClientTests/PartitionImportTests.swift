import Ferry
import FerryWire
import Testing

@testable import Ferry

@Suite("Pages and partitions on the device")
struct PartitionImportTests {
  @Test(
    "A row that moves between two partitions of the device is one row, in either order of arrival")
  func moves() throws {
    let shop = try Stocked()
    shop.shore.partitions = [1, 2]
    try shop.device.exchange(shop.shore)
    shop.shore.put(
      Order.entity, [.integer(1), .text("ALFKI"), .text("Kiel"), .null], partition: 2)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.dump() == "1 ALFKI Kiel N\n2 ALFKI Bremen N\n3 ALFKI Bremen N")
    shop.shore.put(
      Order.entity, [.integer(1), .text("ALFKI"), .text("Jena"), .null], partition: 1)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(1)?.city == "Jena")
  }

  @Test("A partition that is no longer the user's goes with the next import; what is pending stays")
  func dropped() throws {
    let shop = try Stocked()
    shop.shore.partitions = [1, 2]
    shop.shore.put(Order.entity, [.integer(8), .text("BONAP"), .null, .null], partition: 2)
    try shop.device.exchange(shop.shore)
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    shop.shore.partitions = [2]
    try shop.device.exchange(shop.shore)
    #expect(
      try shop.device.dump() == "1 ALFKI Kiel U\n8 ALFKI - N".replacing("8 ALFKI", with: "8 BONAP"))
  }

  @Test(
    "A partition that comes back before the import that would drop it is downloaded from its start")
  func droppedAndBack() throws {
    let shop = try Stocked()
    shop.shore.partitions = [1, 2]
    shop.shore.put(Order.entity, [.integer(8), .text("BONAP"), .null, .null], partition: 2)
    try shop.device.exchange(shop.shore)
    shop.shore.partitions = [1]
    let cut = try shop.shore.respond(to: try #require(try shop.device.request()).body)
    // The word that it is gone comes, and then the line breaks.
    try shop.device.take(Array(cut.prefix(1)))
    shop.shore.partitions = [1, 2]
    shop.shore.put(Order.entity, [.integer(9), .text("BONAP"), .null, .null], partition: 2)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.orders().map(\.id) == [1, 2, 3, 8, 9])
  }

  @Test(
    "A reset partition is downloaded anew: what is gone goes, what stays keeps its surrogate key")
  func reset() throws {
    let shop = try Stocked()
    let before = try #require(try shop.device.order(2)).surrogateKey
    shop.shore.remove(Order.entity, ObjectKey([.integer(3)]))
    shop.shore.resets = [1]
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.dump() == "1 ALFKI Bremen N\n2 ALFKI Bremen N")
    #expect(try shop.device.order(2)?.surrogateKey == before)
  }

  @Test("Sums that do not agree change nothing, and the partition is repaired by itself")
  func wrongSum() throws {
    let shop = try Stocked()
    shop.shore.put(Order.entity, [.integer(4), .text("BONAP"), .null, .null])
    shop.shore.sumError = 7
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.orders().count == 3, "nothing was imported")
    shop.shore.sumError = 0
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.orders().map(\.id) == [1, 2, 3, 4])
  }

  @Test("Pages that come twice, in another order or from elsewhere are thrown away")
  func disorder() throws {
    let shop = try Stocked()
    for id in 4...9 {
      shop.shore.put(Order.entity, [.integer(Int64(id)), .text("BONAP"), .null, .null])
    }
    let request = try #require(try shop.device.request())
    let messages = try shop.shore.respond(to: request.body)
    #expect(messages.count > 4)
    try shop.device.take([messages[0], messages[2], messages[1], messages[1]] + messages[3...])
    #expect(try shop.device.orders().count == 3, "without all pages there is no checkpoint")
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.orders().count == 9)
  }

  @Test("A download that breaks goes on where it was, after a restart too")
  func resumed() throws {
    let shop = try Stocked()
    for id in 4...9 {
      shop.shore.put(Order.entity, [.integer(Int64(id)), .text("BONAP"), .null, .null])
    }
    let request = try #require(try shop.device.request())
    let messages = try shop.shore.respond(to: request.body)
    try shop.device.take(Array(messages.prefix(3)))
    try shop.device.restart()
    let again = try #require(try shop.device.request())
    let rest = try shop.shore.respond(to: again.body)
    #expect(rest.count < messages.count, "pages that are here are not sent again")
    try shop.device.take(rest)
    #expect(try shop.device.orders().count == 9)
  }
}
