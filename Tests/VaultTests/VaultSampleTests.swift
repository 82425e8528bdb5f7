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

  @Test("The whole example with a policy (ios CS 96 to 114)")
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

  @Test("The walk through defaults and back (adr A54 to A59; B21 to B24; adr/DVT-19)")
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
}
