import Ferry
import FerryModel
import FerryReference
import FerrySQLite
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@testable import Ferry
@testable import FerryTestKit

@Suite("Big values through the circle", .timeLimit(.minutes(60)))
struct BigValueTests {
  private static let claims = ["depot": ["A"]]

  private func album() async throws -> TestServer { try await TestServer(Photo.package) }

  /// Bytes that differ from place to place.
  private func picture(_ count: Int, _ seed: Int = 1) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8) &* seed) }
  }

  /// A device over a network of the test's own, subscribed; the same path is the same device.
  private func device(
    _ server: TestServer, _ network: CuttingNetwork, at path: String
  ) async throws -> FerryDatabase {
    server.users.add("nancy", claims: BigValueTests.claims)
    var settings = SessionSettings()
    settings.asyncReplay = false
    settings.firstRetry = .milliseconds(1)
    let database = FerryDatabase(
      try Store(
        path: path, model: Photo.package, world: .system(), durability: .application),
      ConnectionProfile(server: "http://test.invalid", session: settings), nil, network, .system())
    if try !database.isSubscribed {
      try await database.onlineLogin(user: "nancy", password: "")
      try database.subscribe()
    }
    return database
  }

  private func failure(_ body: () async throws -> Void) async -> FerryError? {
    do { try await body() } catch { return error as? FerryError }
    return nil
  }

  /// Contents, pieces and uploads on a device.
  private func contents(_ database: FerryDatabase) throws -> [Int64] {
    try ["ferry_content", "ferry_content_piece", "ferry_upload"].map { table in
      try database.store.read { connection throws(FerryError) in
        try database.store.sql { () throws(SQLiteError) in
          try connection.value("SELECT count(*) FROM \(table)")?.integer ?? -1
        }
      }
    }
  }

  @Test(
    "A photo added offline arrives with its row, and another device downloads it when asked",
    .reference("facts/1.5")
  )
  func circle() async throws {
    let server = try await album()
    let nancy = try await server.database(user: "nancy", claims: BigValueTests.claims)
    nancy.submitsAutomatically = false
    let bytes = picture(600_001)
    var photo = Photo("quay", in: nancy)
    try photo.create()
    try photo.image.write(bytes)
    try photo.report.write("all is well")
    try photo.submitPending()
    try await nancy.synchronize(awaitingAnswers: true)
    let row = try #require(server.rows(of: Photo.self).first)
    #expect(server.content(of: row, "image") == bytes)
    #expect(server.content(of: row, "report") == Array("all is well".utf8))
    try photo.refresh()
    #expect(!photo.isPending)
    #expect(try photo.image.isDownloaded, "what was written here needs no download")
    #expect(try contents(nancy) == [2, 4, 0])
    let ada = try await server.database(user: "ada", claims: BigValueTests.claims)
    let seen = try #require(try Photo.findAll(in: ada).first)
    #expect(try seen.image.length == 600_001)
    #expect(try !seen.image.isDownloaded)
    #expect(try contents(ada) == [0, 0, 0], "nothing comes before it is asked for")
    #expect(try await seen.image.read() == bytes)
    #expect(try await seen.report.read() == "all is well")
    #expect(try seen.image.isDownloaded)
    try await server.change(photo, ["title": "pier", "image": [UInt8](repeating: 7, count: 3)])
    try await ada.synchronize(awaitingAnswers: true)
    #expect(try contents(ada) == [1, 1, 0], "what the row names no more is gone")
    #expect(try await seen.image.read() == [7, 7, 7])
    try await server.change(photo, ["depot": "B"])
    try await ada.synchronize(awaitingAnswers: true)
    #expect(try contents(ada) == [0, 0, 0], "rows that leave take their contents along (sync/P20)")
    await server.stop()
  }

  @Test(
    "Cut at any piece, the upload goes on where the server has it; at most one piece is sent twice",
    .reference("sync/P1"),
    arguments: CuttingNetwork.Cut.allCases)
  func everyPiece(cut: CuttingNetwork.Cut) async throws {
    let server = try await album()
    let bytes = picture(1_100_000)
    try await withFolder { folder in
      // One question and five pieces.
      for put in 1...6 {
        let path = "\(folder)/\(put).db"
        let dying = CuttingNetwork(server)
        dying.cut(atPut: put, cut)
        var database = try await device(server, dying, at: path)
        try await database.synchronize(awaitingAnswers: true)
        var photo = Photo("\(put)", in: database)
        try photo.create()
        try photo.image.write(bytes)
        try photo.submitPending()
        await #expect(failure { try await database.synchronize(within: .seconds(600)) } != nil)
        await database.close()
        let living = CuttingNetwork(server)
        database = try await device(server, living, at: path)
        try await database.synchronize(awaitingAnswers: true)
        let sent = dying.sentBytes + living.sentBytes
        let lost = put == 1 || cut == .response ? 0 : min(256 << 10, bytes.count - (put - 2) << 18)
        #expect(sent == bytes.count + lost, "cut \(cut) at \(put)")
        let row = try #require(server.rows(of: Photo.self).first { try $0["title"] == "\(put)" })
        #expect(server.content(of: row, "image") == bytes)
        #expect(try Photo.getPendingObjects(in: database).isEmpty)
        #expect(try contents(database)[2] == 0)
        await database.close()
      }
    }
    #expect(server.rows(of: Photo.self).count == 6)
    await server.stop()
  }

  @Test(
    "A token that ends in the middle of an upload is renewed, and the upload goes on",
    .reference("sync/P1"))
  func tokenEnds() async throws {
    let server = try await album()
    let bytes = picture(1_000_000)
    try await withFolder { folder in
      let network = CuttingNetwork(server)
      let database = try await device(server, network, at: "\(folder)/a.db")
      try await database.synchronize(awaitingAnswers: true)
      // One question and four pieces.
      network.delay(put: 3)
      var photo = Photo("late", in: database)
      try photo.create()
      try photo.image.write(bytes)
      try photo.submitPending()
      try await database.synchronize(awaitingAnswers: true)
      #expect(network.renewals == 1)
      let lost = 256 << 10
      #expect(network.sentBytes == bytes.count + lost, "the piece that was refused is sent again")
      let row = try #require(server.rows(of: Photo.self).first)
      #expect(server.content(of: row, "image") == bytes)
      #expect(try Photo.getPendingObjects(in: database).isEmpty)
      await database.close()
    }
    await server.stop()
  }

  @Test(
    "A refused photo keeps its content; corrected, it is not sent a second time",
    .reference("sync/P15"))
  func refused() async throws {
    let server = try await album()
    try await withFolder { folder in
      let network = CuttingNetwork(server)
      let database = try await device(server, network, at: "\(folder)/a.db")
      server.refuse(Photo.self, of: [.create], "no bad titles") { try $0["title"] == "bad" }
      var photo = Photo("bad", in: database)
      try photo.create()
      try photo.image.write(picture(300_000))
      try photo.submitPending()
      try await database.synchronize(awaitingAnswers: true)
      try photo.refresh()
      #expect(photo.replayFailed)
      #expect(try photo.logRecords.first?.message == "no bad titles")
      #expect(try photo.image.length == 300_000)
      photo.title = "good"
      try photo.update()
      try photo.submitPending()
      try await database.synchronize(awaitingAnswers: true)
      #expect(network.sentBytes == 300_000)
      #expect(server.rows(of: Photo.self).count == 1)
      try photo.refresh()
      #expect(!photo.isPending)
      try photo.image.write(picture(10))
      try photo.submitPending()
      try photo.cancelPending()
      try await database.synchronize(awaitingAnswers: true)
      #expect(try contents(database)[2] == 0)
      #expect(try photo.image.length == 300_000 || photo.image.length == 10)
      await database.close()
    }
    await server.stop()
  }

  @Test(
    "Too large, and damaged on the device: refused like any change, with the reason",
    .reference("sync/P15"))
  func unfit() async throws {
    let server = try await TestServer(Photo.package, bigValueBytes: 1_000_000)
    let database = try await server.database(user: "nancy", claims: BigValueTests.claims)
    database.submitsAutomatically = false
    var large = Photo("large", in: database)
    try large.create()
    try large.image.write(picture(1_000_001))
    try large.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    try large.refresh()
    #expect(large.replayFailed)
    #expect(
      try large.logRecords.first?.message == "image has 1000001 bytes; 1000000 are allowed")
    try large.cancelPending()
    #expect(try contents(database) == [0, 0, 0])
    var torn = Photo("torn", in: database)
    try torn.create()
    try torn.image.write(picture(10))
    try database.store.write { connection throws(FerryError) in
      try database.store.sql { () throws(SQLiteError) in
        try connection.run("UPDATE ferry_content_piece SET bytes = x'00010203040506070809'")
      }
    }
    try torn.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    try torn.refresh()
    #expect(torn.replayFailed)
    #expect(try torn.logRecords.first?.code == 422)
    #expect(try torn.logRecords.first?.message.contains("damaged on the device") == true)
    try torn.image.write(picture(300_000))
    try database.store.write { connection throws(FerryError) in
      try database.store.sql { () throws(SQLiteError) in
        try connection.run("DELETE FROM ferry_content_piece WHERE start > 0")
      }
    }
    try torn.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    try torn.refresh()
    #expect(torn.replayFailed, "what is missing is found out by the server, too")
    try torn.image.write(picture(11))
    try torn.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(server.rows(of: Photo.self).count == 1)
    await server.stop()
  }

  @Test(
    "A photo that somebody else replaced meanwhile is a conflict, as any value is",
    .reference("sync/Q11"))
  func conflict() async throws {
    let server = try await album()
    try await server.insert(
      Photo.self, ["id": 1, "title": "quay", "depot": "A", "image": picture(10)])
    let database = try await server.database(user: "nancy", claims: BigValueTests.claims)
    database.submitsAutomatically = false
    var photo = try #require(try Photo.findAll(in: database).first)
    try photo.image.write(picture(20))
    try await server.change(photo, ["image": picture(30)])
    try photo.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    try photo.refresh()
    #expect(photo.replayFailed)
    #expect(try photo.logRecords.first?.code == 412)
    #expect(try photo.logRecords.first?.attribute == "image")
    try photo.cancelPending()
    #expect(try await photo.image.read() == picture(30))
    #expect(try contents(database) == [1, 1, 0])
    await server.stop()
  }

  @Test(
    "A download that breaks goes on where it ended; without a network the error says what to do")
  func download() async throws {
    let server = try await album()
    let bytes = picture(1_000_000)
    try await server.insert(
      Photo.self, ["id": 1, "title": "quay", "depot": "A", "image": bytes])
    try await withFolder { folder in
      let path = "\(folder)/a.db"
      let network = CuttingNetwork(server)
      var database = try await device(server, network, at: path)
      try await database.synchronize(awaitingAnswers: true)
      network.limitDownloads(300_000)
      var photo = try #require(try Photo.findAll(in: database).first)
      let cut = await failure { try await photo.image.download() }
      #expect(cut?.code == .notDownloaded && cut?.attribute == "image")
      #expect(cut?.hint.contains("300000 of 1000000 bytes are here") == true)
      await database.close()
      database = try await device(server, network, at: path)
      photo = try #require(try Photo.findAll(in: database).first)
      #expect(try photo.image.downloadedLength == 300_000)
      network.limitDownloads(nil)
      let meter = Meter()
      database.registerCallbackHandler(meter)
      #expect(try await photo.image.read() == bytes)
      #expect(meter.progress.map(\.doneBytes) == [300_000, 562_144, 824_288, 1_000_000])
      #expect(network.starts == ["bytes=0-999999", "bytes=300000-999999"])
      #expect(try await photo.image.read() == bytes)
      #expect(network.starts.count == 2)
      await database.close()
    }
    let ada = try await server.database(user: "ada", claims: BigValueTests.claims)
    await server.setReachable(false)
    let photo = try #require(try Photo.findAll(in: ada).first)
    let offline = await failure { _ = try await photo.image.openForRead() }
    #expect(offline?.code == .notDownloaded && offline?.isTransient == true)
    #expect((offline?.cause as? FerryError)?.code == .offline)
    await server.stop()
  }

  @Test("A value replaced in the middle of its download is begun anew, and never mixed")
  func superseded() async throws {
    let server = try await album()
    let old = picture(700_000, 3)
    let new = picture(700_000, 5)
    try await server.insert(Photo.self, ["id": 1, "title": "quay", "depot": "A", "image": old])
    try await withFolder { folder in
      let network = CuttingNetwork(server)
      let database = try await device(server, network, at: "\(folder)/a.db")
      try await database.synchronize(awaitingAnswers: true)
      let photo = try #require(try Photo.findAll(in: database).first)
      network.limitDownloads(300_000)
      await #expect(failure { try await photo.image.download() } != nil)
      network.limitDownloads(nil)
      try await server.change(photo, ["image": new])
      #expect(try await photo.image.read() == new)
      #expect(network.starts == ["bytes=0-699999", "bytes=300000-699999", "bytes=0-699999"])
      #expect(try contents(database) == [1, 3, 0])
      await database.close()
    }
    await server.stop()
  }

  @Test("Nobody downloads, and nobody sends, what is not theirs", .reference("sync/M12"))
  func rights() async throws {
    let server = try await album()
    try await server.insert(
      Photo.self, ["id": 1, "title": "quay", "depot": "B", "image": picture(10)])
    try await withFolder { folder in
      let network = CuttingNetwork(server)
      let database = try await device(server, network, at: "\(folder)/a.db")
      try await database.synchronize(awaitingAnswers: true)
      // A row that the device must not have, under the reference that it must not know.
      let reference = picture(10)
      var photo = Photo("forged", in: database)
      try photo.create()
      try photo.image.write(reference)
      try database.store.write { connection throws(FerryError) in
        try database.store.sql { () throws(SQLiteError) in
          try connection.run("DELETE FROM ferry_content")
          try connection.run("DELETE FROM ferry_operation")
          try connection.run("UPDATE Photo SET id = 1, _pending = 'N'")
        }
      }
      let error = await failure { try await photo.image.download() }
      #expect(error?.code == .notDownloaded)
      #expect((error?.cause as? FerryError)?.message.contains("for this user") == true)
      await database.close()
    }
    await server.stop()
  }
}
