import FerryCrypto
import FerryTestTraits
import FerryVault
import FerryWorld
import Foundation
import Testing

@Suite("Vaults")
struct VaultTests {
  @Test(
    "A vault is made unlocked, with no policy", .reference("ios/VLT-1", "adr/DVT-4", "adr/DVT-1"))
  func create() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("myVault", password: "password", salt: "salt")
    #expect(!vault.isLocked)
    #expect(try vault.getPasswordPolicy() == PasswordPolicy())
    #expect(try vault.getLockTimeout() == .zero)
    #expect(try vault.getRetryLimit() == 0)
    #expect(try vault.getDataNames().isEmpty)
    // Any length and any characters.
    for (number, password) in ["x", String(repeating: "長い", count: 5_000), "\0 \n\u{1F511}"]
      .enumerated()
    {
      let other = try fixture.vaults.createVault("\(number)", password: password, salt: "")
      other.lock()
      try other.unlock(password, salt: "")
    }
  }

  @Test(
    "A name that is in use, empty or too long, or an empty password is refused",
    .reference("ios/VLT-1"))
  func refusedNames() throws {
    let fixture = VaultFixture()
    let vaults = fixture.vaults
    let first = try vaults.createVault("myVault", password: "password", salt: "salt")
    try first.setString("kept", value: "yes")
    let second = failure {
      _ = try vaults.createVault("myVault", password: "other", salt: "other")
    }
    #expect(second?.reason == .invalidArgument)
    #expect(second?.reason.name == "INVALID_ARG")
    #expect(second?.code == 4)
    #expect(second?.message == "vault myVault already exists")
    #expect(try first.getString("kept") == "yes")
    for (name, password) in [("", "password"), ("new", "")] {
      #expect(
        reason {
          _ = try vaults.createVault(name, password: password, salt: "salt")
        } == .invalidArgument)
    }
    #expect(try !vaults.vaultExists("new"))
    let long = String(repeating: "é", count: 128)
    #expect(
      reason { _ = try vaults.vaultExists(long) } == .nameTooLong)
    #expect(try !vaults.vaultExists(String(long.dropLast())))
    // The same letter typed in two ways is one name.
    _ = try vaults.createVault("caf\u{E9}", password: nil, salt: nil)
    #expect(try vaults.vaultExists("cafe\u{301}"))
    #expect(try !vaults.vaultExists("CAF\u{C9}"))
  }

  @Test(
    "A vault is asked for, got locked, and missed by name",
    .reference("ios/VLT-2", "ios/VLT-3", "adr/DVT-5"))
  func get() throws {
    let fixture = VaultFixture()
    let vaults = fixture.vaults
    #expect(try !vaults.vaultExists("myVault"))
    #expect(
      reason { _ = try vaults.getVault("myVault") } == .doesNotExist)
    let made = try vaults.createVault("myVault", password: "password", salt: "salt")
    #expect(try vaults.vaultExists("myVault"))
    let got = try vaults.getVault("myVault")
    #expect(got.isLocked)
    #expect(!made.isLocked)
    try got.unlock("password", salt: "salt")
    try made.setString("a", value: "b")
    #expect(try got.getString("a") == "b")
  }

  @Test(
    "A vault is deleted while it is locked, without its password",
    .reference("ios/VLT-4", "adr/DVT-5"))
  func delete() throws {
    let fixture = VaultFixture()
    let vaults = fixture.vaults
    let vault = try vaults.createVault("myVault", password: "password", salt: "salt")
    let other = try vaults.getVault("myVault")
    try other.unlock("password", salt: "salt")
    vault.lock()
    try vaults.deleteVault("myVault")
    #expect(try !vaults.vaultExists("myVault"))
    // Whoever shared it learns it with the next call.
    #expect(
      reason { _ = try other.getString("a") } == .doesNotExist)
    #expect(
      reason { try vault.unlock("password", salt: "salt") }
        == .doesNotExist)
    #expect(
      reason { try vaults.deleteVault("myVault") } == .doesNotExist)
    // A new one of that name is another vault.
    let next = try vaults.createVault("myVault", password: "password", salt: "salt")
    #expect(reason { _ = try other.getString("a") } == .locked)
    #expect(try next.getDataNames().isEmpty)
  }

  @Test(
    "A vault locks, and a locked vault locks without effect", .reference("ios/VLT-9", "adr/DVT-8"))
  func lock() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("myVault", password: "password", salt: "salt")
    try vault.setString("a", value: "b")
    vault.lock()
    #expect(vault.isLocked)
    vault.lock()
    #expect(vault.isLocked)
    let calls: [() throws -> Void] = [
      { _ = try vault.getString("a") },
      { _ = try vault.getValue("a") },
      { _ = try vault.getCertificate("a") },
      { try vault.setString("a", value: "c") },
      { try vault.setValue("a", value: [1]) },
      { try vault.setCertificate("a", der: [1]) },
      { try vault.deleteValue("a") },
      { _ = try vault.getDataNames() },
      { _ = try vault.isDefaultPasswordUsed() },
      { _ = try vault.getPasswordPolicy() },
      { try vault.setPasswordPolicy(PasswordPolicy()) },
      { try vault.changePassword("new", salt: nil) },
      { try vault.resetLockTimeout() },
      { try vault.setLockTimeout(.seconds(1)) },
      { try vault.setRetryLimit(1) },
    ]
    for (number, call) in calls.enumerated() {
      #expect(failure(call)?.reason == .locked, "call \(number)")
    }
    #expect(DataVaultError.Reason.locked.code == 8)
    try vault.unlock("password", salt: "salt")
    #expect(try vault.getString("a") == "b")
  }

  @Test(
    "Vaults of a group are shared by its apps and hidden from others",
    .reference("ios/VLT-17", "adr/DVT-3"))
  func groups() throws {
    let fixture = VaultFixture()
    func vaults(_ group: String) throws -> DataVaults {
      try DataVaults.shared(
        accessGroup: group, in: fixture.folder, world: fixture.world,
        derivation: .pbkdf2(rounds: 1))
    }
    let group = "ABCDE12345.com.yourcompany.DataVault"
    let vault = try vaults(group).createVault("myVault", password: "password", salt: "salt")
    try vault.setString("a", value: "b")
    let other = try vaults(group).getVault("myVault")
    try other.unlock("password", salt: "salt")
    #expect(try other.getString("a") == "b")
    #expect(try !vaults("another").vaultExists("myVault"))
    #expect(try !fixture.vaults.vaultExists("myVault"))
    #expect(
      reason {
        _ = try DataVaults.shared(accessGroup: "", in: fixture.folder)
      } == .invalidArgument)
  }

  @Test(
    "What is shipped derives keys slowly, and needs no set-up",
    .reference("adr/DVT-2", "adr/DVT-20"))
  func standard() throws {
    let fixture = VaultFixture()
    let vault = try DataVaults(folder: fixture.folder).createVault("v", password: "p", salt: "s")
    try vault.setString("a", value: "b")
    let bytes = try fixture.bytes
    // Magic, version, the name with its length, id; then the derivation.
    let place = 12 + 4 + 4 + 1 + 16
    #expect(
      Array(bytes[place..<(place + 16)]) == [0, 0, 0, 1, 0, 0, 0, 15, 0, 0, 0, 8, 0, 0, 0, 3])
    #expect(!String(decoding: bytes, as: UTF8.self).contains("password"))
  }
}
