import FerryCrypto
import FerryHTTP
import FerryWorld
import Testing

@testable import FerryServer

/// Refresh tokens in two hands, in every order.
@Suite("A refresh token in two hands")
struct RefreshThiefTests {
  /// A session as the machine sees it, with whoever has its tokens.
  private struct Model {
    let machine: RefreshMachine
    var used: Int64 = 0
    var since = Timestamp(milliseconds: 0)
    var now = Timestamp(milliseconds: 0)
    var past = RefreshMachine.Repeats()
    var isOver = false

    init(_ bounds: RefreshMachine.Bounds) { machine = RefreshMachine(bounds: bounds) }

    /// The successor; nil where the session has ended.
    mutating func renew(_ number: Int64) -> Int64? {
      guard !isOver else { return nil }
      switch machine.judge(number, used: used, since: since, now: now, &past) {
      case .next(let next):
        (used, since) = (number, now)
        return next
      case .again(let next): return next
      case .reused:
        isOver = true
        return nil
      }
    }
  }

  @Test("Two who renew in turns end the session, in whatever order they come", arguments: 1...200)
  func everyOrder(_ seed: Int) {
    let chance = SeededChance(UInt64(seed))
    for bounds in [RefreshMachine.Bounds.unbound, .bound] {
      var model = Model(bounds)
      var hands: [Int64] = [1, 1]
      var renewals = [0, 0]
      // Each has renewed more often than rounds with a repeat may follow each other.
      while renewals.contains(where: { $0 <= bounds.rounds + 1 }), !model.isOver {
        let who = Int(chance.next() % 2)
        model.now = model.now.advanced(by: .seconds(Int64(chance.next() % 900)))
        renewals[who] += 1
        if let next = model.renew(hands[who]) { hands[who] = next }
      }
      #expect(model.isOver, "\(renewals)")
    }
  }

  @Test("Two who keep step are noticed after a few rounds")
  func inStep() {
    for bounds in [RefreshMachine.Bounds.unbound, .bound] {
      var model = Model(bounds)
      var number: Int64 = 1
      var rounds = 0
      while let next = model.renew(number), model.renew(number) == next {
        number = next
        rounds += 1
      }
      #expect(model.isOver && rounds == bounds.rounds)
    }
  }

  @Test("One who loses answers is not logged out", arguments: 1...50)
  func lostAnswers(_ seed: Int) {
    let chance = SeededChance(UInt64(seed))
    var model = Model(.bound)
    var old = Model(.unbound)
    var (number, oldNumber): (Int64, Int64) = (1, 1)
    for round in 0..<500 {
      // With a key: any number of repeats, at any time, and now and then a round without one.
      for _ in 0..<(round % 16 == 0 ? 0 : chance.next() % 5) {
        #expect(model.renew(number) != nil)
        model.now = model.now.advanced(by: .seconds(Int64(chance.next() % 500_000)))
      }
      number = model.renew(number) ?? 0
      #expect(number > 0)
      // Without: three, in ten minutes.
      for _ in 0..<(round % 3 == 0 ? chance.next() % 4 : 0) {
        #expect(old.renew(oldNumber) != nil)
        old.now = old.now.advanced(by: .seconds(Int64(chance.next() % 200)))
      }
      oldNumber = old.renew(oldNumber) ?? 0
      #expect(oldNumber > 0)
      old.now = old.now.advanced(by: .seconds(900))
    }
  }

  @Test("Without a key the fourth repeat, and one after ten minutes, end the session")
  func few() {
    var model = Model(.unbound)
    #expect(model.renew(1) == 2)
    for _ in 0..<3 { #expect(model.renew(1) == 2) }
    #expect(model.renew(1) == nil)
    var late = Model(.unbound)
    #expect(late.renew(1) == 2)
    late.now = late.now.advanced(by: .seconds(600))
    #expect(late.renew(1) == 2)
    late.now = late.now.advanced(by: .milliseconds(1))
    #expect(late.renew(1) == nil)
  }

  private struct Anybody: AuthenticationProvider {
    func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
      UserRecord(name: user)
    }
    func record(of user: String) -> UserRecord? { UserRecord(name: user) }
  }

  @Test("A stolen token renews nothing without the device's key, and its owner goes on")
  func bound() throws {
    let bench = try Bench()
    let (own, other) = (try P256Key.generate(), try P256Key.generate())
    var token = try bench.service.login(
      UserRecord(name: "anna"), device: "phone", key: own.publicKeyInfo
    ).refreshToken
    func proof(_ key: P256Key, of text: String, named: P256Key? = nil) throws -> TokenProof {
      TokenProof(
        key: (named ?? key).publicKeyInfo, signature: try key.signFixed(TokenProof.text(text)))
    }
    for _ in 0..<20 {
      let next = try bench.service.renew(
        token, device: "phone", proof: try proof(own, of: token), provider: Anybody()
      ).refreshToken
      for thief in [
        nil, try proof(other, of: next), try proof(other, of: next, named: own),
        try proof(own, of: token), TokenProof(key: own.publicKeyInfo, signature: []),
        TokenProof(key: [], signature: []),
      ] {
        #expect(throws: ServerError.self) {
          try bench.service.renew(next, device: "phone", proof: thief, provider: Anybody())
        }
      }
      token = next
    }
  }

  @Test("Each repeat is told, so that the audit log has it")
  func told() throws {
    let bench = try Bench()
    var repeats = 0
    bench.service.listen { if case .tokenRepeated = $0 { repeats += 1 } }
    let token = try bench.service.login(UserRecord(name: "anna"), device: "phone").refreshToken
    for _ in 0..<3 {
      _ = try bench.service.renew(token, device: "phone", provider: Anybody())
    }
    #expect(repeats == 2)
  }
}
