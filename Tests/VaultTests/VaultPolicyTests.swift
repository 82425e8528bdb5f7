import FerryTestTraits
import FerryVault
import FerryWorld
import Foundation
import Testing

@Suite("The password policy of a vault")
struct VaultPolicyTests {
  @Test("Every field of a policy is off by default", .reference("adr/DVT-13", "facts/1.9"))
  func defaults() {
    let policy = PasswordPolicy()
    #expect(!policy.defaultPasswordAllowed)
    #expect(
      ![policy.hasDigits, policy.hasUpper, policy.hasLower, policy.hasSpecial].contains(true))
    #expect(policy.minLength == 0 && policy.expirationDays == 0)
    #expect(policy.minUniqueChars == 0 && policy.retryLimit == 0)
    #expect(policy.lockTimeout == .zero)
    #expect(PasswordPolicy.specialCharacters == "~!@#$%^&*()-+")
  }

  @Test(
    "Setting a policy locks the vault for all; it is judged at unlock",
    .reference("ios/VLT-6", "adr/DVT-12"))
  func locks() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "weak", salt: "s")
    let other = try fixture.vaults.getVault("v")
    try other.unlock("weak", salt: "s")
    var policy = PasswordPolicy()
    policy.minLength = 8
    try vault.setPasswordPolicy(policy)
    #expect(vault.isLocked)
    #expect(reason { _ = try other.getString("a") } == .locked)
    let error = failure { try vault.unlock("weak", salt: "s") }
    #expect(error?.reason.name == "IncompatiblePassword")
    #expect(error?.violation?.name == "PASSWORD_UNDER_MIN_LENGTH")
    #expect(vault.isLocked)
    // A wrong password is told as wrong, not as weak.
    #expect(
      reason { try vault.unlock("x", salt: "s") } == .invalidPassword)
    try vault.changePassword("weak", currentSalt: "s", newPassword: "stronger", newSalt: "s")
    #expect(try vault.getPasswordPolicy() == policy)
    vault.lock()
    try vault.unlock("stronger", salt: "s")
  }

  @Test(
    "A negative number is refused by its name and changes nothing",
    .reference("ios/VLT-6", "adr/DVT-12"))
  func negative() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    let numbers: [WritableKeyPath<PasswordPolicy, Int>] = [
      \.minLength, \.expirationDays, \.minUniqueChars, \.retryLimit,
    ]
    for (number, name) in zip(
      numbers, ["minLength", "expirationDays", "minUniqueChars", "retryLimit"])
    {
      for value in [-1, Int(Int32.max) + 1] {
        var policy = PasswordPolicy()
        policy[keyPath: number] = value
        let error = failure { try vault.setPasswordPolicy(policy) }
        #expect(error?.reason == .invalidArgument)
        #expect(error?.message.hasPrefix(name) == true)
      }
    }
    var policy = PasswordPolicy()
    policy.lockTimeout = .seconds(-1)
    #expect(
      failure { try vault.setPasswordPolicy(policy) }?.message
        .hasPrefix("lockTimeout") == true)
    #expect(!vault.isLocked)
    #expect(try vault.getPasswordPolicy() == PasswordPolicy())
  }

  /// The violation with which a vault of this policy refuses a new password.
  private func violation(
    _ password: String?, _ change: (inout PasswordPolicy) -> Void
  ) throws -> PasswordViolation? {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: password, salt: "s")
    var policy = PasswordPolicy()
    change(&policy)
    try vault.setPasswordPolicy(policy)
    do {
      try vault.unlock(password, salt: "s")
      return nil
    } catch {
      #expect(error.reason == .incompatiblePassword)
      return error.violation
    }
  }

  @Test(
    "At least four different characters: aaate and ababa fail, aaord passes",
    .reference("adr/DVT-14"))
  func unique() throws {
    #expect(try violation("aaate") { $0.minUniqueChars = 4 } == .underMinimumUnique)
    #expect(try violation("ababa") { $0.minUniqueChars = 4 } == .underMinimumUnique)
    #expect(try violation("aaord") { $0.minUniqueChars = 4 } == nil)
  }

  @Test(
    "Each rule refuses by its number, from 50 to 57",
    .reference("adr/DVT-16", "adr/DVT-13", "ios/VLT-10"))
  func rules() throws {
    #expect(try violation(nil) { _ in } == .required)
    #expect(try violation("1234") { $0.minLength = 5 } == .underMinimumLength)
    #expect(try violation("12345") { $0.minLength = 5 } == nil)
    #expect(try violation("abc") { $0.hasDigits = true } == .requiresDigit)
    #expect(try violation("abc1") { $0.hasDigits = true } == nil)
    #expect(try violation("abc") { $0.hasUpper = true } == .requiresUpper)
    #expect(try violation("abC") { $0.hasUpper = true } == nil)
    #expect(try violation("ABC") { $0.hasLower = true } == .requiresLower)
    #expect(try violation("ABc") { $0.hasLower = true } == nil)
    #expect(try violation("abc_?") { $0.hasSpecial = true } == .requiresSpecial)
    for character in "~!@#$%^&*()-+" {
      #expect(try violation("abc\(character)") { $0.hasSpecial = true } == nil)
    }
    #expect(PasswordViolation.allCases.map(\.rawValue) == Array(50...57))
    #expect(
      PasswordViolation.allCases.map(\.name) == [
        "PASSWORD_REQUIRED", "PASSWORD_UNDER_MIN_LENGTH", "PASSWORD_REQUIRES_DIGIT",
        "PASSWORD_REQUIRES_UPPER", "PASSWORD_REQUIRES_LOWER", "PASSWORD_REQUIRES_SPECIAL",
        "PASSWORD_UNDER_MIN_UNIQUE", "PASSWORD_EXPIRED",
      ])
    // Several at once: the lowest number is told.
    #expect(
      try violation("x") {
        $0.minLength = 2
        $0.hasDigits = true
        $0.hasUpper = true
        $0.minUniqueChars = 2
      } == .underMinimumLength)
  }

  @Test(
    "A default password that is allowed is asked neither length nor characters",
    .reference("adr/DVT-13"))
  func allowedDefault() throws {
    let all: (inout PasswordPolicy) -> Void = {
      $0.defaultPasswordAllowed = true
      $0.minLength = 1_000
      $0.hasDigits = true
      $0.hasUpper = true
      $0.hasLower = true
      $0.hasSpecial = true
      $0.minUniqueChars = 32
    }
    #expect(try violation(nil, all) == nil)
    #expect(try violation("short", all) == .underMinimumLength)
    // How many differ is asked of it too: it has 32.
    #expect(
      try violation(nil) {
        all(&$0)
        $0.minUniqueChars = 33
      } == .underMinimumUnique)
  }

  @Test(
    "A password is good for its days, counted from the day it was set",
    .reference("adr/DVT-15", "ios/VLT-10"))
  func expiry() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    var policy = PasswordPolicy()
    policy.expirationDays = 20
    try vault.setPasswordPolicy(policy)
    fixture.clock.set(byDays: 19)
    try vault.unlock("p", salt: "s")
    fixture.clock.set(byDays: 1)
    // It is checked at unlock only.
    #expect(!vault.isLocked)
    vault.lock()
    let error = failure { try vault.unlock("p", salt: "s") }
    #expect(error?.code == 57)
    #expect(error?.violation == .expired)
    // The same password set anew is good again; no policy forbids it.
    try vault.changePassword("p", currentSalt: "s", newPassword: "p", newSalt: "s")
    vault.lock()
    try vault.unlock("p", salt: "s")
  }

  @Test("A clock that was set back makes no password young, one that was ahead costs a change")
  func wrongClock() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    var policy = PasswordPolicy()
    policy.expirationDays = 20
    try vault.setPasswordPolicy(policy)
    fixture.clock.set(byDays: 25)
    #expect(failure { try vault.unlock("p", salt: "s") }?.code == 57)
    fixture.clock.set(byDays: -25)
    #expect(failure { try vault.unlock("p", salt: "s") }?.code == 57)
    // The change takes the clock as it is now.
    try vault.changePassword("p", currentSalt: "s", newPassword: "q", newSalt: "s")
    fixture.clock.set(byDays: -5_000)
    try vault.unlock("q", salt: "s")
    #expect(!vault.isLocked)
  }

  @Test("The server's eleven properties make a policy, off by default", .reference("adr/DVT-15"))
  func properties() throws {
    #expect(PasswordPolicy.Property.allCases.count == 11)
    #expect(try PasswordPolicy.policy(properties: [:]) == nil)
    let prefix = "MCL_PROP_ID_PWDPOLICY_"
    #expect(
      try PasswordPolicy.policy(properties: [prefix + "ENABLED": "true"]) == PasswordPolicy())
    var properties = [
      "ENABLED": "1", "DEFAULT_PASSWORD_ALLOWED": "true", "MIN_LENGTH": "4", "HAS_DIGITS": "TRUE",
      "HAS_UPPER": "true", "HAS_LOWER": "true", "HAS_SPECIAL": "true", "EXPIRATION_DAYS": "20",
      "MIN_UNIQUE_CHARS": "3", "LOCK_TIMEOUT": "1600", "RETRY_LIMIT": "20", "OTHER": "?",
    ].reduce(into: [:]) { $0[prefix + $1.key] = $1.value }
    #expect(try PasswordPolicy.policy(properties: properties) == sample)
    properties[prefix + "ENABLED"] = "false"
    #expect(try PasswordPolicy.policy(properties: properties) == nil)
    for (name, value) in [
      ("ENABLED", "yes"), ("MIN_LENGTH", "-1"), ("RETRY_LIMIT", "2147483648"), ("HAS_UPPER", "2"),
      ("LOCK_TIMEOUT", "1.5"),
    ] {
      var wrong = properties
      wrong[prefix + name] = value
      let error = failure {
        _ = try PasswordPolicy.policy(properties: wrong)
      }
      #expect(error?.reason == .invalidArgument)
      #expect(error?.message.contains(prefix + name) == true)
    }
  }

  private var sample: PasswordPolicy {
    var policy = PasswordPolicy()
    policy.defaultPasswordAllowed = true
    policy.minLength = 4
    policy.hasDigits = true
    policy.hasUpper = true
    policy.hasLower = true
    policy.hasSpecial = true
    policy.expirationDays = 20
    policy.minUniqueChars = 3
    policy.lockTimeout = .seconds(1_600)
    policy.retryLimit = 20
    return policy
  }
}
