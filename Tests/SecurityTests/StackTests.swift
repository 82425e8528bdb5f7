import FerryCrypto
import FerryHTTP
import FerryServer
import FerryTestTraits
import FerryWorld
import Synchronization
import Testing

@testable import FerrySecurity

/// A provider that says what a test wants, and counts how often it was asked.
final class ScriptedModule: LoginModule {
  let kind: String
  let looksUpUsers: Bool
  private let outcome: Mutex<LoginOutcome>
  private let count = Atomic<Int>(0)

  init(_ outcome: LoginOutcome, looksUp: Bool = false, kind: String = "scripted") {
    self.outcome = Mutex(outcome)
    looksUpUsers = looksUp
    self.kind = kind
  }

  var asked: Int { count.load(ordering: .relaxed) }

  func say(_ outcome: LoginOutcome) { self.outcome.withLock { $0 = outcome } }

  func judge(user: String, password: String) -> LoginOutcome {
    count.add(1, ordering: .relaxed)
    // Right is only "good", whoever says so.
    if password != "good", case .accepted = outcome.withLock({ $0 }) { return .refused("wrong") }
    return outcome.withLock { $0 }
  }

  func record(of user: String) -> UserRecord? {
    guard looksUpUsers, case .accepted(let record) = outcome.withLock({ $0 }) else { return nil }
    return record
  }
}

/// A clock that a test moves.
final class MovedClock: WorldClock {
  private let time = Atomic<Int64>(1_000_000)
  var now: Timestamp { Timestamp(milliseconds: time.load(ordering: .relaxed)) }
  var uptime: Duration { .milliseconds(time.load(ordering: .relaxed)) }
  func pass(seconds: Int64) { time.add(seconds * 1_000, ordering: .relaxed) }
}

@Suite("The providers of a security configuration", .reference("facts/2.9"))
struct StackTests {
  private static func record(_ roles: String...) -> LoginOutcome {
    .accepted(UserRecord(name: "anna", roles: roles))
  }

  /// `+` accepts, `-` refuses, `?` is away.
  private static func verdict(
    _ entries: [(ControlFlag, Character)]
  ) -> (verdict: String, asked: Int) {
    let stack = SecurityStack(
      entries.map { flag, sign in
        let outcome: LoginOutcome =
          sign == "+" ? record() : sign == "-" ? .refused("no") : .away("away")
        return SecurityStack.Entry(flag, ScriptedModule(outcome))
      })
    let (verdict, steps) = stack.judge { _, module in module.judge(user: "anna", password: "good") }
    switch verdict {
    case .accepted: return ("+", steps.count)
    case .refused: return ("-", steps.count)
    case .away: return ("?", steps.count)
    }
  }

  @Test("Required, requisite, sufficient and optional decide together")
  func flags() {
    let cases: [([(ControlFlag, Character)], String, Int)] = [
      ([(.required, "+")], "+", 1), ([(.required, "-")], "-", 1), ([(.required, "?")], "?", 1),
      ([(.sufficient, "+"), (.required, "-")], "+", 1),
      ([(.sufficient, "-"), (.required, "+")], "+", 2),
      ([(.sufficient, "-"), (.sufficient, "-")], "-", 2),
      ([(.sufficient, "-"), (.sufficient, "+")], "+", 2),
      ([(.required, "-"), (.sufficient, "+")], "-", 2),
      ([(.required, "-"), (.required, "+")], "-", 2),
      ([(.requisite, "-"), (.required, "+")], "-", 1),
      ([(.requisite, "+"), (.required, "+")], "+", 2),
      ([(.optional, "-"), (.required, "+")], "+", 2),
      ([(.required, "+"), (.optional, "?")], "+", 2),
      ([(.optional, "+"), (.sufficient, "-")], "+", 2),
      ([(.optional, "+"), (.required, "-")], "-", 2),
      // Who was away might have accepted; who refused decides all the same.
      ([(.sufficient, "?"), (.sufficient, "-")], "?", 2),
      ([(.sufficient, "?"), (.required, "-")], "-", 2),
      ([(.sufficient, "?"), (.required, "+")], "+", 2),
      ([(.required, "?"), (.required, "-")], "-", 2),
      ([(.required, "?"), (.sufficient, "+")], "?", 2),
      ([(.requisite, "?"), (.required, "+")], "?", 1),
    ]
    for (entries, verdict, asked) in cases {
      let found = Self.verdict(entries)
      #expect(found.verdict == verdict && found.asked == asked, "\(entries): \(found)")
    }
  }

  @Test("Roles and claims of all who accept count, and packages that all allow")
  func merged() throws {
    func record(_ roles: [String], _ claims: [String: [String]]) -> LoginOutcome {
      .accepted(UserRecord(name: "anna", roles: roles, claims: claims))
    }
    let stack = SecurityStack([
      .init(.required, ScriptedModule(record(["a"], ["x": ["1"]]))),
      .init(.optional, ScriptedModule(record(["b", "a"], ["x": ["1", "2"]]))),
      .init(.optional, ScriptedModule(.refused("no"))),
    ])
    let (verdict, _) = stack.judge { _, module in module.judge(user: "anna", password: "good") }
    guard case .accepted(let merged) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(merged.roles == ["a", "b"] && merged.claims == ["x": ["1", "2"]])
  }

