import FerryWorld
import Synchronization
import Testing

@testable import FerryServer

@Suite("Names and passwords with each request", .timeLimit(.minutes(60)))
struct BasicLoginsTests {
  /// One user, whose password may change, and how often it was verified.
  private final class Anna: AuthenticationProvider {
    let password = Mutex("one")
    let verified = Mutex(0)

    func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
      verified.withLock { $0 += 1 }
      guard password == self.password.withLock({ $0 }), let record = record(of: user) else {
        throw .wrongLogin
      }
      return record
    }

    func record(of user: String) -> UserRecord? {
      user == "anna" ? UserRecord(name: user, stamp: password.withLock { $0 }) : nil
    }
  }

  private func code(_ logins: BasicLogins, _ password: String) async -> ServerError.Code? {
    do throws(ServerError) {
      _ = try await logins.login(user: "anna", password: password, from: "192.0.2.1")
      return nil
    } catch {
      return error.code
    }
  }

  @Test("A right password is verified once in an hour, until it changes")
  func remembered() async {
    let (anna, clock) = (Anna(), HandClock())
    let logins = BasicLogins(
      anna, world: World(clock: clock, chance: SystemChance(), log: SilentLog()))
    for _ in 0..<5 { #expect(await code(logins, "one") == nil) }
    #expect(anna.verified.withLock { $0 } == 1)
    clock.advance(3_601)
    #expect(await code(logins, "one") == nil)
    #expect(anna.verified.withLock { $0 } == 2)
    anna.password.withLock { $0 = "two" }
    #expect(await code(logins, "one") == .wrongLogin)
    #expect(await code(logins, "two") == nil)
    #expect(await code(logins, "two") == nil)
    #expect(anna.verified.withLock { $0 } == 4)
  }

  @Test("Wrong passwords lock the address for the user, and a remembered one is still right")
  func guessed() async {
    let anna = Anna()
    let logins = BasicLogins(
      anna, world: World(clock: HandClock(), chance: SystemChance(), log: SilentLog()))
    #expect(await code(logins, "one") == nil)
    for _ in 0..<5 { #expect(await code(logins, "guess") == .wrongLogin) }
    #expect(await code(logins, "guess") == .tooManyGuesses)
    #expect(await code(logins, "one") == nil)
    #expect(anna.verified.withLock { $0 } == 6)
  }
}
