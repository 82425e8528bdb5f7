import FerryTestTraits
import FerryVault
import FerryWorld
import Foundation
import Testing

/// The samples of the reference, with its names and values.
@Suite("Samples of the reference: the vault")
struct VaultSampleTests {
  private var policy: PasswordPolicy {
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

  @Test("The whole example with a policy", .reference("ios/CS-114"))
  func whole() throws {
    let fixture = VaultFixture()
    let vaults = fixture.vaults
    let salt = "saltD#ddg#k05%gnd[!1A"
    for round in 1...2 {
      let vault: DataVault
      if try vaults.vaultExists("SampleVault") {
        vault = try vaults.getVault("SampleVault")
        try vault.unlock("password!2A", salt: "saltD#ddg#k05%gnd[!2A")
      } else {
        vault = try vaults.createVault("SampleVault", password: "password!1A", salt: salt)
      }
      #expect(!vault.isLocked)
      if round == 2 {
        #expect(try vault.getPasswordPolicy() == policy)
        #expect(try vault.getString("stringName") == "stringValue")
        break
      }
      try vault.setPasswordPolicy(policy)
      #expect(vault.isLocked)
      try vault.unlock("password!1A", salt: salt)
      #expect(try vault.getPasswordPolicy() == policy)
      try vault.setString("stringName", value: "stringValue")
      try vault.setValue("binaryName", value: [1, 2, 3, 4, 5, 6, 7])
      var read: [String] = []
      for name in try vault.getDataNames() {
        switch name.type {
        case .string: read.append(try vault.getString(name.name) ?? "")
        case .binary: read.append("\(try vault.getValue(name.name) ?? [])")
        case .certificate, .unknown: Issue.record("\(name)")
        }
      }
      #expect(read == ["stringValue", "[1, 2, 3, 4, 5, 6, 7]"])
      try vault.changePassword("password!2A", salt: "saltD#ddg#k05%gnd[!2A")
    }
    try vaults.deleteVault("SampleVault")
    #expect(try !vaults.vaultExists("SampleVault"))
  }

  @Test("The walk through defaults and back", .reference("adr/B24", "adr/DVT-19"))
  func walk() throws {
    let fixture = VaultFixture()
    let vaults = fixture.vaults
    let salt = "saltD#ddg#k05%gnd[!1A"
    let vault = try vaults.createVault("DataVaultExample", password: "password!1A", salt: salt)
    try vault.setLockTimeout(.seconds(1_500))
    #expect(try vault.getLockTimeout() == .seconds(1_500))
    try vault.setRetryLimit(10)
    #expect(try vault.getRetryLimit() == 10)
    try vault.setPasswordPolicy(policy)
    #expect(vault.isLocked)
    try vault.unlock("password!1A", salt: salt)
    #expect(try vault.getRetryLimit() == 20)
    try vault.setString("stringName", value: "stringValue")
    try vault.changePassword(nil, salt: nil)
    #expect(try vault.isDefaultPasswordUsed())
    vault.lock()
    try vault.changePassword(
      nil, currentSalt: nil, newPassword: "password!1A", newSalt: salt)
    #expect(try !vault.isDefaultPasswordUsed())
    // Set and get with a lock that is certain.
    do {
      defer { vault.lock() }
      #expect(try vault.getString("stringName") == "stringValue")
    }
    #expect(vault.isLocked)
    if vault.isLocked { try vault.unlock("password!1A", salt: salt) }
    #expect(try vault.deleteValue("stringName"))
    try vaults.deleteVault("DataVaultExample")
  }

  @Test(
    "A vault is made once and found again, asked for, deleted",
    .reference("ios/CS-96", "ios/CS-97", "ios/CS-98", "adr/A54", "adr/B21")
  )
  func makeAndDelete() throws {
    let vaults = VaultFixture().vaults
    for _ in 1...2 {
      if try !vaults.vaultExists("myVault") {
        let made = try vaults.createVault("myVault", password: "goodPassword", salt: "goodSalt")
        #expect(!made.isLocked)
      } else {
        #expect(try vaults.getVault("myVault").isLocked)
      }
    }
    if try vaults.vaultExists("myVault") { try vaults.deleteVault("myVault") }
    #expect(try !vaults.vaultExists("myVault"))
    #expect(reason { try vaults.deleteVault("myVault") } == .doesNotExist)
  }

  @Test(
    "Names are listed with their types and read by them",
    .reference("ios/CS-99", "adr/A55", "adr/B22", "adr/C-11"))
  func names() throws {
    let vault = try VaultFixture().vaults.createVault("v", password: "p", salt: "s")
    try vault.setString("text", value: "a")
    try vault.setValue("bytes", value: [1])
    var read: [String: String] = [:]
    for name in try vault.getDataNames() {
      read[name.name] =
        name.type == .string
        ? try vault.getString(name.name) : "\(try vault.getValue(name.name) ?? [])"
    }
    #expect(read == ["text": "a", "bytes": "[1]"])
  }

  @Test(
    "A policy is set, read while unlocked, and the default password asked",
    .reference("ios/VLT-7", "ios/CS-100", "ios/CS-101", "ios/CS-102", "adr/A56", "adr/B22")
  )
  func policies() throws {
    let vault = try VaultFixture().vaults.createVault("v", password: nil, salt: nil)
    #expect(try vault.getPasswordPolicy() == PasswordPolicy())
    #expect(try vault.isDefaultPasswordUsed())
    try vault.setPasswordPolicy(policy)
    #expect(reason { _ = try vault.getPasswordPolicy() } == .locked)
    #expect(reason { _ = try vault.isDefaultPasswordUsed() } == .locked)
    try vault.unlock(nil, salt: nil)
    #expect(try vault.getPasswordPolicy() == policy)
  }

  @Test(
    "Values are set and read between an unlock and a lock that is certain",
    .reference(
      "ios/CS-103", "ios/CS-104", "ios/CS-105", "ios/CS-106", "ios/CS-107", "ios/CS-108", "adr/A57",
      "adr/A58", "adr/B23")
  )
  func values() throws {
    let vault = try VaultFixture().vaults.createVault(
      "v", password: "goodPassword", salt: "goodSalt")
    vault.lock()
    #expect(reason { try vault.unlock("badPassword", salt: "goodSalt") } == .invalidPassword)
    func open<Result>(_ body: () throws -> Result) throws -> Result {
      if vault.isLocked { try vault.unlock("goodPassword", salt: "goodSalt") }
      defer { vault.lock() }
      return try body()
    }
    try open { try vault.setString("testString", value: "ABCDEFabcdef") }
    #expect(vault.isLocked)
    try open { try vault.setValue("testValue", value: [1, 2, 3]) }
    #expect(try open { try vault.getString("testString") } == "ABCDEFabcdef")
    #expect(try open { try vault.getValue("testValue") } == [1, 2, 3])
    #expect(reason { _ = try vault.getString("testString") } == .locked)
    #expect(reason { try vault.setValue("testValue", value: []) } == .locked)
  }

  @Test(
    "A value is deleted; the password changes with two arguments and with four, nil and empty",
    .reference(
      "ios/CS-109", "ios/CS-110", "ios/CS-111", "adr/A59", "adr/B23", "adr/C-9", "adr/C-10")
  )
  func changes() throws {
    let vault = try VaultFixture().vaults.createVault("v", password: "a", salt: "b")
    try vault.setString("s", value: "x")
    #expect(try vault.deleteValue("s") && vault.getString("s") == nil)
    try vault.changePassword("newPassword", salt: "newSalt")
    vault.lock()
    #expect(reason { try vault.changePassword("x", salt: "y") } == .locked)
    #expect(reason { _ = try vault.deleteValue("s") } == .locked)
    try vault.changePassword(
      "newPassword", currentSalt: "newSalt", newPassword: nil, newSalt: nil)
    #expect(try vault.isDefaultPasswordUsed())
    #expect(reason { try vault.changePassword("", salt: nil) } == .invalidArgument)
    #expect(try vault.isDefaultPasswordUsed())
  }

  @Test(
    "The lock time-out begins anew; an access group has vaults of its own",
    .reference("ios/CS-112", "ios/CS-113"))
  func timeout() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "a", salt: "b")
    try vault.setLockTimeout(.seconds(10))
    fixture.clock.advance(.seconds(9))
    try vault.resetLockTimeout()
    fixture.clock.advance(.seconds(9))
    #expect(!vault.isLocked)
    fixture.clock.advance(.seconds(1))
    #expect(vault.isLocked && reason { try vault.resetLockTimeout() } == .locked)
    let shared = try DataVaults.shared(
      accessGroup: "ABCDE.com.yourcompany.DataVault", in: fixture.folder, world: fixture.world,
      derivation: .pbkdf2(rounds: 1))
    #expect(try !shared.vaultExists("v"))
    _ = try shared.createVault("v", password: "other", salt: nil)
    #expect(try fixture.vaults.vaultExists("v") && shared.vaultExists("v"))
  }
}