  @Test("Who is looked up is known without a password, others only by a login")
  func lookups() {
    let file = ScriptedModule(Self.record("a"), looksUp: true)
    let directory = ScriptedModule(Self.record("b"))
    #expect(SecurityStack([.init(.required, file)]).record(of: "anna")?.roles == ["a"])
    #expect(SecurityStack([.init(.required, directory)]).record(of: "anna") == nil)
    let both = SecurityStack([.init(.sufficient, file), .init(.required, directory)])
    #expect(both.record(of: "anna")?.roles == ["a"])
    file.say(.refused("removed"))
    #expect(both.record(of: "anna") == nil)
    let strict = SecurityStack([.init(.required, file), .init(.required, directory)])
    #expect(strict.record(of: "anna") == nil)
  }
}

@Suite("Named security configurations", .reference("facts/2.9", "ios/SRV-9"))
struct ConfigurationTests {
  private let clock = MovedClock()
  private let file = ScriptedModule(
    .accepted(UserRecord(name: "anna", roles: ["a"], stamp: "1")), looksUp: true, kind: "userFile")
  private let directory = ScriptedModule(
    .accepted(UserRecord(name: "anna", roles: ["b"])), kind: "ldap")

  private func make(memory: Duration = .seconds(3_600)) -> SecurityConfigurations {
    SecurityConfigurations(
      [
        .init(name: "company", stack: SecurityStack([.init(.required, file)]), memory: memory),
        .init(
          name: "partners", domain: "abroad",
          stack: SecurityStack([.init(.required, directory)]), memory: memory),
      ], world: World(clock: clock, chance: SystemChance(), log: SilentLog()))
  }

  private func roles(
    _ configurations: SecurityConfigurations, _ user: String, _ password: String = "good"
  ) -> [String]? {
    try? configurations.authenticate(user: user, password: password).roles
  }

  @Test("The end of a name, or a header, says which configuration is meant")
  func names() throws {
    let made = make()
    func name(_ user: String, _ headers: HTTPHeaders = [:]) -> String? {
      try? made.name(of: user, headers)
    }
    #expect(name("anna") == "anna" && name("anna@company") == "anna")
    #expect(name("anna@partners") == "anna@partners")
    #expect(name("anna@example.com") == "anna@example.com")
    #expect(name("anna", ["X-SUP-SC": "partners"]) == "anna@partners")
    #expect(name("anna@example.com", ["X-SUP-SC": "partners"]) == "anna@example.com@partners")
    #expect(name("anna", ["X-SUP-SC": "company", "X-SUP-DOMAIN": "default"]) == "anna")
    #expect(name("anna", ["X-SUP-DOMAIN": "abroad"]) == "anna@partners")
    #expect(name("anna@partners", ["X-SUP-SC": "partners"]) == "anna@partners")
    for (user, headers) in [
      ("anna", ["X-SUP-SC": "nobody"]), ("anna@company", ["X-SUP-SC": "partners"]),
      ("anna@partners", ["X-SUP-SC": "company"]), ("anna", ["X-SUP-DOMAIN": "nowhere"]),
      ("anna", ["X-SUP-SC": "partners", "X-SUP-DOMAIN": "default"]),
      // Without the header it would be anna of the partners.
      ("anna@partners@company", [:]),
    ] as [(String, HTTPHeaders)] {
      #expect(name(user, headers) == nil, "\(user) \(headers)")
    }
    #expect(roles(made, "anna") == ["a"] && roles(made, "anna@partners") == ["b"])
    #expect(made.record(of: "anna")?.name == "anna")
    #expect(try made.authenticate(user: "anna@partners", password: "good").name == "anna@partners")
    #expect(made.domain(of: "anna") == "default" && made.domain(of: "anna@partners") == "abroad")
  }

