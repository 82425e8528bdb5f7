import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerryServer

/// What an operator decides about a device.
final class DeviceRegisterTests {
  private let bench: Bench
  private let users: UserFile
  private let phone = Owner(device: "phone", user: "anna")

  init() throws {
    bench = try Bench()
    users = try UserFile.anna()
    bench.service.provider = users
  }

  private func login() throws(ServerError) -> TokenPair {
    try bench.service.login(users.authenticate(user: "anna", password: ""), device: "phone")
  }

  private func renew(_ pair: TokenPair) throws(ServerError) -> TokenPair {
    try bench.service.renew(pair.refreshToken, device: "phone", provider: users)
  }

  private func identity(_ pair: TokenPair) throws -> Identity {
    try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
  }

  private func hello(_ pair: TokenPair, pending: Int64? = 0) throws {
    var hello = Hello(
      server: nil, package: "shop:1.0", device: "phone", incarnation: "i-1", groups: [],
      partitions: [], open: [])
    hello.facts.hardware = "Watch7,1"
    hello.facts.pending = pending
    try bench.service.accounts.register(hello, try identity(pair))
  }

  @discardableResult
  private func decide(
    _ verb: DeviceVerb, _ reason: String = "", withPending: Bool = false
  ) throws(ServerError) -> RegisteredDevice {
    try bench.service.decide(verb, phone, reason: reason, withPending: withPending)
  }

  @Test("The register shows what a device says of itself, at most a minute old")
  func register() throws {
    let pair = try login()
    try hello(pair, pending: 3)
    bench.clock.advance(59)
    try hello(pair, pending: 4)
    #expect(try bench.service.devices().map(\.pending) == [3])
    bench.clock.advance(1)
    try hello(pair, pending: 5)
    let device = try #require(try bench.service.devices().first)
    #expect(device.pending == 5)
    #expect(device.hardware == "Watch7,1")
    #expect(device.lastSeen - device.firstSeen == 60_000)
  }

  @Test("A locked device is refused with the reason in each door, and goes on when it is unlocked")
  func lock() throws {
    let pair = try login()
    try hello(pair)
    let identity = try identity(pair)
    try decide(.lock, "lost in Oslo")
    let refusals = [
      serverError { () throws(ServerError) in try bench.service.check(identity) },
      serverError { () throws(ServerError) in _ = try renew(pair) },
      serverError { () throws(ServerError) in _ = try login() },
    ]
    for refusal in refusals {
      #expect(refusal?.code == .deviceLocked)
      #expect(refusal?.message.contains("lost in Oslo") == true)
    }
    try bench.restart()
    bench.service.provider = users
    #expect(serverError { () throws(ServerError) in _ = try renew(pair) }?.code == .deviceLocked)
    try decide(.unlock)
    try bench.service.check(identity)
    _ = try renew(pair)
  }

  @Test("A wipe needs the operator's word where changes are pending, and its receipt ends it")
  func wipe() throws {
    let pair = try login()
    try hello(pair, pending: 2)
    let refusal = serverError { () throws(ServerError) in try decide(.wipe) }
    #expect(refusal?.message.contains("reported 2 changes that were not sent") == true)
    _ = try renew(pair)
    try decide(.wipe, "stolen", withPending: true)
    let order = try #require(serverError { () throws(ServerError) in _ = try renew(pair) }?.wipe)
    #expect(order.server == bench.service.server)
    #expect(order.device == "phone")
    #expect(order.incarnation == "i-1")
    #expect(order.withPending)
    // A receipt of somebody else changes nothing.
    let wrong = serverError { () throws(ServerError) in
      try bench.service.take(.wiped, "guess", from: phone)
    }
    #expect(wrong?.code == .badRequest)
    #expect(try bench.service.devices().map(\.state) == [.wiping])
    try bench.service.take(.wiped, order.receipt, from: phone)
    #expect(try bench.service.devices().map(\.state) == [.wiped])
    // A copy of it that comes back from a backup gets the order again, also at a login.
    #expect(serverError { () throws(ServerError) in _ = try renew(pair) }?.wipe == order)
    #expect(serverError { () throws(ServerError) in _ = try login() }?.wipe == order)
    #expect(serverError { () throws(ServerError) in try decide(.unlock) }?.code == .badRequest)
    try decide(.forget)
    #expect(serverError { () throws(ServerError) in _ = try renew(pair) }?.code == .revokedToken)
    _ = try login()
  }

  @Test("A wipe is allowed as soon as the device has sent what it had, within the minute too")
  func wipeAfterSending() throws {
    let pair = try login()
    try hello(pair, pending: 1)
    let refusal = serverError { () throws(ServerError) in try decide(.wipe) }
    #expect(refusal?.message.contains("reported at least one change that was not sent") == true)
    bench.clock.advance(1)
    try hello(pair, pending: 0)
    #expect(try bench.service.devices().map(\.pending) == [0])
    #expect(try decide(.wipe).state == .wiping)
  }

  @Test("The device of a user who was removed gets its order all the same")
  func removed() throws {
    let pair = try login()
    try hello(pair)
    let nobody = try UserFile(
      Array(#"{"users": [{"name": "ben", "passwordHash": "$a"}]}"#.utf8), name: "users.json"
    ) { _, _ in true }
    let renew = { () throws(ServerError) -> Void in
      _ = try self.bench.service.renew(pair.refreshToken, device: "phone", provider: nobody)
    }
    #expect(serverError(renew)?.code == .revokedToken)
    #expect(serverError(renew)?.wipe == nil)
    try decide(.wipe)
    #expect(serverError(renew)?.wipe != nil)
  }
}
