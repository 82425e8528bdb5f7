import FerryModel
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// Open sessions are remembered, and whatever ends one is seen by the next request.
final class SessionMemoryTests {
  private let bench: Bench
  private let users: UserFile

  init() throws {
    var limits = ServiceLimits.standard
    limits.sessionsPerDevice = 1
    limits.inactiveDays = 1
    bench = try Bench(limits: limits)
    users = try UserFile.anna()
    bench.service.provider = users
  }

  private func login() throws(ServerError) -> TokenPair {
    try bench.service.login(users.authenticate(user: "anna", password: ""), device: "phone")
  }

  @Test("The second request of a session asks the store nothing")
  func remembered() throws {
    let identity = try bench.service.accessTokens.verify(login().accessToken, now: bench.clock.now)
    try bench.service.check(identity)
    let store = try #require(bench.service.store as? SQLiteStore)
    let before = store.executionsInAll
    try bench.service.check(identity)
    #expect(store.executionsInAll == before)
  }

  enum End: CaseIterable {
    case logout, logoutOfAll, lock, forget, inactive, otherLogin, reusedToken
  }

  @Test("A session that was remembered ends at once, however it ends", arguments: End.allCases)
  func ends(_ end: End) throws {
    let pair = try login()
    let identity = try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
    try bench.service.accounts.register(
      Hello(
        server: nil, package: "shop:1.0", device: "phone", incarnation: "i-1", groups: [],
        partitions: [], open: []), identity)
    try bench.service.check(identity)
    let phone = Owner(device: "phone", user: "anna")
    switch end {
    case .logout: try bench.service.revoke(user: "anna", device: "phone")
    case .logoutOfAll: try bench.service.revoke(user: "anna")
    case .lock: _ = try bench.service.decide(.lock, phone, reason: "lost", withPending: false)
    case .forget: _ = try bench.service.decide(.forget, phone, reason: "", withPending: false)
    case .inactive:
      bench.clock.advance(2 * 86_400)
      try bench.service.accounts.forgetInactive()
    case .otherLogin: _ = try login()
    case .reusedToken:
      var next = pair.refreshToken
      for _ in 0..<3 {
        next = try bench.service.renew(next, device: "phone", provider: users).refreshToken
      }
      #expect(
        serverErrorCode { () throws(ServerError) in
          _ = try bench.service.renew(pair.refreshToken, device: "phone", provider: users)
        } == .revokedToken)
    }
    let refused = serverErrorCode { () throws(ServerError) in try bench.service.check(identity) }
    #expect(refused == (end == .lock ? .deviceLocked : .revokedToken))
  }
}