  @Test("A right password is remembered for its time, and a wrong one never")
  func memory() {
    let made = make()
    for _ in 0..<3 { #expect(roles(made, "anna@partners") == ["b"]) }
    #expect(directory.asked == 1)
    clock.pass(seconds: 3_599)
    #expect(roles(made, "anna@partners") == ["b"] && directory.asked == 1)
    for _ in 0..<3 { #expect(roles(made, "anna@partners", "bad") == nil) }
    #expect(directory.asked == 4)
    clock.pass(seconds: 2)
    #expect(roles(made, "anna@partners") == ["b"] && directory.asked == 5)
    let without = make(memory: .zero)
    for _ in 0..<2 { #expect(roles(without, "anna@partners") == ["b"]) }
    #expect(directory.asked == 7)
  }

  @Test("A changed password ends what is remembered, and so does the removal of a user")
  func changes() {
    let made = make()
    #expect(roles(made, "anna") == ["a"] && file.asked == 1)
    #expect(made.remembered(user: "anna", password: "good")?.roles == ["a"])
    #expect(made.remembered(user: "anna", password: "other") == nil)
    // Rights of now, not of the login.
    file.say(.accepted(UserRecord(name: "anna", roles: ["c"], stamp: "1")))
    #expect(made.remembered(user: "anna", password: "good")?.roles == ["c"])
    file.say(.accepted(UserRecord(name: "anna", roles: ["c"], stamp: "2")))
    #expect(made.remembered(user: "anna", password: "good") == nil)
    #expect(roles(made, "anna") == ["c"] && file.asked == 2)
    file.say(.refused("removed"))
    #expect(made.remembered(user: "anna", password: "good") == nil)
    #expect(roles(made, "anna") == nil)
  }

  @Test("Who is away is no wrong guess, and nobody waits for it again for some seconds")
  func away() {
    let made = make()
    directory.say(.away("no route"))
    func code() -> ServerError.Code? {
      do throws(ServerError) {
        _ = try made.authenticate(user: "anna@partners", password: "good")
        return nil
      } catch { return error.isTransient ? error.code : .wrongLogin }
    }
    #expect(code() == .issuerAway && code() == .issuerAway && directory.asked == 1)
    // The other configuration goes on.
    #expect(roles(made, "anna") == ["a"])
    directory.say(.accepted(UserRecord(name: "anna", roles: ["b"])))
    clock.pass(seconds: 5)
    #expect(roles(made, "anna@partners") == ["b"])
  }

  @Test("Who was accepted by the user file is not remembered beyond it, whoever else is asked")
  func removed() {
    let stack = SecurityStack([.init(.sufficient, file), .init(.required, directory)])
    let made = SecurityConfigurations(
      [.init(name: "both", stack: stack)],
      world: World(clock: clock, chance: SystemChance(), log: SilentLog()))
    #expect(roles(made, "anna") == ["a"])
    file.say(.refused("removed"))
    directory.say(.refused("unknown"))
    #expect(made.remembered(user: "anna", password: "good") == nil)
    #expect(roles(made, "anna") == nil)
    // Whom only the directory knows is remembered as it said.
    directory.say(.accepted(UserRecord(name: "anna", roles: ["b"])))
    #expect(roles(made, "anna") == ["b"])
    #expect(made.remembered(user: "anna", password: "good")?.roles == ["b"])
  }

  @Test("A wrong password of a user of the file is a guess, though a directory is away")
  func guessWhileAway() {
    directory.say(.away("no route"))
    let stack = SecurityStack([.init(.sufficient, file), .init(.sufficient, directory)])
    let made = SecurityConfigurations(
      [.init(name: "both", stack: stack)],
      world: World(clock: clock, chance: SystemChance(), log: SilentLog()))
    func code() -> ServerError.Code? {
      do throws(ServerError) {
        _ = try made.authenticate(user: "anna", password: "bad")
        return nil
      } catch { return error.code }
    }
    #expect(code() == .wrongLogin)
    file.say(.refused("unknown"))
    #expect(code() == .issuerAway)
  }

  @Test("Roles of a model are those that a rule names, by domain and package")
  func mapping() {
    let made = make()
    let mapping = RoleMapping(
      [
        "abroad": [
          "Travel": ["sales": .roles(["b", "x"]), "admin": .none, "b": .none, "c": .auto],
          "*": ["all": .roles(["b"])],
        ]
      ], domain: { made.domain(of: $0) })
    #expect(
      mapping.roles(["b", "admin", "c", "d"], of: "anna@partners", in: "Travel")
        .sorted() == ["c", "d", "sales"])
    #expect(mapping.roles(["b"], of: "anna@partners", in: "Other") == ["b", "all"])
    #expect(mapping.roles(["sales"], of: "anna@partners", in: "Travel") == [])
    // Another domain has no rules: its roles are those of the same name.
    #expect(mapping.roles(["b", "admin"], of: "anna", in: "Travel") == ["b", "admin"])
  }

  @Test("Wrong passwords count at the door, whichever configuration is meant")
  func guesses() async {
    let made = make()
    let world = World(clock: clock, chance: SystemChance(), log: SilentLog())
    let logins = BasicLogins(Doorkeeper(made, world: world), world: world)
    func code(_ user: String, _ headers: HTTPHeaders, _ password: String) async -> ServerError.Code?
    {
      do throws(ServerError) {
        _ = try await logins.login(user: user, password: password, headers, from: "10.0.0.1")
        return nil
      } catch { return error.code }
    }
    #expect(await code("anna", ["X-SUP-SC": "partners"], "good") == nil)
    for turn in 0..<6 {
      let byHeader = turn % 2 == 0
      let found = await code(
        byHeader ? "anna" : "anna@partners", byHeader ? ["X-SUP-SC": "partners"] : [:], "bad")
      #expect(found == (turn < 5 ? .wrongLogin : .tooManyGuesses), "\(turn)")
    }
  }
}
