import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

extension ImportTests {
  @Test("Without a handler the data is processed all the same", .reference("sync/M3"))
  func noHandler() throws {
    let device = try Device().loggedIn()
    defer { withExtendedLifetime(device) {} }
    let store = device.store
    let shore = Shore(Shop.package)
    shore.put(Order.entity, [.integer(1), .text("ALFKI"), .null, .null])
    let session = Session(store: store, observers: Observers(), settings: SessionSettings())
    session.requestExchange()
    guard case .send(let request) = try session.next() else { throw NoRequest() }
    session.received(status: 200, on: .exchange)
    for message in try shore.respond(to: request.body) {
      try session.received(message.frame.encoded(), on: .exchange)
    }
    try session.ended(.exchange, nil)
    #expect(try Records(store).count(Order.entity) == 1)
  }
}
