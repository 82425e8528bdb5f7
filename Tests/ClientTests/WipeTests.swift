import Ferry
import FerrySQLite
import FerryTravel
import FerryWorld
import Foundation
import Testing

@testable import Ferry

@Suite("A wipe whose receipt is still owed")
struct WipeTests {
  private func inFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.path)
  }

  private func open(_ path: String, _ secrets: DatabaseSecrets? = nil) throws -> FerryDatabase {
    var profile = ConnectionProfile(server: "http://127.0.0.1:9")
    profile.secrets = secrets
    return try Travel.open(at: path, key: secrets?.key(), profile: profile)
  }

  private func book(_ passenger: String, in database: FerryDatabase) throws {
    var booking = Booking(
      agencyID: "A07", flightID: 1, passenger: passenger, cabin: .economy, seats: 1, in: database)
    try booking.create()
  }

  private func passengers(
    _ path: String, _ secrets: DatabaseSecrets? = nil
  ) async throws
    -> [String]
  {
    let database = try open(path, secrets)
    let found = try Booking.findAll(in: database).map(\.passenger)
    await database.close()
    return found
  }

  @Test("destroys what was there, once, and nothing that was saved since")
  func once() async throws {
    try await inFolder { folder in
      let path = "\(folder)/device.db"
      let first = try open(path)
      try book("Ada", in: first)
      await first.close()
      try Wipe(path: path, user: "ada", device: "d", receipt: "r").mark()
      // The process was killed behind the mark: this opening destroys the data.
      let second = try open(path)
      #expect(try Booking.findAll(in: second).isEmpty)
      try book("Bob", in: second)
      await second.close()
      #expect(try #require(Wipe.begun(at: path)).isDone)
      #expect(try await passengers(path) == ["Bob"])
    }
  }

  @Test("has a mark of Ferry: another file of that name destroys nothing")
  func marks() async throws {
    try await inFolder { folder in
      let path = "\(folder)/device.db"
      let database = try open(path)
      try book("Ada", in: database)
      await database.close()
      for text in ["", "{", "[]", "wipe", #"{"user":"ada"}"#] {
        try Data(text.utf8).write(to: URL(filePath: Wipe.markPath(path)))
        #expect(try await passengers(path) == ["Ada"], "\(text)")
      }
    }
  }

  @Test("lets the next database have a key that opens it again")
  func keys() async throws {
    try await inFolder { folder in
      for isKilled in [false, true] {
        let path = "\(folder)/\(isKilled).db"
        let secrets = DatabaseSecrets(
          name: "\(isKilled)", in: FileSecrets(folder: "\(folder)/secrets"))
        let first = try open(path, secrets)
        try book("Ada", in: first)
        await first.close()
        let wipe = Wipe(path: path, user: "ada", device: "d", receipt: "r")
        try wipe.mark()
        if isKilled {
          let error = #expect(throws: FerryError.self) { try open(path, secrets) }
          #expect(error?.code == .wiped)
          #expect(error?.hint.contains("with a new key") == true)
        } else {
          try wipe.destroy(secrets)
        }
        let second = try open(path, secrets)
        try book("Bob", in: second)
        await second.close()
        #expect(try await passengers(path, secrets) == ["Bob"])
      }
    }
  }
}
