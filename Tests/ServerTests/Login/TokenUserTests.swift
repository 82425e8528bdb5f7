import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerryServer

/// What users of an issuer may do while their newest token gets old.
struct TokenUserTests {
  private let bench: Bench
  private let name = TokenLogin.user(issuer: "https://login.example.com", identity: "u-1")

  init() throws {
    bench = try Bench()
    bench.service.provider = ProviderChain(try UserFile.anna(), [bench.service.tokenUsers])
  }

  private func seen(_ claims: [String: [String]], minutesAgo: Int64 = 0) -> TokenLogin {
    TokenLogin(
      record: UserRecord(name: name, claims: claims),
      issued: bench.clock.now.advanced(by: .seconds(-60 * minutesAgo)))
  }

  @Test("The newest token says what its user may do now, in whatever order tokens come")
  func newest() throws {
    _ = try bench.service.login(seen(["tenant": ["K01"]]), device: "phone")
    #expect(bench.service.provider?.record(of: name)?.claims == ["tenant": ["K01"]])
    try bench.service.note(seen(["tenant": ["K02"]], minutesAgo: 5))
    #expect(bench.service.provider?.record(of: name)?.claims == ["tenant": ["K01"]])
    bench.clock.advance(60)
    try bench.service.note(seen(["tenant": ["K03"]]))
    #expect(bench.service.provider?.record(of: name)?.claims == ["tenant": ["K03"]])
    try bench.restart()
    #expect(bench.service.tokenUsers.record(of: name)?.claims == ["tenant": ["K03"]])
  }

  @Test("Packages of the newest token are kept over a restart, and a change is seen at once")
  func packages() throws {
    func seen(_ packages: AllowedPackages) -> TokenLogin {
      TokenLogin(
        record: UserRecord(name: name, claims: ["employee": ["1"]], packages: packages),
        issued: bench.clock.now)
    }
    _ = try bench.service.login(seen(.only(["shop"])), device: "phone")
    let device = Device(bench, "phone", bench.identity(name))
    let channel = bench.service.channel(
      device.body(), by: device.identity, until: bench.clock.now.advanced(by: .seconds(900)))
    try device.drain(channel)
    #expect(bench.service.mayGoOn(channel))
    var stirred = false
    bench.service.listen { if case .stirred = $0 { stirred = true } }
    bench.clock.advance(1)
    try bench.service.note(seen(.only(["other"])))
    #expect(stirred && !bench.service.mayGoOn(channel))
    try bench.restart()
    #expect(bench.service.tokenUsers.record(of: name)?.packages == .only(["other"]))
  }

  @Test("The operator chooses how old the newest token may be")
  func greatestAge() throws {
    var limits = ServiceLimits.standard
    limits.issuerRightsHours = 2
    let bench = try Bench(limits: limits)
    let users = bench.service.tokenUsers
    try bench.service.note(
      TokenLogin(record: UserRecord(name: name), issued: bench.clock.now))
    bench.clock.advance(2 * 3_600 - 1)
    #expect(users.areRightsKnown(of: name, now: bench.clock.now))
    bench.clock.advance(1)
    #expect(!users.areRightsKnown(of: name, now: bench.clock.now))
  }

  @Test("After a day without a newer token the session waits for one, and goes on with it")
  func old() throws {
    let service = bench.service
    guard let provider = service.provider else { return }
    let pair = try service.login(seen([:]), device: "phone")
    let identity = try service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
    bench.clock.advance(86_399)
    let second = try service.renew(pair.refreshToken, device: "phone", provider: provider)
    bench.clock.advance(1)
    #expect(
      serverErrorCode { () throws(ServerError) in try service.check(identity) } == .staleRights)
    #expect(
      serverErrorCode { () throws(ServerError) in
        _ = try service.renew(second.refreshToken, device: "phone", provider: provider)
      } == .staleRights)
    try service.note(seen([:]))
    try service.check(identity)
    _ = try service.renew(second.refreshToken, device: "phone", provider: provider)
  }

  @Test("A replay that is tried again waits for a newer token, too")
  func parked() throws {
    let service = bench.service
    let claims = ["employee": ["1"]]
    try service.note(seen(claims))
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    try bench.load()
    let device = Device(bench, "phone", bench.identity(name))
    try device.exchange()
    let change = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("Bergen")],
      base: [2: .text("Oslo")])
    device.open = [change.0]
    try device.exchange([change.1], mayHaveRun: [change.0])
    // Nobody can say whether it was performed before.
    bench.business.isAway = true
    try bench.replay()
    bench.clock.advance(86_400)
    bench.business.isAway = false
    try bench.replay()
    #expect(bench.business.performed == [:])
    #expect(service.nextReplayMoment == bench.clock.now.advanced(by: .seconds(10)))

    try service.note(seen(claims))
    bench.clock.advance(10)
    try bench.replay()
    #expect(bench.business.performed == [change.0: 1])
  }

  @Test("What a user sent waits while nobody knows the user's rights, and holds nobody else up")
  func waits() throws {
    var queue = ReplayQueue()
    let moment = bench.clock.moment
    for user in ["old", "anna"] {
      queue.add(try received(user), now: moment)
    }
    let known = queue.next(limit: 9, now: moment, isLoaded: true) { $0.text != "old" }
    #expect(known.map(\.name.owner.user.text) == ["anna"])
    let all = queue.next(limit: 9, now: moment, isLoaded: true)
    #expect(all.map(\.name.owner.user.text) == ["old"])
  }

  private func received(_ user: String) throws -> ReceivedOperation {
    let id = try #require(OperationID(String(repeating: user == "old" ? "1" : "2", count: 32)))
    return ReceivedOperation(
      sequence: 1, device: "phone", user: user, roles: [], claims: [:],
      operation: Operation(
        id: id, chain: id, entity: "Product", kind: .update, key: ObjectKey([.text(user)]),
        changed: [:],
        base: [:]), mayHaveRun: false, bytes: 1)
  }
}
