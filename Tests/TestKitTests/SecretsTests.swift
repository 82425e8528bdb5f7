import Ferry
import FerryModel
import FerrySQLite
import FerryText
import FerryVault
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryTestKit

@Suite("Where a device keeps its tokens and its key", .timeLimit(.minutes(60)))
struct SecretsTests {
  @Test(
    "A vault keeps tokens and key: locked, nothing is sent and the data is closed; open, nobody logs in"
  )
  func vault() async throws {
    try await withFolder { folder in
      let server = try await Trade.server()
      let vault = try DataVaults(folder: "\(folder)/vaults")
        .createVault("app", password: "s3cret!", salt: "anna")
      let secrets = DatabaseSecrets(name: "trade", in: vault)
      let path = "\(folder)/trade.db"
      var database = try open(path, secrets, server, key: secrets.key())
      server.users.add("nancy", claims: [:])
      try await database.onlineLogin(user: "nancy", password: "")
      try database.subscribe()
      try await database.synchronize()
      #expect(try Trade.Customer.findAll(in: database).map(\.name) == ["Ada"])
      let tokens = try #require(try secrets.tokens(of: try setting(.device, database) ?? ""))
      // The database has a mark in their place.
      for name in [Settings.Name.accessToken, .refreshToken] {
        #expect(try setting(name, database)?.hasPrefix("kept:") == true)
      }
      await database.close()

      vault.lock()
      #expect { try secrets.key() } throws: { ($0 as? FerryError)?.code == .secrets }
      try vault.unlock("s3cret!", salt: "anna")
      let key = try secrets.key()
      vault.lock()
      database = try open(path, secrets, server, key: key)
      try await server.insert(Trade.Customer.self, ["id": 2, "name": "Ben"])
      await #expect {
        try await database.synchronize()
      } throws: {
        let error = $0 as? FerryError
        return error?.code == .secrets && error?.hint.contains("Unlock the vault") == true
      }
      #expect(try Trade.Customer.findAll(in: database).count == 1)
      try vault.unlock("s3cret!", salt: "anna")
      try await database.synchronize()
      #expect(try Trade.Customer.findAll(in: database).count == 2)
      #expect(try secrets.tokens(of: try setting(.device, database) ?? "") == tokens)
      await database.close()
      // Neither the database nor the vault shows a token.
      for file in try FileManager.default.subpathsOfDirectory(atPath: folder) {
        let bytes = FileManager.default.contents(atPath: "\(folder)/\(file)") ?? Data()
        #expect(bytes.range(of: Data(tokens.refresh.utf8)) == nil, "\(file)")
      }

      // Removed, as by a wipe: a new key opens nothing.
      try secrets.remove()
      #expect { try open(path, secrets, server, key: secrets.key()) } throws: {
        ($0 as? FerryError)?.code == .wrongKey
      }
      await server.stop()
    }
  }

  @Test("Tokens that the database has move to the store that the app gives, and nobody logs in")
  func moved() async throws {
    try await withFolder { folder in
      let server = try await Trade.server()
      server.users.add("nancy", claims: [:])
      let path = "\(folder)/trade.db"
      var database = try open(path, nil, server)
      try await database.onlineLogin(user: "nancy", password: "")
      try database.subscribe()
      let token = try #require(try setting(.refreshToken, database))
      await database.close()
      #expect(try mode(path) == 0o600)

      let secrets = DatabaseSecrets(name: "trade", in: FileSecrets(folder: "\(folder)/secrets"))
      database = try open(path, secrets, server)
      try await database.synchronize()
      #expect(try setting(.refreshToken, database)?.hasPrefix("kept:") == true)
      #expect(try secrets.tokens(of: try setting(.device, database) ?? "")?.refresh == token)
      #expect(try secrets.tokens(of: "another device") == nil)
      await database.close()

      // An app that gives no store any more has to log in, and then has them in the database again.
      database = try open(path, nil, server)
      await #expect { try await database.synchronize() } throws: {
        ($0 as? FerryError)?.code == .notLoggedIn
      }
      try await database.onlineLogin(user: "nancy", password: "")
      #expect(try setting(.refreshToken, database)?.hasPrefix("kept:") == false)
      await database.close()
      await server.stop()
    }
  }

  @Test("The login key moves with them: the session is renewed, and only the store has the key")
  func movedLoginKey() async throws {
    try await withFolder { folder in
      let server = try await Trade.server()
      server.users.add("nancy", claims: [:])
      let path = "\(folder)/trade.db"
      var database = try open(path, nil, server)
      try await database.onlineLogin(user: "nancy", password: "")
      try database.subscribe()
      let key = try #require(try setting(.loginKey, database).flatMap { Base64.decode($0) })
      await database.close()

      let store = FileSecrets(folder: "\(folder)/secrets")
      database = try open(path, DatabaseSecrets(name: "trade", in: store), server)
      // The access token has ended: without the key to which the session is bound nobody renews it.
      await server.advance(by: .seconds(3_600))
      try await database.synchronize()
      #expect(try store.secret("trade login key") == key)
      #expect(try setting(.loginKey, database) == nil)
      await database.close()
      await server.stop()
    }
  }

  @Test("A wipe destroys key and tokens where the app keeps them, and the files with them")
  func wiped() async throws {
    try await withFolder { folder in
      let server = try await Trade.server()
      server.users.add("nancy", claims: [:])
      let store = FileSecrets(folder: "\(folder)/secrets")
      let secrets = DatabaseSecrets(name: "trade", in: store)
      let others = try store.addSecret("another app's", [7])
      let path = "\(folder)/trade.db"
      let key = try secrets.key()
      let database = try open(path, secrets, server, key: key)
      try await database.onlineLogin(user: "nancy", password: "")
      try database.subscribe()
      try await database.synchronize()
      let device = try setting(.device, database) ?? ""
      #expect(try secrets.tokens(of: device) != nil)
      let copy = "\(folder)/copy.db"
      try FileManager.default.copyItem(atPath: path, toPath: copy)

      await database.runner.obey(
        WipeOrder(
          server: try setting(.server, database) ?? "", device: device,
          incarnation: try setting(.incarnation, database) ?? "", receipt: "", withPending: false))
      #expect(!FerryDatabase.exists(at: path))
      #expect(try secrets.tokens(of: device) == nil)
      // Nobody has the key any more: a copy of the file stays closed.
      #expect { try open(copy, secrets, server, key: secrets.key()) } throws: {
        ($0 as? FerryError)?.code == .wrongKey
      }
      #expect(try store.secret("another app's") == others)
      await server.stop()
    }
  }

  @Test("A store that takes no tokens fails the login by name, and the next login works")
  func refusing() async throws {
    try await withFolder { folder in
      let server = try await Trade.server()
      server.users.add("nancy", claims: [:])
      let store = RefusingSecrets()
      let database = try open(
        "\(folder)/trade.db", DatabaseSecrets(name: "trade", in: store), server)
      store.refuses.withLock { $0 = true }
      await #expect {
        try await database.onlineLogin(user: "nancy", password: "")
      } throws: { ($0 as? FerryError)?.code == .secrets }
      #expect(try setting(.refreshToken, database) == nil)
      store.refuses.withLock { $0 = false }
      try await database.onlineLogin(user: "nancy", password: "")
      try database.subscribe()
      try await database.synchronize()
      await database.close()
      await server.stop()
    }
  }

  @Test("Secrets in files are for this user alone, one for all who ask at once, under any name")
  func files() async throws {
    try await withFolder { folder in
      let secrets = FileSecrets(folder: "\(folder)/secrets")
      #expect(try secrets.secret("key") == nil)
      try secrets.removeSecret("key")
      let made = try await withThrowingTaskGroup(of: [UInt8].self) { group in
        for number in 0..<16 as Range<UInt8> {
          group.addTask { try secrets.addSecret("key", [number]) }
        }
        return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
      }
      #expect(made.count == 1)
      #expect(try secrets.secret("key") == made.first)
      for name in ["../key", "Key", "", "a/b", ".lock"] {
        try secrets.setSecret(name, Array(name.utf8))
      }
      for name in ["../key", "Key", "", "a/b", ".lock"] {
        #expect(try secrets.secret(name) == Array(name.utf8))
      }
      #expect(try secrets.secret("key") == made.first)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secrets"])
      #expect(try mode("\(folder)/secrets") == 0o700)
      let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/secrets")
      for name in names { #expect(try mode("\(folder)/secrets/\(name)") == 0o600, "\(name)") }
      try secrets.removeSecret("key")
      #expect(try secrets.secret("key") == nil)
    }
  }

  private func open(
    _ path: String, _ secrets: DatabaseSecrets?, _ server: TestServer, key: DatabaseKey? = nil
  ) throws -> FerryDatabase {
    var profile = ConnectionProfile(server: "https://test.invalid")
    profile.secrets = secrets
    return try FerryDatabase.open(
      at: path, key: key, package: Trade.package, profile: profile, transport: server.network)
  }

  private func setting(_ name: Settings.Name, _ database: FerryDatabase) throws -> String? {
    try database.store.withSnapshot { transaction throws(FerryError) in
      try transaction.setting(name)
    }
  }

  private func mode(_ path: String) throws -> Int {
    try #require(
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }
}

/// Keeps secrets in memory, and refuses while a test wants that.
private final class RefusingSecrets: SecretStore {
  struct Refusal: Error {}
  let refuses = Mutex(false)
  private let kept = Mutex<[String: [UInt8]]>([:])

  func secret(_ name: String) -> [UInt8]? { kept.withLock { $0[name] } }
  func setSecret(_ name: String, _ value: [UInt8]) throws {
    if refuses.withLock({ $0 }) { throw Refusal() }
    kept.withLock { $0[name] = value }
  }
  func addSecret(_ name: String, _ value: [UInt8]) throws -> [UInt8] {
    try setSecret(name, value)
    return value
  }
  func removeSecret(_ name: String) { kept.withLock { $0[name] = nil } }
}
