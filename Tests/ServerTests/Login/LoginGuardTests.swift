import FerryWorld
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Wrong logins are slowed")
struct LoginGuardTests {
  private let begin = Timestamp(milliseconds: 1_000_000)

  private func attempt(
    _ user: String = "anna", device: String = "phone", from address: String = "192.0.2.1"
  ) -> LoginGuard.Attempt {
    LoginGuard.Attempt(user: user, device: device, address: address)
  }

  private func seconds(_ login: LoginGuard, _ attempt: LoginGuard.Attempt) -> Int64? {
    login.lockEnd(attempt, now: begin).map { ($0.milliseconds - begin.milliseconds) / 1_000 }
  }

  @Test("After five failures an address waits 1, 2, 4 seconds and at most 15 minutes for that user")
  func doubling() {
    var login = LoginGuard()
    for _ in 0..<4 { login.failed(attempt(), now: begin) }
    #expect(seconds(login, attempt()) == nil)
    var waits: [Int64?] = []
    for _ in 0..<12 {
      login.failed(attempt(), now: begin)
      waits.append(seconds(login, attempt()))
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
    #expect(seconds(login, attempt(from: "192.0.2.2")) == nil)
    #expect(seconds(login, attempt("bob")) == nil)
    #expect(login.lockEnd(attempt(), now: begin.advanced(by: .seconds(900))) == nil)
  }

  @Test("A success and 15 quiet minutes begin the count again")
  func forgotten() {
    var login = LoginGuard()
    for _ in 0..<5 { login.failed(attempt(), now: begin) }
    login.succeeded(attempt())
    #expect(seconds(login, attempt()) == nil)
    for _ in 0..<4 { login.failed(attempt("bob"), now: begin) }
    login.failed(attempt("bob"), now: begin.advanced(by: .seconds(901)))
    #expect(login.lockEnd(attempt("bob"), now: begin.advanced(by: .seconds(901))) == nil)
  }

  @Test("An address that guesses for many users is locked for all of them")
  func spraying() {
    var login = LoginGuard()
    for number in 0..<49 { login.failed(attempt("user \(number)"), now: begin) }
    #expect(seconds(login, attempt("anna")) == nil)
    login.failed(attempt("user 49"), now: begin)
    #expect(seconds(login, attempt("anna")) == 1)
    #expect(seconds(login, attempt("anna", from: "192.0.2.2")) == nil)
  }

  @Test(
    "Who guesses from many addresses locks a user's strangers for a minute, and no known device")
  func manyAddresses() {
    var login = LoginGuard()
    login.succeeded(attempt(device: "mine", from: "198.51.100.7"))
    for number in 0..<100 {
      login.failed(attempt(device: "bot", from: "203.0.113.\(number)"), now: begin)
    }
    #expect(seconds(login, attempt(device: "new", from: "192.0.2.9")) == 60)
    #expect(seconds(login, attempt(device: "mine", from: "192.0.2.9")) == nil)
    #expect(seconds(login, attempt(device: "new", from: "198.51.100.7")) == nil)
    #expect(seconds(login, attempt("bob", device: "new", from: "192.0.2.9")) == nil)
    let later = begin.advanced(by: .seconds(60))
    #expect(login.lockEnd(attempt(device: "new", from: "192.0.2.9"), now: later) == nil)
  }

  @Test(
    "Of IPv6 the household counts, of IPv4 the address",
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("2001:db8:0:7::1", "2001:db8:0:7::/64"),
      ("2001:0DB8:0:0007:a:b:c:d", "2001:db8:0:7::/64"), ("fe80::1%eth0", "fe80:0:0:0::/64"),
      ("::1", "0:0:0:0::/64"), ("::ffff:192.0.2.1", "192.0.2.1"), ("", ""),
    ])
  func networks(_ address: String, _ network: String) {
    #expect(LoginGuard.network(of: address) == network)
  }

  @Test("Names that are equivalent and not equal are two users")
  func bytes() {
    var login = LoginGuard()
    for _ in 0..<5 { login.failed(attempt("\u{212A}im"), now: begin) }
    #expect(seconds(login, attempt("\u{212A}im")) == 1)
    #expect(seconds(login, attempt("Kim")) == nil)
  }

  @Test("What is remembered has a bound, and the oldest goes first")
  func bounded() {
    var table = RecentTable<Int, Int>(limit: 3)
    for number in 0..<1_000 { table[number % 5] = number }
    #expect(table.count == 3)
    #expect(table[0] == nil)
    #expect(table[4] == 999)
    table[4] = nil
    #expect(table.count == 2)
  }
}
