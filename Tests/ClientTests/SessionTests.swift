import Ferry
import FerryJSON
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

@Suite("Login and subscription, driven by hand")
struct SessionTests {
  private let device: Device
  private let shore = Shore(Shop.package)

  init() throws {
    device = try Device()
    shore.put(Order.entity, [.integer(1), .text("ALFKI"), .text("Bremen"), .null])
  }

  /// The request that the session wants now; nil when it waits.
  private func request() throws -> SessionRequest? {
    guard case .send(let request) = try device.session.next() else { return nil }
    return request
  }

  private func answer(_ status: Int, _ text: String) throws {
    device.session.received(status: status, on: .exchange)
    try device.session.received(Array(text.utf8), on: .exchange)
    try device.session.ended(.exchange, nil)
  }

  private func tokens(_ number: Int) -> String {
    #"{"accessToken":"a\#(number)","refreshToken":"r\#(number)","expiresIn":900,"user":"anna"}"#
  }

  private func logIn() throws {
    device.session.login(Credentials(user: "anna", password: "secret"))
    #expect(try request()?.path == "login")
    try answer(200, tokens(1))
  }

  private func respond(to request: SessionRequest) throws {
    try device.take(try shore.respond(to: request.body))
  }

  private func has(_ name: Settings.Name) throws -> Bool {
    try device.store.read { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in try Settings.get(name, connection) != nil }
    }
  }

  @Test(
    "A login is asked for without waiting, and its success is told",
    .reference("sync/M14", "sync/M15"))
  func login() throws {
    device.session.login(Credentials(user: "anna", password: "secret"))
    #expect(device.handler.heard.isEmpty)
    let body = try JSONNode.parse(try #require(try request()).body)
    #expect(body["user"]?.string == "anna")
    #expect(body["password"]?.string == "secret")
    #expect(body["device"]?.string?.count == 32)
    try answer(200, tokens(1))
    #expect(device.handler.heard == ["connect", "loginSuccess"])
  }

  @Test(
    "A login's answer may name any time, as whatever stands at the address may",
    arguments: [Int64.min, -1, 0, 9, 1_000_000_000_000, Int64.max])
  func tokenTime(seconds: Int64) throws {
    device.session.login(Credentials(user: "anna", password: "secret"))
    _ = try request()
    try answer(
      200, #"{"accessToken":"a","refreshToken":"r","expiresIn":\#(seconds),"user":"anna"}"#)
    try device.session.subscribe()
    #expect(try request()?.path == "exchange", "for a second at least it is taken for good")
    device.clock.advance(366 * 86_400_000)
    try answer(503, "{}")
    device.session.wake()
    #expect(try request()?.path == "token", "after a year no token is")
  }

  @Test(
    "Each request carries the token; a token that ended is renewed, then it goes on",
    .reference("sync/M12", "facts/5.10")
  )
  func renewal() throws {
    try logIn()
    try device.session.subscribe()
    let first = try #require(try request())
    #expect(first.token == "a1")
    try answer(401, #"{"code":"expiredToken","message":"m","hint":"h"}"#)
    let renewal = try #require(try request())
    #expect(renewal.path == "token")
    #expect(renewal.token == nil)
    #expect(try JSONNode.parse(renewal.body)["refreshToken"]?.string == "r1")
    try answer(200, tokens(2))
    let again = try #require(try request())
    #expect((again.path, again.token) == ("exchange", "a2"))
    try respond(to: again)
    #expect(try device.dump() == "1 ALFKI Bremen N")
    #expect(!device.handler.heard.contains { $0.hasPrefix("loginFailure") })
  }

  @Test("The state says that a login is needed while an issuer must let the user in again")
  func staleRights() throws {
    try logIn()
    try device.session.subscribe()
    #expect(try request()?.path == "exchange")
    try answer(401, #"{"code":"expiredToken","message":"m","hint":"h"}"#)
    #expect(try request()?.path == "token")
    try answer(401, #"{"code":"staleRights","message":"m","hint":"h"}"#)
    #expect(device.session.states.now.login == .needed)
    #expect(device.handler.heard.contains("loginFailure notLoggedIn"))
    try logIn()
    #expect(try request()?.path == "exchange")
    #expect(device.session.states.now.login == .done)
  }

  @Test("What an exchange brings is not reported as pending beside it; a draft is")
  func pendingBeside() throws {
    func pending(_ request: SessionRequest?) throws -> Int64? {
      guard let frame = try FrameReader.frames(of: #require(request).body).first,
        case .hello(let hello) = try Message(frame)
      else { return nil }
      return hello.facts.pending
    }
    try logIn()
    try device.session.subscribe()
    try respond(to: try #require(try request()))
    var order = device.newOrder("Kiel")
    try order.create()
    device.session.requestExchange()
    let draft = try #require(try request())
    #expect(try pending(draft) == 1)
    try respond(to: draft)
    try order.submitPending()
    let brings = try #require(try request())
    #expect(try pending(brings) == 0)
    try respond(to: brings)
    device.session.requestExchange()
    // Sent, and not answered.
    #expect(try pending(request()) == 0)
  }

  @Test(
    "Without a login nothing is sent, and the app is asked for one, once", .reference("sync/M13"))
  func noLogin() throws {
    try device.session.subscribe()
    for _ in 0..<3 { #expect(try request() == nil) }
    #expect(device.handler.heard == ["loginFailure notLoggedIn"])
  }

  @Test(
    "A refused login is told, to the subscription that waits too, and no more",
    .reference("sync/M16", "sync/RC6"))
  func refusedLogin() throws {
    try device.session.subscribe()
    device.session.login(Credentials(user: "anna", password: "wrong"))
    #expect(try request()?.path == "login")
    try answer(401, #"{"code":"wrongLogin","message":"m","hint":"h"}"#)
    #expect(device.handler.heard == ["loginFailure notLoggedIn", "subscribeFailure"])
    #expect(try request() == nil)
    #expect(try !has(.accessToken) && !has(.subscribed))
    // Nothing is stuck: with the right password the same subscription is asked for again.
    try logIn()
    try device.session.subscribe()
    try respond(to: try #require(try request()))
    #expect(device.handler.heard.contains("subscribeSuccess"))
  }

  @Test("A refused login changes nothing of what is here and of what waits", .reference("sync/M16"))
  func refusedLater() throws {
    try logIn()
    try device.session.subscribe()
    try respond(to: try #require(try request()))
    var order = try #require(try device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    let before = (try device.dump(), try device.operations().map(\.id))
    device.handler.forget()
    device.session.login(Credentials(user: "anna", password: "wrong"))
    #expect(try request()?.path == "login")
    try answer(401, #"{"code":"wrongLogin","message":"m","hint":"h"}"#)
    #expect(device.handler.heard == ["loginFailure notLoggedIn"])
    #expect(try device.dump() == before.0 && device.operations().map(\.id) == before.1)
    #expect(try has(.subscribed))
  }

  @Test(
    "After the login's success a handler subscribes, and its data comes",
    .reference("sync/M17", "sync/M24"))
  func recommended() throws {
    try logIn()
    device.handler.forget()
    try device.session.subscribe()
    try respond(to: try #require(try request()))
    #expect(
      device.handler.heard == [
        "subscribeSuccess", "import Order +1 ~0 -0", "importSuccess default",
      ])
  }

  @Test(
    "Subscribing often asks once, before the answer and after it",
    .reference("sync/M23", "sync/RC5"))
  func subscribeOften() throws {
    try logIn()
    for _ in 0..<3 { try device.session.subscribe() }
    let request = try #require(try request())
    try device.session.subscribe()
    #expect(try self.request() == nil)
    try respond(to: request)
    try device.session.subscribe()
    #expect(try self.request() == nil)
    #expect(device.handler.heard.filter { $0 == "subscribeSuccess" }.count == 1)
  }

  @Test(
    "A rejected subscription is told, and asked for again when the app says so",
    .reference("sync/M19"))
  func rejected() throws {
    try logIn()
    try device.session.subscribe()
    #expect(try request()?.path == "exchange")
    try answer(403, #"{"code":"notAllowed","message":"m","hint":"h"}"#)
    #expect(device.handler.heard.last == "subscribeFailure")
    #expect(try !has(.subscribed))
    try device.session.subscribe()
    try respond(to: try #require(try request()))
    #expect(device.handler.heard.contains("subscribeSuccess"))
    #expect(try has(.subscribed))
  }

  @Test(
    "A subscription that the server refuses in its answer is told with the reason, once",
    .reference("sync/M19"),
    arguments: [WireFailure.Code.tooManyPartitions, .unknownPackage, .protocolVersion])
  func refusedInAnswer(code: WireFailure.Code) throws {
    try logIn()
    try device.session.subscribe()
    _ = try #require(try request())
    let failure = WireFailure(code, "the server's reason", hint: "its cure")
    #expect(throws: FerryError.self) { try device.take([.failure(failure)]) }
    #expect(device.handler.heard.last == "subscribeFailure")
    // Later than what was stopped is tried by itself again.
    device.clock.advance(400_000)
    #expect(try request() == nil)
    #expect(device.session.states.now.failure?.message == "the server's reason")
    #expect(device.session.states.now.subscription == .none)
    try device.session.subscribe()
    try respond(to: try #require(try request()))
    #expect(device.handler.heard.contains("subscribeSuccess"))
  }

  @Test("A login without a network is told once, waits, and succeeds when the network is back")
  func loginOffline() throws {
    let offline = FerryError(.offline, "no network", hint: "wait", isTransient: true)
    device.session.login(Credentials(user: "anna", password: "secret"))
    for _ in 0..<3 {
      #expect(try request()?.path == "login")
      try device.session.ended(.exchange, offline)
      #expect(try request() == nil)
      #expect(device.session.states.now.login == .inProgress)
      #expect(device.session.states.now.failure?.code == .offline)
      device.session.wake()
    }
    #expect(device.handler.heard == ["loginFailure offline"])
    #expect(try request()?.path == "login")
    try answer(200, tokens(1))
    #expect(device.handler.heard.suffix(2) == ["connect", "loginSuccess"])
  }

  @Test("Being subscribed survives a restart", .reference("sync/M25"))
  func staysSubscribed() throws {
    try logIn()
    try device.session.subscribe()
    try respond(to: try #require(try request()))
    try device.restart()
    #expect(try has(.subscribed))
    device.handler.forget()
    try device.session.subscribe()
    #expect(try request() == nil)
    #expect(device.handler.heard.isEmpty)
  }

  @Test(
    "Accepted and data may come apart; what is missing comes the next time",
    .reference("sync/M18", "sync/RC7"))
  func acceptedAlone() throws {
    try logIn()
    try device.session.subscribe()
    let messages = try shore.respond(to: try #require(try request()).body)
    device.session.received(status: 200, on: .exchange)
    try device.session.received(try #require(messages.first).frame.encoded(), on: .exchange)
    #expect(device.handler.heard.last == "subscribeSuccess")
    try device.session.ended(
      .exchange, FerryError(.offline, "cut", hint: "again", isTransient: true))
    #expect(try device.dump() == "")
    device.clock.advance(60_000)
    try respond(to: try #require(try request()))
    #expect(try device.dump() == "1 ALFKI Bremen N")
  }

  @Test(
    "A start without a network is told once, tried again, and goes on with one",
    .reference("sync/M11"))
  func neverConnected() throws {
    try device.session.subscribe()
    device.session.login(Credentials(user: "anna", password: "secret"))
    for _ in 0..<3 {
      #expect(try request()?.path == "login")
      try device.session.ended(
        .exchange, FerryError(.offline, "no network", hint: "wait", isTransient: true))
      #expect(try request() == nil, "not before a while")
      device.clock.advance(600_000)
    }
    #expect(device.handler.heard.filter { $0 == "loginFailure offline" }.count == 1)
    #expect(!device.handler.heard.contains("connect"))
    #expect(try request()?.path == "login")
    try answer(200, tokens(1))
    #expect(device.handler.heard.suffix(2) == ["connect", "loginSuccess"])
    try respond(to: try #require(try request()))
    #expect(try device.dump() == "1 ALFKI Bremen N")
  }

  @Test(
    "Connected is told once, and so is its end; it is tried again after a while",
    .reference("sync/M10", "sync/M11"))
  func lines() throws {
    try logIn()
    try device.session.subscribe()
    try respond(to: try #require(try request()))
    device.session.requestExchange()
    _ = try #require(try request())
    try device.session.ended(
      .exchange, FerryError(.offline, "cut", hint: "again", isTransient: true))
    #expect(try request() == nil)
    device.clock.advance(60_000)
    try respond(to: try #require(try request()))
    #expect(
      device.handler.heard.filter { $0.hasSuffix("connect") } == [
        "connect", "disconnect", "connect",
      ]
    )
  }

  @Test("A later session brings what changed since, and only that", .reference("sync/M22"))
  func later() throws {
    try logIn()
    try device.session.subscribe()
    shore.put(Order.entity, [.integer(1), .text("ALFKI"), .null, .null])
    try respond(to: try #require(try request()))
    shore.put(Order.entity, [.integer(2), .text("BONAP"), .null, .null])
    try device.restart()
    device.handler.forget()
    #expect(try request() == nil)
    device.session.requestExchange()
    let messages = try shore.respond(to: try #require(try request()).body)
    let rows = messages.compactMap { if case .rows(let page) = $0 { page.rowCount } else { nil } }
    #expect(rows == [1])
    try device.take(messages)
    #expect(device.handler.heard.contains("import Order +1 ~0 -0"))
  }

  @Test("One exchange at a time; who asks meanwhile gets the next one", .reference("sync/RC3"))
  func oneAtATime() throws {
    try logIn()
    try device.session.subscribe()
    let first = try #require(try request())
    device.session.requestExchange()
    #expect(try request() == nil)
    try respond(to: first)
    #expect(try request()?.path == "exchange")
  }
}
