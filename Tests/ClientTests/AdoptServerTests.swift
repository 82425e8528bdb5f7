import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import Testing

@testable import Ferry

@Suite("A server that was replaced for good")
struct AdoptServerTests {
  private let shop: Stocked
  /// What stands at the address now: the same rows, and another server's numbers.
  private let replaced = Shore(Shop.package)

  init() throws {
    shop = try Stocked()
    replaced.server = "server-2"
    replaced.era = "era-2"
    for id in [3, 2, 1] as [Int64] {
      replaced.put(Order.entity, [.integer(id), .text("ALFKI"), .text("Bremen"), .text("1.5")])
    }
  }

  private func edit(_ id: Int64, _ city: String) throws {
    var order = try #require(try shop.device.order(id))
    order.city = city
    try order.update()
    try order.submitPending()
  }

  private func settings() throws -> [String?] {
    try shop.device.store.read { connection throws(FerryError) in
      try shop.device.store.sql { () throws(SQLiteError) in
        [try Settings.get(.server, connection), try Settings.get(.accessToken, connection)]
      }
    }
  }

  @Test("Another server is refused by the code that says so")
  func refused() throws {
    let request = try #require(try shop.device.request())
    let failure = WireFailure(.otherServer, "the device belongs to another", hint: "Adopt it.")
    let error = #expect(throws: FerryError.self) { try shop.device.take([.failure(failure)]) }
    #expect(error?.code == .otherOwner)
    #expect(error?.hint == "Adopt it.")
    #expect(error?.isTransient == false)
    withExtendedLifetime(request) {}
  }

  @Test(
    "What waits goes to the server that is adopted, what was sent as perhaps done, and all is shown"
  )
  func adopted() throws {
    try edit(1, "Kiel")
    try shop.device.exchange(shop.shore)
    try edit(2, "Jena")
    let before = try shop.device.dump()
    let sent = try #require(try shop.device.operations().first).id

    try shop.device.session.adoptServer()
    #expect(try settings() == [nil, nil])
    #expect(try shop.device.dump() == before)
    _ = try shop.device.loggedIn()
    let request = try #require(try shop.device.request())
    let messages = try FrameReader.frames(of: request.body).map(Message.init)
    let hello = messages.compactMap { if case .hello(let hello) = $0 { hello } else { nil } }.first
    #expect(hello?.server == nil)
    #expect(hello?.groups.map(\.era) == [""])
    let replay = messages.compactMap { if case .replay(let replay) = $0 { replay } else { nil } }
      .first
    #expect(replay?.operations.count == 2)
    #expect(replay?.mayHaveRun == [sent])
    replaced.resets = replaced.partitions
    try shop.device.take(try replaced.respond(to: request.body))
    #expect(try settings().first == "server-2")
    #expect(try shop.device.dump() == before)
    for id in replaced.stored.keys { replaced.accept(id) }
    try shop.device.exchange(replaced)
    #expect(try shop.device.operations().isEmpty)
    #expect(
      try shop.device.dump() == "1 ALFKI Kiel N\n2 ALFKI Jena N\n3 ALFKI Bremen N")
  }

  @Test("What the old server still says after that is for nobody")
  func late() throws {
    try edit(1, "Kiel")
    let request = try #require(try shop.device.request())
    let answer = try shop.shore.respond(to: request.body)
    try shop.device.session.adoptServer()
    try shop.device.take(answer)
    #expect(try settings() == [nil, nil])
    #expect(try shop.device.operations().map(\.state) == [.submitted])
    // The rows of the old server are no start for those of the new one.
    _ = try shop.device.loggedIn()
    shop.device.handler.forget()
    replaced.resets = replaced.partitions
    try shop.device.exchange(replaced)
    #expect(try settings().first == "server-2")
    #expect(try shop.device.dump() == "1 ALFKI Kiel U\n2 ALFKI Bremen N\n3 ALFKI Bremen N")
  }
}
