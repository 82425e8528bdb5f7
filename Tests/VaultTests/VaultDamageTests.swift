import FerryCrypto
import FerryTestTraits
import FerryVault
import FerryWorld
import Foundation
import Testing

@Suite("A vault on a bad disk")
struct VaultDamageTests {
  @Test("Every byte of a vault, flipped or cut off, is told as damage")
  func everyByte() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try vault.setString("a", value: "b")
    try vault.setPasswordPolicy(PasswordPolicy())
    let path = try fixture.path
    let whole = try fixture.bytes
    var variants = (0..<whole.count).map { Array(whole[..<$0]) }
    for place in whole.indices {
      var flipped = whole
      flipped[place] ^= 0x41
      variants.append(flipped)
    }
    for (number, bytes) in variants.enumerated() {
      try Data(bytes).write(to: URL(filePath: path))
      #expect(
        reason { try vault.unlock("p", salt: "s") } == .damaged, "\(number) of \(whole.count)")
      #expect(reason { _ = try fixture.vaults.getVault("v") } == .damaged)
      // Nothing is counted or written.
      #expect(try fixture.bytes == bytes)
    }
    #expect(DataVaultError.Reason.damaged.code == 100)
    try Data(whole).write(to: URL(filePath: path))
    try vault.unlock("p", salt: "s")
    #expect(try vault.getString("a") == "b")
    try Data(variants[7]).write(to: URL(filePath: path))
    try fixture.vaults.deleteVault("v")
  }

  /// Bytes with a check sum of their own, as somebody would write who means it.
  private func signed(_ bytes: [UInt8]) -> [UInt8] { bytes + SHA256Digest.hash(bytes) }

  @Test("Bytes that somebody rewrote, check sum and all, open under no password")
  func rewritten() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try vault.setString("a", value: "b")
    try vault.setPasswordPolicy(PasswordPolicy())
    let path = try fixture.path
    let whole = Array(try fixture.bytes.dropLast(32))
    var kinds: [DataVaultError.Reason: Int] = [:]
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 1
      try Data(signed(bytes)).write(to: URL(filePath: path))
      do {
        try vault.unlock("p", salt: "s")
        // Only the number of wrong tries may differ; it is 0 again.
        kinds[.busy, default: 0] += 1
      } catch {
        kinds[error.reason, default: 0] += 1
      }
    }
    // The four bytes of the count.
    #expect(kinds[.busy] == 4)
    // The magic and the version.
    #expect(kinds[.foreign] == 16)
    #expect(Set(kinds.keys) == [.busy, .foreign, .damaged, .invalidPassword])
  }

  @Test("A later version is refused and left alone")
  func laterVersion() throws {
    let fixture = VaultFixture()
    _ = try fixture.vaults.createVault("v", password: "p", salt: "s")
    var bytes = Array(try fixture.bytes.dropLast(32))
    bytes[15] = 2
    try Data(signed(bytes)).write(to: URL(filePath: try fixture.path))
    #expect(reason { _ = try fixture.vaults.getVault("v") } == .foreign)
    #expect(try fixture.bytes == signed(bytes))
  }

  /// Every kind of change, with what must hold before or after it.
  private static let changes: [(String, @Sendable (DataVault) throws -> Void)] = [
    ("set", { try $0.setString("new", value: "n") }),
    ("replace", { try $0.setString("old", value: "n") }),
    ("delete", { try $0.deleteValue("old") }),
    ("change", { try $0.changePassword("q", salt: "s") }),
    ("policy", { try $0.setPasswordPolicy(PasswordPolicy()) }),
    ("limit", { try $0.setRetryLimit(5) }),
  ]

  /// What a vault shows, whichever of its two passwords it has.
  private func state(_ fixture: VaultFixture) throws -> String {
    let vault = try fixture.vaults.getVault("v")
    do {
      try vault.unlock("p", salt: "s")
    } catch {
      try vault.unlock("q", salt: "s")
    }
    let names = try vault.getDataNames().map(\.name)
    return try "\(names) \(names.map { try vault.getString($0) }) \(vault.getRetryLimit())"
  }

  @Test("A change that is killed at any step is made or not made", arguments: changes.indices)
  func killed(_ index: Int) throws {
    let (name, change) = Self.changes[index]
    var isMade = false
    var step = 0
    while !isMade {
      let fixture = VaultFixture()
      let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
      try vault.setString("old", value: "o")
      let before = try state(fixture)
      try vault.unlock("p", salt: "s")
      fixture.files.plan(.killed, at: step)
      isMade = (try? change(vault)) != nil
      fixture.files.plan(nil)
      let after = try state(fixture)
      if !isMade {
        #expect(after == before, "\(name), step \(step)")
        // What was left half made hinders nobody.
        try vault.unlock("p", salt: "s")
        try change(vault)
      }
      step += 1
    }
    #expect(step > 3)
  }

  @Test("Killing the process at any step of an unlock gives no try back", .reference("ios/VLT-10"))
  func killedWhileUnlocking() throws {
    for step in 0..<8 {
      let fixture = VaultFixture()
      let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
      try vault.setRetryLimit(2)
      vault.lock()
      var judged = 0
      for _ in 0..<20 {
        guard try fixture.vaults.vaultExists("v") else { break }
        fixture.files.plan(.killed, at: step)
        let error = failure { try vault.unlock("wrong", salt: "s") }
        if error?.reason == .invalidPassword { judged += 1 }
      }
      fixture.files.plan(nil)
      // Three tries were judged at most: the limit and the one that deletes.
      #expect(judged <= 3, "step \(step)")
      if judged == 0, try fixture.vaults.vaultExists("v") { try vault.unlock("p", salt: "s") }
    }
  }

  @Test("A try that was begun beyond the limit and not judged deletes the vault")
  func unjudged() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try vault.setRetryLimit(1)
    vault.lock()
    // Each is ended after its count was written: create, write, finish and move.
    for _ in 0..<2 {
      let bytes = try fixture.bytes
      fixture.files.plan(nil)
      #expect(reason { try vault.unlock("wrong", salt: "s") } == .invalidPassword)
      if try !fixture.vaults.vaultExists("v") {
        // The count alone, as the killed process would have left it.
        var counted = Array(bytes.dropLast(32))
        let place = 12 + 4 + 4 + 1 + 16 + 16 + 32 + 32 + 32 + 4 + 3
        #expect(counted[place] == 1)
        counted[place] = 2
        try Data(signed(counted)).write(
          to: URL(filePath: fixture.folder + "/" + (try fixture.vaultName)))
      }
    }
    let error = failure { try vault.unlock("p", salt: "s") }
    #expect(error?.isVaultDeleted == true)
    #expect(try !fixture.vaults.vaultExists("v"))
  }

  @Test("A disk that is full, read-only or forbidden is told, and nothing changes")
  func fullDisk() throws {
    let causes: [FileError.Cause] = [.full, .readOnly, .denied, .system(5)]
    for (cause, step) in causes.flatMap({ cause in (0..<4).map { (cause, $0) } }) {
      let fixture = VaultFixture()
      let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
      try vault.setString("old", value: "o")
      fixture.files.plan(.failing(cause), at: step)
      for (_, change) in Self.changes {
        let error = failure { try change(vault) }
        #expect(error?.reason == .cannotWrite)
        #expect(error?.code == 7)
        fixture.files.plan(.failing(cause), at: step)
      }
      fixture.files.plan(.failing(cause))
      #expect(reason { try fixture.vaults.deleteVault("v") } == .cannotWrite)
      fixture.files.plan(nil)
      #expect(try vault.getString("old") == "o")
      #expect(try state(fixture) == "[\"old\"] [Optional(\"o\")] 0")
    }
  }

  @Test("A folder that vanishes is told by name")
  func vanished() throws {
    let fixture = VaultFixture()
    let vault = try fixture.vaults.createVault("v", password: "p", salt: "s")
    try FileManager.default.removeItem(atPath: fixture.folder)
    #expect(reason { _ = try vault.getString("a") } == .doesNotExist)
    #expect(reason { try vault.unlock("p", salt: "s") } == .doesNotExist)
    #expect(reason { try fixture.vaults.deleteVault("v") } == .doesNotExist)
    #expect(try !fixture.vaults.vaultExists("v"))
    // A file stands where the folder was.
    try Data().write(to: URL(filePath: fixture.folder))
    #expect(reason { _ = try fixture.vaults.createVault("v", password: "p", salt: "s") } != nil)
  }
}

extension VaultFixture {
  /// The name of the lock file tells that of the vault, which may be deleted.
  fileprivate var vaultName: String {
    get throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      let lock = try #require(names.first { $0.hasSuffix(".lock") })
      return lock.dropLast(5) + ".vault"
    }
  }
}
