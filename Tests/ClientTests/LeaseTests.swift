import Ferry
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// How long the data of a device may be used without its server.
@Suite("The lease on the data, driven by hand")
struct LeaseTests {
  private static let day: Int64 = 86_400_000
  private let device: Device
  private let shore = Shore(Shop.package)

  init() throws {
    device = try Device()
    shore.put(Order.entity, [.integer(1), .text("ALFKI"), .text("Bremen"), .null])
  }

  private func send(_ path: String) throws {
    guard case .send(let request) = try device.session.next() else {
      Issue.record("nothing is sent")
      return
    }
    #expect(request.path == path)
  }

  /// Logs in with a lease of so many days, and imports.
  private func begin(lease days: Int64, session: Int64 = 60) throws {
    device.session.login(Credentials(user: "anna", password: "secret"))
    try send("login")
    try answer(lease: days, session: session)
    try device.session.subscribe()
    try device.exchange(shore)
    device.handler.forget()
  }

  private func answer(lease days: Int64?, session: Int64) throws {
    var answer = LoginAnswer(
      accessToken: "a", refreshToken: "r", expiresIn: 900, user: "anna")
    answer.lease = days.map { $0 * 86_400 }
    answer.sessionExpiresIn = session * 86_400
    device.session.received(status: 200, on: .exchange)
    try device.session.received(answer.encoded(), on: .exchange)
    try device.session.ended(.exchange, nil)
  }

  private func isOpen() throws -> Bool {
    do {
      _ = try device.orders()
      return true
    } catch let error as FerryError where error.code == .leaseEnded {
      return false
    }
  }

  private func renew(lease days: Int64?) throws {
    // The access token has ended by then, unless the clock was set back.
    device.clock.advance(1_000_000)
    device.session.requestExchange()
    guard case .send(let request) = try device.session.next() else {
      Issue.record("nothing is sent")
      return
    }
    guard request.path == "token" else {
      try device.take(try shore.respond(to: request.body))
      return
    }
    try answer(lease: days, session: 60)
    try device.exchange(shore)
  }

  @Test(
    "After the days of the lease nothing is read or saved, and the server's answer opens it again")
  func closes() throws {
    try begin(lease: 10)
    var order = try #require(try device.order(1))
    device.clock.advance(8 * Self.day)
    _ = try device.session.next()
    #expect(device.handler.heard.contains("leaseEnd false"), "announced before")
    #expect(try isOpen())
    order.city = "Kiel"
    try order.update()
    device.clock.advance(2 * Self.day)
    #expect(try !isOpen())
    #expect(throws: FerryError.self) { _ = try device.order(1) }
    #expect(throws: FerryError.self) {
      order.city = "Ulm"
      try order.update()
    }
    _ = try device.session.next()
    #expect(device.handler.heard.contains("leaseEnd true"))
    // A restart changes nothing.
    try device.restart()
    #expect(try !isOpen())
    try renew(lease: 10)
    #expect(try isOpen())
    #expect(try device.order(1)?.city == "Kiel", "what was pending is there")
  }

  @Test("A clock that is set back gives no time, over restarts")
  func setBack() throws {
    try begin(lease: 10)
    device.clock.advance(9 * Self.day)
    _ = try device.session.next()
    device.clock.advance(-Self.day / 2)
    #expect(try isOpen(), "a small correction closes nothing")
    device.clock.advance(-8 * Self.day)
    #expect(try !isOpen(), "nobody knows how much time went by")
    try device.restart()
    #expect(try !isOpen())
    try renew(lease: 10)
    #expect(try isOpen())
    // From there the time runs anew.
    device.clock.advance(9 * Self.day)
    #expect(try isOpen())
    device.clock.advance(Self.day)
    #expect(try !isOpen())
  }

  @Test("A clock a year ahead that is corrected costs one connection")
  func ahead() throws {
    device.clock.advance(365 * Self.day)
    try begin(lease: 10)
    device.clock.advance(-365 * Self.day)
    #expect(try !isOpen())
    try renew(lease: 10)
    #expect(try isOpen())
    device.clock.advance(10 * Self.day)
    #expect(try !isOpen())
  }

  @Test("Without a lease, or where the operator takes it back, the data is never closed")
  func none() throws {
    try begin(lease: 10)
    try renew(lease: nil)
    device.clock.advance(4_000 * Self.day)
    #expect(try isOpen())
  }

  @Test("Seven days before its session ends the app hears it, once", .reference("facts/1.7"))
  func sessionEnd() throws {
    try begin(lease: 0, session: 60)
    #expect(!device.handler.heard.contains("sessionEnd"))
    device.clock.advance(53 * Self.day)
    try device.session.announceSessionEnd()
    try device.session.announceSessionEnd()
    #expect(device.handler.heard.count { $0 == "sessionEnd" } == 1)
  }

  @Test("The machine of the lease, at its edges")
  func machine() throws {
    var lease = LeaseMachine(length: 10, contact: 100)
    #expect(lease.judge(now: 107) == .open)
    #expect(lease.judge(now: 108) == .announced)
    #expect(lease.judge(now: 110) == .over)
    #expect(lease.judge(now: 109) == .over, "the highest time counts")
    #expect(LeaseMachine(lease.text) == lease)
    #expect(LeaseMachine("") == nil && LeaseMachine("0 1 2") == nil)
    var long = LeaseMachine(length: .max, contact: 0)
    #expect(long.judge(now: .max - 1) == .announced)
  }
}
