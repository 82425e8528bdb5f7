import Ferry
import FerryModel
import FerryReference
import FerryTestKit
import Foundation
import Synchronization
import Testing

/// An app's model before its update, and after it.
private enum Before {
  static let package = Package(
    name: "Club", version: "1.0", entities: [Member.entity],
    groups: [SynchronizationGroup(name: "default")])

  struct Member: BusinessObject {
    static let entity = After.entity(["id", "name", "fax"])
    var record: ObjectRecord
  }
}

private enum After {
  static let package = Package(
    name: "Club", version: "2.0", entities: [Member.entity],
    groups: [SynchronizationGroup(name: "default")])

  static func entity(_ names: [String]) -> Entity {
    Entity(
      name: "Member", table: "members",
      attributes: names.map {
        Attribute(
          name: $0, column: $0, type: $0 == "id" ? .long : .string, isNullable: $0 != "id")
      }, key: [0], keyOrigin: .app, relationships: [],
      operations: [.create, .update, .delete], partition: nil, group: "default")
  }

  struct Member: BusinessObject {
    static let entity = After.entity(["id", "name", "email"])
    var record: ObjectRecord
    var id: Int64 { record.get(0) }
    var name: String? { record.get(1) }
    var email: String? {
      get { record.get(2) }
      set { record.set(2, newValue) }
    }
  }
}

@Suite("What an app's tests do about updates and about what nobody knows", .timeLimit(.minutes(60)))
struct AppUpdateTests {
  private typealias Member = After.Member

