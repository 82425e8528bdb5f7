import Ferry
import FerryInspection
import FerryWire
import Testing

@testable import Ferry

@Suite("The state of a database", .timeLimit(.minutes(60)))
struct DatabaseStateTests {
  private func tokens() -> [UInt8] {
    Array(#"{"accessToken":"a","refreshToken":"r","expiresIn":900,"user":"anna"}"#.utf8)
  }

  private func step(_ device: Device) throws -> SessionRequest? {
    guard case .send(let request) = try device.session.next() else { return nil }
    return request
  }

  @Test("It says who must log in, is connected and subscribed, and after a restart what is kept")
  func life() throws {
    let device = try Device()
    let shore = Shore(Shop.package)
    var state: DatabaseState { device.session.states.now }
    #expect(state.login == .needed && state.subscription == .none && !state.isConnected)
    try device.session.subscribe()
    #expect(try step(device) == nil)
    #expect(state.login == .needed && state.subscription == .inProgress)
    #expect(state.failure?.code == .notLoggedIn)
    device.session.login(Credentials(user: "anna", password: "secret"))
    _ = try #require(try step(device))
    #expect(state.login == .inProgress && state.failure == nil)
    device.session.received(status: 200, on: .exchange)
    try device.session.received(tokens(), on: .exchange)
    try device.session.ended(.exchange, nil)
    let request = try #require(try step(device))
    #expect(state.login == .done && state.isConnected)
    try device.take(try shore.respond(to: request.body))
    #expect(try step(device) == nil)
    #expect(state.subscription == .accepted && state.failure == nil)
    try device.session.suspendSubscription()
    #expect(try step(device) == nil)
    #expect(state.subscription == .suspended)
    try device.restart()
    #expect(state.login == .done && state.subscription == .suspended && !state.isConnected)
  }

  @Test("A connection that is found again is no failure any more, in the same state")
  func found() throws {
    let device = try Device()
    var state: DatabaseState { device.session.states.now }
    device.session.login(Credentials(user: "anna", password: "secret"))
    _ = try #require(try step(device))
    let error = FerryError(.offline, "nobody is there", hint: "Later.", isTransient: true)
    try device.session.ended(.exchange, error)
    #expect(try step(device) == nil)
    #expect(!state.isConnected && state.failure?.code == .offline)
    device.session.wake()
    _ = try #require(try step(device))
    device.session.received(status: 200, on: .exchange)
    try device.session.received(tokens(), on: .exchange)
    try device.session.ended(.exchange, nil)
    try device.session.postState()
    #expect(state.isConnected && state.login == .done && state.failure == nil)
  }

  @Test("A server that knows the device no more leaves it waiting for a login")
  func revoked() throws {
    let device = try Device()
    device.session.login(Credentials(user: "anna", password: "secret"))
    _ = try #require(try step(device))
    device.session.received(status: 200, on: .exchange)
    try device.session.received(tokens(), on: .exchange)
    try device.session.ended(.exchange, nil)
    try device.session.subscribe()
    for _ in 0..<2 {
      let request = try #require(try step(device))
      device.session.received(status: 401, on: request.lane)
      try device.session.ended(request.lane, nil)
    }
    #expect(try step(device) == nil)
    #expect(device.session.states.now.login == .needed)
    #expect(device.session.states.now.failure?.code == .notLoggedIn)
    #expect(try DeviceFile(path: device.path).inspection().mustLogIn)
  }

  @Test("Who follows it gets the state now, each other one, and the end with the database")
  func followed() async throws {
    let device = try Device()
    let shore = Shore(Shop.package)
    shore.put(Order.entity, [.integer(1), .text("ALFKI"), .text("Bremen"), .null])
    let database = FerryDatabase(
      device.store, ConnectionProfile(server: "http://shore"), nil,
      ShoreTransport(shore) { _, _ in }, .system())
    var states = database.states.makeAsyncIterator()
    #expect(await states.next()?.login == .needed)
    try await database.onlineLogin(user: "nancy", password: "p")
    try database.subscribe()
    try await database.synchronize()
    var last = await states.next()
    while let state = last, state.subscription != .accepted { last = await states.next() }
    #expect(last?.login == .done && last?.isConnected == true)
    #expect(database.state.subscription == .accepted)
    await database.close()
    #expect(!database.state.isConnected)
    while await states.next() != nil {}
    for await state in database.states {
      #expect(state.subscription == .accepted && !state.isConnected)
    }
  }
}
