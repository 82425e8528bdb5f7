import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Logins wait in turns", .timeLimit(.minutes(60)))
struct DoorkeeperTests {
  private let now = Timestamp(milliseconds: 1_000_000)

  private func attempt(_ user: String, from address: String) -> LoginGuard.Attempt {
    LoginGuard.Attempt(user: user, device: "d", address: address)
  }

  /// Lets everybody in at once.
  private struct Open: AuthenticationProvider {
    func authenticate(user: String, password: String) -> UserRecord {
      UserRecord(name: user, roles: [], claims: [:])
    }
    func record(of user: String) -> UserRecord? { nil }
  }

  /// As the server's loop: one thread runs the tasks that prefer it.
  private final class Loop: TaskExecutor {
    private let queue = DispatchQueue(label: "loop")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  @Test("Each of 20,000 logins that come from the server's loop is answered")
  func answered() async {
    let keeper = Doorkeeper(Open(), world: .system())
    let loop = Loop()
    for _ in 0..<200 {
      await withTaskGroup(of: Bool.self) { group in
        for number in 0..<100 {
          let body = #"{"user":"u\#(number)","password":"p","device":"d\#(number)"}"#
          guard let login = LoginRequest(Array(body.utf8)) else { return }
          group.addTask(executorPreference: loop) {
            (try? await keeper.authenticate(login, from: "203.0.113.\(number)")) != nil
          }
        }
        for await isIn in group { #expect(isIn) }
      }
    }
  }

  @Test("Of 2,000 wrong logins from 100 addresses at most one is looked at before a right one")
  func fair() {
    var queue = LoginQueue()
    var login = LoginGuard()
    var taken = 0
    for number in 0..<2_000 {
      let entry = queue.add(attempt("guess \(number)", from: "203.0.113.\(number % 100)"))
      if case .waits(_, nil) = entry { taken += 1 }
    }
    #expect(taken == LoginQueue.waitingInAll)
    // The thread looks at one, then the right one comes.
    let first = queue.next(login, now: now)
    if let first { login.failed(first.attempt, now: now) }
    guard case .waits(let right, _) = queue.add(attempt("anna", from: "198.51.100.1")) else {
      Issue.record("the right login found no place")
      return
    }
    #expect(queue.next(login, now: now)?.number == right)
  }

  @Test("Addresses without a failure come before those with one, and then each in its turn")
  func turns() {
    var queue = LoginQueue()
    var login = LoginGuard()
    login.failed(attempt("guess", from: "203.0.113.1"), now: now)
    for number in 0..<3 { _ = queue.add(attempt("guess \(number)", from: "203.0.113.1")) }
    for user in ["a", "b"] { _ = queue.add(attempt(user, from: "198.51.100.1")) }
    for user in ["c", "d"] { _ = queue.add(attempt(user, from: "198.51.100.2")) }
    var order: [String] = []
    while let (_, next) = queue.next(login, now: now) { order.append(next.user.text) }
    #expect(order == ["a", "c", "b", "d", "guess 0", "guess 1", "guess 2"])
    #expect(queue.isEmpty)
  }

  @Test("An address has 256 that wait; in a full queue it gives way to one that has fewer")
  func bounded() {
    var queue = LoginQueue()
    for number in 0..<256 {
      #expect(queue.add(attempt("u\(number)", from: "203.0.113.0")) != .full)
    }
    #expect(queue.add(attempt("one more", from: "203.0.113.0")) == .full)
    for address in 1..<4 {
      for number in 0..<256 { _ = queue.add(attempt("u\(number)", from: "203.0.113.\(address)")) }
    }
    guard
      case .waits(let number, insteadOf: let other?) = queue.add(
        attempt("anna", from: "198.51.100.1"))
    else {
      Issue.record("a single login found no place")
      return
    }
    #expect(number == LoginQueue.waitingInAll + 1)
    let wasThere = queue.remove(other)
    #expect(!wasThere)
    let isThere = queue.remove(number)
    #expect(isThere)
  }

  /// Looks at a password only when it is let; only "right" is.
  private final class SlowProvider: AuthenticationProvider, @unchecked Sendable {
    let gate = DispatchSemaphore(value: 0)
    let begun = DispatchSemaphore(value: 0)
    let seen = Mutex<[String]>([])

    func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
      seen.withLock { $0.append(user) }
      begun.signal()
      gate.wait()
      guard password == "right" else { throw ServerError(.wrongLogin, "no", hint: "no") }
      return UserRecord(name: user)
    }

    func record(of user: String) -> UserRecord? { UserRecord(name: user) }
  }

  private func login(
    _ keeper: Doorkeeper, _ user: String, _ password: String, from address: String
  ) -> Task<ServerError.Code?, Never> {
    let body = #"{"user":"\#(user)","password":"\#(password)","device":"d"}"#
    let request = LoginRequest(Array(body.utf8))
    return Task {
      guard let request else { return .badRequest }
      do throws(ServerError) {
        _ = try await keeper.authenticate(request, from: address)
        return nil
      } catch {
        return error.code
      }
    }
  }

  @Test("A client that hung up is not looked at, and the next one is")
  func hungUp() async {
    let provider = SlowProvider()
    let keeper = Doorkeeper(provider, world: .system())
    let first = login(keeper, "first", "right", from: "192.0.2.1")
    provider.begun.wait()
    let gone = login(keeper, "gone", "right", from: "192.0.2.2")
    gone.cancel()
    provider.gate.signal()
    #expect(await first.value == nil)
    #expect(await gone.value == .tooManyLogins)
    let next = login(keeper, "next", "right", from: "192.0.2.3")
    provider.gate.signal()
    #expect(await next.value == nil)
    #expect(provider.seen.withLock { $0 } == ["first", "next"])
  }

  @Test("The sixth wrong password within a second is not looked at any more, nor the right one")
  func guessed() async {
    let provider = SlowProvider()
    let keeper = Doorkeeper(
      provider, world: World(clock: HandClock(), chance: SystemChance(), log: SilentLog()))
    for _ in 0..<40 { provider.gate.signal() }
    var codes: [ServerError.Code?] = []
    for _ in 0..<20 {
      codes.append(await login(keeper, "anna", "wrong", from: "192.0.2.1").value)
    }
    #expect(
      codes == Array(repeating: .wrongLogin, count: 5)
        + Array(repeating: .tooManyGuesses, count: 15))
    #expect(await login(keeper, "anna", "right", from: "192.0.2.2").value == nil)
  }
}
