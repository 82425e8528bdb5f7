import FerryTestTraits
import FerryVault
import FerryWorld
import Foundation
import Testing

@Suite("Values in a vault")
struct VaultValueTests {
  @Test("Strings are stored and read", .reference("ios/VLT-11", "adr/DVT-7"))
  func strings() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    for text in ["", "stringValue", "Größe 長い \u{1F511}\0", String(repeating: "x", count: 1 << 20)]
    {
      try vault.setString("name", value: text)
      #expect(try vault.getString("name") == text)
    }
    #expect(try vault.getString("other") == nil)
    // They outlive the process.
    let again = try fixture.vaults.getVault("v")
    try again.unlock("p", salt: "s")
    #expect(try again.getString("name")?.utf8.count == 1 << 20)
  }

  @Test(
    "Bytes and certificates are stored and read", .reference("ios/VLT-12", "adr/DVT-7", "facts/1.9")
  )
  func bytes() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try vault.setValue("binaryName", value: [1, 2, 3, 4, 5, 6, 7])
    #expect(try vault.getValue("binaryName") == [1, 2, 3, 4, 5, 6, 7])
    #expect(try vault.getValue("other") == nil)
    try vault.setCertificate("mine", der: [0x30, 0x82])
    #expect(try vault.getCertificate("mine") == [0x30, 0x82])
    #expect(try vault.getCertificate("other") == nil)
    try vault.setString("text", value: "text")
    // Each type has its own methods.
    let calls: [() throws -> Void] = [
      { _ = try vault.getString("binaryName") },
      { _ = try vault.getString("mine") },
      { _ = try vault.getValue("text") },
      { _ = try vault.getValue("mine") },
      { _ = try vault.getCertificate("text") },
    ]
    for call in calls { #expect(failure(call)?.reason == .dataType) }
    // What is set anew may have another type.
    try vault.setString("binaryName", value: "now a text")
    #expect(try vault.getString("binaryName") == "now a text")
  }

  @Test(
    "Names come with their types, in the order of setting", .reference("ios/VLT-5", "adr/DVT-6"))
  func names() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try vault.setString("b", value: "1")
    try vault.setValue("a", value: [1])
    try vault.setCertificate("c", der: [2])
    try vault.setString("b", value: "2")
    #expect(
      try vault.getDataNames() == [
        DataVaultName(name: "b", type: .string), DataVaultName(name: "a", type: .binary),
        DataVaultName(name: "c", type: .certificate),
      ])
  }

  @Test("A value is deleted, others stay", .reference("ios/VLT-13"))
  func delete() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try vault.setString("a", value: "1")
    try vault.setValue("b", value: [2])
    #expect(try vault.deleteValue("a"))
    #expect(try !vault.deleteValue("a"))
    #expect(try vault.getString("a") == nil)
    #expect(try vault.getValue("b") == [2])
    #expect(try vault.getDataNames().count == 1)
  }

  @Test("Names up to 255 bytes and values up to 1 MB are taken, more is refused by name")
  func limits() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    let name = String(repeating: "n", count: 255)
    try vault.setValue(name, value: [UInt8](repeating: 1, count: 1 << 20))
    #expect(
      reason { try vault.setString(name + "n", value: "") }
        == .nameTooLong)
    #expect(
      reason { try vault.setString("", value: "") }
        == .invalidArgument)
    #expect(
      reason {
        try vault.setValue(name, value: [UInt8](repeating: 2, count: 1 << 20 + 1))
      } == .valueTooLarge)
    #expect(try vault.getValue(name)?.first == 1)
    // All values together: the sixteenth megabyte does not fit with what sealing adds.
    for number in 0..<14 {
      try vault.setValue("\(number)", value: [UInt8](repeating: 1, count: 1 << 20))
    }
    #expect(
      reason {
        try vault.setValue("last", value: [UInt8](repeating: 1, count: 1 << 20))
      } == .valueTooLarge)
    #expect(try vault.getDataNames().count == 15)
  }

  @Test("The file holds neither values nor their names")
  func hidden() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "very secret", salt: "pepper")
    try vault.setString("token name", value: "token value")
    let text = String(decoding: try fixture.bytes, as: UTF8.self)
    for word in ["very secret", "pepper", "token name", "token value"] {
      #expect(!text.contains(word))
    }
  }

  @Test("Threads that have the vault open at once lose no value of each other")
  func concurrent() throws {
    let fixture = VaultFixture()
    _ = try fixture.vaults.createVault("v", password: "p", salt: "s")
    let vaults = fixture.vaults
    DispatchQueue.concurrentPerform(iterations: 4) { writer in
      do {
        let vault = try vaults.getVault("v")
        try vault.unlock("p", salt: "s")
        for number in 0..<20 {
          try vault.setString("\(writer)/\(number)", value: "\(writer * number)")
        }
      } catch {
        Issue.record("\(error)")
      }
    }
    let vault = try vaults.getVault("v")
    try vault.unlock("p", salt: "s")
    #expect(try vault.getDataNames().count == 80)
    #expect(try vault.getString("3/19") == "57")
  }

  @Test("Every change waits for others on the same vault, and is busy when the time is over")
  func busy() throws {
    let fixture = VaultFixture()
    _ = try fixture.vaults.createVault("v", password: "p", salt: "s")
    let vaults = DataVaults(
      storage: FolderVaultStorage(folder: fixture.folder, lockWait: .milliseconds(1)),
      world: fixture.world)
    let vault = try vaults.getVault("v")
    try vault.unlock("p", salt: "s")
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder)
    let name = try #require(names.first { $0.hasSuffix(".lock") })
    let lock = try SystemFiles().lock(fixture.folder + "/" + name, within: .zero)
    let calls: [() throws -> Void] = [
      { try vault.setString("a", value: "b") }, { try vault.deleteValue("a") },
      { try vault.changePassword("q", salt: "s") },
      { try vault.changePassword("p", currentSalt: "s", newPassword: "q", newSalt: nil) },
      { try vault.setPasswordPolicy(PasswordPolicy()) }, { try vault.setRetryLimit(1) },
      { try vault.setLockTimeout(.seconds(1)) }, { try vault.unlock("p", salt: "s") },
      { try vaults.deleteVault("v") },
      { _ = try vaults.createVault("v", password: "p", salt: "s") },
    ]
    for (number, call) in calls.enumerated() {
      let error = failure(call)
      #expect(error?.reason == .busy, "call \(number)")
      #expect(error?.isTransient == true)
    }
    lock.release()
    try vault.unlock("p", salt: "s")
    try vault.setString("a", value: "b")
    #expect(try vault.getString("a") == "b")
  }
}
