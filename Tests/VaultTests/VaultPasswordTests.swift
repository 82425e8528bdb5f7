import FerryTestTraits
import FerryVault
import FerryWorld
import Foundation
import Testing

@Suite("The password of a vault")
struct VaultPasswordTests {
  @Test("A wrong password or salt is told by name", .reference("ios/VLT-10", "adr/DVT-9"))
  func wrong() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "password", salt: "salt")
    vault.lock()
    for (password, salt) in [
      ("Password", "salt"), ("password", "Salt"), ("", "salt"), (nil, "salt"), ("password", nil),
      // The border between the two counts.
      ("passwordsalt", ""), ("passwords", "alt"),
    ] as [(String?, String?)] {
      let error = failure { try vault.unlock(password, salt: salt) }
      #expect(error?.reason == .invalidPassword)
      #expect(error?.reason.name == "InvalidPassword")
      #expect(error?.code == 5)
      #expect(vault.isLocked)
    }
    try vault.unlock("password", salt: "salt")
    #expect(!vault.isLocked)
    // A wrong password locks a vault that was open.
    #expect(
      reason { try vault.unlock("x", salt: "salt") }
        == .invalidPassword)
    #expect(vault.isLocked)
  }

  @Test(
    "The default password opens where it was set, and protects nothing",
    .reference("ios/VLT-8", "adr/DVT-17"))
  func defaultPassword() throws {
    let fixture = VaultFixture()
    let vaults = fixture.vaults
    for (number, (password, salt, isDefault)) in [
      (nil, nil, true), ("p", nil, false), (nil, "s", false), ("p", "s", false),
    ].enumerated() as EnumeratedSequence<[(String?, String?, Bool)]> {
      let vault = try vaults.createVault("\(number)", password: password, salt: salt)
      #expect(try vault.isDefaultPasswordUsed() == isDefault)
      vault.lock()
      try vault.unlock(password, salt: salt)
      #expect(try vault.isDefaultPasswordUsed() == isDefault)
    }
    // It is another one for each vault: a copy of the bytes under another name does not open.
    let first = try vaults.getVault("0")
    try first.unlock(nil, salt: nil)
    try first.changePassword("p", salt: "s")
    #expect(
      reason { try first.unlock(nil, salt: nil) } == .invalidPassword)
  }

  @Test(
    "An unlocked vault changes its password: nil is default, empty an error",
    .reference("ios/VLT-14", "adr/DVT-10")
  )
  func change() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "old", salt: "salt")
    let other = try fixture.vaults.getVault("v")
    try other.unlock("old", salt: "salt")
    try vault.setString("a", value: "b")
    try vault.setValue("c", value: [1])
    let before = try fixture.bytes
    #expect(
      reason { try vault.changePassword("", salt: "salt") }
        == .invalidArgument)
    #expect(try fixture.bytes == before)
    try vault.changePassword("new", salt: "pepper")
    #expect(!vault.isLocked)
    #expect(try vault.getString("a") == "b")
    #expect(try vault.getValue("c") == [1])
    // The other object has the old key, which opens nothing now.
    #expect(reason { _ = try other.getString("a") } == .locked)
    #expect(
      reason { try other.unlock("old", salt: "salt") }
        == .invalidPassword)
    try other.unlock("new", salt: "pepper")
    // All is sealed anew: no 64 bytes of the old file are in the new one.
    let after = try fixture.bytes
    let pieces = Set(stride(from: 0, to: before.count - 64, by: 16).map { before[$0..<($0 + 64)] })
    let isShared = (0..<(after.count - 64)).contains { pieces.contains(after[$0..<($0 + 64)]) }
    #expect(!isShared)
    try vault.changePassword(nil, salt: nil)
    #expect(try vault.isDefaultPasswordUsed())
    vault.lock()
    #expect(
      reason { try vault.changePassword("x", salt: "y") } == .locked)
  }

  @Test(
    "A locked vault changes its password with the current one",
    .reference("ios/VLT-15", "adr/DVT-11"))
  func changeLocked() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: nil, salt: nil)
    try vault.setString("a", value: "b")
    vault.lock()
    #expect(
      reason {
        try vault.changePassword("wrong", currentSalt: nil, newPassword: "new", newSalt: "salt")
      } == .invalidPassword)
    #expect(
      reason {
        try vault.changePassword(nil, currentSalt: nil, newPassword: "", newSalt: "salt")
      } == .invalidArgument)
    #expect(vault.isLocked)
    try vault.changePassword(nil, currentSalt: nil, newPassword: "new", newSalt: "salt")
    #expect(!vault.isLocked)
    #expect(try vault.getString("a") == "b")
    #expect(try !vault.isDefaultPasswordUsed())
    vault.lock()
    try vault.unlock("new", salt: "salt")
    // Back to the default with nil.
    try vault.changePassword("new", currentSalt: "salt", newPassword: nil, newSalt: nil)
    #expect(try vault.isDefaultPasswordUsed())
  }

  @Test(
    "The new password is judged before the current one is tried",
    .reference("ios/VLT-15", "adr/DVT-11"))
  func order() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "long enough", salt: "salt")
    var policy = PasswordPolicy()
    policy.minLength = 5
    policy.retryLimit = 1
    try vault.setPasswordPolicy(policy)
    for _ in 0..<5 {
      let error = failure {
        try vault.changePassword("wrong", currentSalt: "salt", newPassword: "tiny", newSalt: nil)
      }
      #expect(error?.reason == .incompatiblePassword)
      #expect(error?.violation == .underMinimumLength)
    }
    // No try was used up.
    try vault.unlock("long enough", salt: "salt")
    #expect(
      failure { try vault.changePassword("tiny", salt: nil) }?.code
        == 51)
  }

  @Test(
    "One wrong try more than the limit deletes the vault", .reference("ios/VLT-10", "adr/DVT-9"))
  func retryLimit() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try vault.setRetryLimit(3)
    vault.lock()
    for left in [2, 1, 0] {
      let error = failure { try vault.unlock("x", salt: "s") }
      #expect(error?.reason == .invalidPassword)
      #expect(error?.isVaultDeleted == false)
      #expect(error?.message.contains("\(left) of 3 wrong tries are left") == true)
    }
    // A right one begins the count anew.
    try vault.unlock("p", salt: "s")
    vault.lock()
    for _ in 0..<3 {
      #expect(
        failure { try vault.unlock("x", salt: "s") }?.isVaultDeleted
          == false)
    }
    let last = failure {
      try vault.changePassword("x", currentSalt: "s", newPassword: "n", newSalt: nil)
    }
    #expect(last?.isVaultDeleted == true)
    #expect(last?.reason == .invalidPassword)
    #expect(try !fixture.vaults.vaultExists("v"))
  }

  @Test("Without a limit no number of wrong tries deletes the vault", .reference("ios/VLT-10"))
  func noLimit() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    for _ in 0..<50 {
      #expect(
        reason { try vault.unlock("x", salt: "s") }
          == .invalidPassword)
    }
    try vault.unlock("p", salt: "s")
  }

  @Test(
    "The lock timeout runs from the unlock, and is counted anew on demand", .reference("ios/VLT-16")
  )
  func lockTimeout() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try vault.setString("a", value: "b")
    // Off by default.
    fixture.clock.advance(.seconds(100 * 86_400))
    #expect(!vault.isLocked)
    try vault.setLockTimeout(.seconds(1_500))
    #expect(try vault.getLockTimeout() == .seconds(1_500))
    fixture.clock.advance(.milliseconds(1_499_999))
    #expect(try vault.getString("a") == "b")
    try vault.resetLockTimeout()
    fixture.clock.advance(.milliseconds(1_499_999))
    #expect(!vault.isLocked)
    // The time of day says nothing.
    fixture.clock.set(byDays: 400)
    #expect(!vault.isLocked)
    fixture.clock.advance(.milliseconds(1))
    #expect(vault.isLocked)
    #expect(reason { _ = try vault.getString("a") } == .locked)
    #expect(reason { try vault.resetLockTimeout() } == .locked)
    // It holds for those who get the vault later.
    let again = try fixture.vaults.getVault("v")
    try again.unlock("p", salt: "s")
    fixture.clock.advance(.seconds(1_500))
    #expect(again.isLocked)
  }

  @Test(
    "Timeout and limit of the vault's own give way to the policy's",
    .reference("ios/VLT-18", "adr/DVT-18"))
  func override() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try vault.setLockTimeout(.seconds(1_500))
    try vault.setRetryLimit(10)
    #expect(try vault.getRetryLimit() == 10)
    var policy = PasswordPolicy()
    policy.lockTimeout = .seconds(1_600)
    policy.retryLimit = 20
    try vault.setPasswordPolicy(policy)
    try vault.unlock("p", salt: "s")
    #expect(try vault.getLockTimeout() == .seconds(1_600))
    #expect(try vault.getRetryLimit() == 20)
    fixture.clock.advance(.seconds(1_599))
    #expect(!vault.isLocked)
    try vault.setLockTimeout(.seconds(7))
    #expect(try vault.getLockTimeout() == .seconds(1_600))
    // A policy with zeros means none, not the vault's own.
    try vault.setPasswordPolicy(PasswordPolicy())
    try vault.unlock("p", salt: "s")
    #expect(try vault.getRetryLimit() == 0)
    #expect(try vault.getLockTimeout() == .zero)
    try vault.setPasswordPolicy(nil)
    try vault.unlock("p", salt: "s")
    #expect(try vault.getLockTimeout() == .seconds(7))
    #expect(try vault.getRetryLimit() == 10)
    for call in [
      { try vault.setLockTimeout(.seconds(-1)) },
      { try vault.setRetryLimit(-1) },
    ] as [() throws -> Void] {
      #expect(failure(call)?.reason == .invalidArgument)
    }
  }
}