  /// The closed file of nancy's device with the older app, where `pending` waits.
  private func olderFile(
    in folder: URL, _ pending: (FerryDatabase) throws -> Void
  ) async throws -> String {
    let server = try await TestServer(Before.package)
    try await server.insert(Before.Member.self, ["id": 1, "name": "Ada", "fax": "030"])
    let database = try await server.database(user: "nancy")
    try pending(database)
    await database.close()
    let file = folder.appending(path: "older.db")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: server.file(of: database), toPath: file.path)
    await server.stop()
    return file.path
  }

  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  @Test(
    "A file of an older model is opened with the newer one; what was pending goes to its server")
  func olderModel() async throws {
    try await withFolder { folder in
      let file = try await olderFile(in: folder) { database in
        var record = ObjectRecord(Before.Member.entity, in: database)
        record.set(0, 2 as Int64)
        record.set(1, "Grace")
        var member = Before.Member(record: record)
        try member.create()
        try member.submitPending()
      }
      let bytes = try Data(contentsOf: URL(filePath: file))
      let server = try await TestServer(After.package)
      try await server.insert(Member.self, ["id": 1, "name": "Ada", "email": "ada@example.org"])
      let database = try server.open(copyOf: file, user: "nancy")
      #expect(try Member.findAll(in: database).map(\.name) == ["Ada", "Grace"])
      #expect(try Member.getPendingObjects(in: database).map(\.id) == [2])
      try await database.onlineLogin(user: "nancy", password: "")
      try await database.synchronize(awaitingAnswers: true)
      #expect(try Member.getPendingObjects(in: database).isEmpty)
      #expect(try Member.findFirst(in: database)?.email == "ada@example.org")
      #expect(try server.rows(of: Member.self).map { try $0["name"] } == ["Ada", "Grace"])
      #expect(try Data(contentsOf: URL(filePath: file)) == bytes, "the file itself stays")
      await server.stop()
    }
  }

  @Test(
    "A pending change that the newer model cannot express is told, or let go where that is wanted")
  func unmigratable() async throws {
    try await withFolder { folder in
      let file = try await olderFile(in: folder) { database in
        var member = try #require(try Before.Member.findFirst(in: database))
        member.record.set(2, "040")
        try member.update()
      }
      let server = try await TestServer(After.package)
      let error = #expect(throws: FerryError.self) {
        try server.open(copyOf: file, user: "nancy")
      }
      #expect(error?.code == .incompatibleModel)
      let database = try server.open(
        copyOf: file, user: "nancy", migration: .discardUnmigratable)
      #expect(try Member.findAll(in: database).map(\.name) == ["Ada"])
      #expect(try Member.getPendingObjects(in: database).isEmpty)
      let missing = #expect(throws: FerryError.self) {
        try server.open(copyOf: folder.appending(path: "none.db").path, user: "nancy")
      }
      #expect(missing?.code == .store && missing?.message.contains("none.db") == true)
      await server.stop()
    }
  }

  @Test(
    "What a test leaves unknown is unknown, performed or not, until it is no longer asked to be")
  func unknown() async throws {
    let server = try await TestServer(After.package)
    try await server.insert(Member.self, ["id": 1, "name": "Ada"], ["id": 2, "name": "Bo"])
    let heard = Heard()
    let database = try await server.database(user: "nancy", handler: heard)
    func change(_ id: Int64) async throws -> ReplayOutcome<Member> {
      var member = try await Member.load(key: ObjectKey([.integer(id)]), in: database)
      member.email = "new"
      try member.update()
      try member.submitPending()
      // Nobody synchronizes: who waits for an answer gets it.
      return try await member.replayOutcome(within: .seconds(600))
    }
    for (id, isPerformed) in [(1, false), (2, true)] as [(Int64, Bool)] {
      server.acceptAll()
      server.loseAnswers(Member.self, of: [.update], performed: isPerformed)
      guard case .unknown(let member?) = try await change(id) else {
        Issue.record("the outcome of \(id) is known")
        continue
      }
      #expect(member.isPending && member.email == "new" && !member.replayFailed)
    }
    let emails: [String?] = try server.rows(of: Member.self).map { try $0["email"] }
    #expect(emails == [nil, "new"])
    server.acceptAll()
    var third = try await Member.load(key: ObjectKey([.integer(1)]), in: database)
    #expect(third.isPending)
    var record = ObjectRecord(Member.entity, in: database)
    record.set(0, 3 as Int64)
    third = Member(record: record)
    try third.create()
    try third.submitPending()
    guard case .accepted = try await third.replayOutcome(within: .seconds(600)) else {
      Issue.record("not accepted")
      return
    }
    await server.stop()
    #expect(heard.unknown.withLock { $0 } == 2)
  }

  /// A handler as an app has it.
  private final class Heard: CallbackHandler {
    let unknown = Mutex(0)
    let lines = Mutex<[String]>([])

    func onReplayUnknown(_ object: ReplayedObject) { unknown.withLock { $0 += 1 } }
    func onReplayFailure(_ object: ReplayedObject) {
      let name = object.as(Member.self)?.name ?? "none"
      lines.withLock { $0.append("\(object.operation.rawValue) \(object.entity) \(name)") }
    }
    func onSynchronize(
      groups: [String], context: SynchronizationContext
    ) -> SynchronizationAction { context.status == .error ? .cancel : .proceed }
    func onImport(_ changes: EntityChanges) {
      lines.withLock { $0.append("\(changes.entity) \(changes.inserted)+\(changes.updated)") }
    }
    func onImportProgress(_ progress: ImportProgress) {
      lines.withLock { $0.append("\(progress.fraction ?? 0)") }
    }
    func onBigValueProgress(_ progress: BigValueProgress) {
      lines.withLock { $0.append("\(progress.attribute) \(progress.fraction)") }
    }
  }

  @Test("An app's handler is tested by calling it: everything that it is told of can be made")
  func handler() async throws {
    let server = try await TestServer(After.package)
    try await server.insert(Member.self, ["id": 1, "name": "Ada"])
    let database = try await server.database(user: "nancy")
    let handler = Heard()
    let ada = try #require(try Member.findFirst(in: database))
    handler.onReplayFailure(ReplayedObject(ada, .update))
    handler.onReplayFailure(
      ReplayedObject(
        entity: "Member", key: ObjectKey([.integer(9)]), operation: .delete, record: nil))
    handler.onImport(EntityChanges(entity: "Member", inserted: 2, updated: 1))
    handler.onImportProgress(ImportProgress(receivedRows: 1, expectedRows: 4))
    handler.onBigValueProgress(
      BigValueProgress(
        direction: .upload, entity: "Member", key: ada.record.key, surrogateKey: 1,
        attribute: "photo", doneBytes: 1, sizeBytes: 2))
    let error = FerryError(.offline, "no network", hint: "wait")
    #expect(
      handler.onSynchronize(
        groups: [], context: SynchronizationContext(status: .error, error: error))
        == .cancel)
    #expect(
      handler.lines.withLock { $0 } == [
        "update Member Ada", "delete Member none", "Member 2+1", "0.25", "photo 0.5",
      ])
    await server.stop()
  }
}
