import FerryModel
import FerryWorld
import Testing

@testable import FerryServer

/// Keys of tokens that change while the server runs.
final class KeyRingTests {
  private let bench: Bench
  private let users: UserFile

  init() throws {
    bench = try Bench()
    users = try UserFile.anna()
    bench.service.provider = users
  }

  private func renew(_ token: String) throws -> TokenPair {
    try bench.service.renew(token, device: "phone", provider: users)
  }

  private func isGood(_ pair: TokenPair) -> Bool {
    do throws(ServerError) {
      try bench.service.check(
        bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now))
      return true
    } catch {
      return false
    }
  }

  @Test("A change of the keys logs nobody out: old tokens stay good, new ones have the new key")
  func rotated() throws {
    let first = try bench.service.login(
      users.authenticate(user: "anna", password: ""), device: "phone")
    try bench.service.rotateKeys()
    #expect(isGood(first))
    let early = try renew(first.refreshToken)
    bench.clock.advance(10)
    let second = try renew(first.refreshToken)
    #expect(isGood(second) && isGood(early))
    #expect(second.refreshToken != early.refreshToken, "it is sealed with the new key by now")
    // The other text of the same number leads on as well, and neither is a thief's.
    let third = try renew(early.refreshToken)
    #expect(isGood(third))
    try bench.restart()
    bench.service.provider = users
    #expect(isGood(third))
    _ = try renew(third.refreshToken)
  }

  @Test("A week between two changes is enough for a device that was silent for 60 days")
  func eight() throws {
    let pair = try bench.service.login(
      users.authenticate(user: "anna", password: ""), device: "phone")
    for _ in 0..<8 {
      bench.clock.advance(7 * 86_400)
      try bench.service.rotateKeys()
    }
    _ = try renew(pair.refreshToken)
    let other = try bench.service.login(
      users.authenticate(user: "anna", password: ""), device: "phone")
    #expect(isGood(other))
    for _ in 0..<9 { try bench.service.rotateKeys() }
    #expect(throws: ServerError.self) { _ = try renew(pair.refreshToken) }
    #expect(!isGood(other))
  }

  @Test("A token that was verified before is refused when its time is over, or the clock set back")
  func remembered() throws {
    let pair = try bench.service.login(
      users.authenticate(user: "anna", password: ""), device: "phone")
    for _ in 0..<2 { #expect(isGood(pair)) }
    bench.clock.advance(-61)
    #expect(!isGood(pair))
    bench.clock.advance(61 + 15 * 60)
    #expect(!isGood(pair))
    var text = pair.accessToken
    text.removeLast()
    #expect(throws: ServerError.self) {
      try bench.service.accessTokens.verify(text, now: bench.clock.now)
    }
  }

  @Test("What is remembered of verified tokens has a bound, and ends with a change of the keys")
  func bounded() {
    let tokens = VerifiedTokens()
    let identity = Identity(
      user: "anna", device: nil, roles: [], claims: [:], issued: bench.clock.now,
      expires: bench.clock.now, session: nil)
    for number in 0..<VerifiedTokens.limit { tokens.remember(identity, of: "\(number)", 1) }
    #expect(tokens.identity(of: "0", 1) == identity && tokens.identity(of: "0", 2) == nil)
    tokens.remember(identity, of: "another", 1)
    #expect(tokens.identity(of: "0", 1) == nil && tokens.identity(of: "another", 1) == identity)
    tokens.remember(identity, of: "later", 2)
    #expect(tokens.identity(of: "another", 1) == nil && tokens.identity(of: "later", 2) == identity)
  }

  @Test("Two nodes change keys and each takes the other's")
  func nodes() throws {
    let store = bench.service.store
    let first = try KeyRing("x.key", store) { [UInt8](repeating: 1, count: 32) }
    let second = try KeyRing("x.key", store) { [UInt8](repeating: 2, count: 32) }
    let now = bench.clock.now
    #expect(first.current(now: now) == second.current(now: now))
    try first.rotate(store, now: now) { [UInt8](repeating: 3, count: 32) }
    #expect(first.current(now: now) == second.current(now: now), "it only opens for 10 s")
    #expect(try second.load(store, now: now))
    #expect(try !second.load(store, now: now))
    let later = now.advanced(by: .seconds(10))
    #expect(first.current(now: later) == [UInt8](repeating: 3, count: 32))
    #expect(second.current(now: later) == first.current(now: later))
    try second.rotate(store, now: later) { [UInt8](repeating: 4, count: 32) }
    try first.rotate(store, now: later) { [UInt8](repeating: 5, count: 32) }
    #expect(first.all.count == 4 && second.all.count == 3)
  }
}
