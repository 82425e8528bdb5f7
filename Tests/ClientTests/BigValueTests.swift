import Ferry
import FerryCrypto
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@testable import Ferry

@Suite("Big values on the device")
struct BigValueTests {
  private func failure(_ body: () async throws -> Void) async -> FerryError? {
    do { try await body() } catch { return error as? FerryError }
    return nil
  }

  @Test(
    "What is written in any pieces is read in any pieces, from any place", .reference("facts/1.5"))
  func streams() async throws {
    let device = try Device(Album.package)
    let photo = try device.photo("a")
    #expect(try photo.image.isNull)
    #expect(try photo.image.length == 0)
    let bytes = picture(700_001)
    let writer = try photo.image.openForWrite(length: Int64(bytes.count))
    var rest = bytes[...]
    for size in [1, 300_000, 0, 262_144, 7, 200_000] {
      try writer.write(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    #expect(try photo.image.isNull, "nothing is seen before close")
    #expect(writer.position == Int64(bytes.count))
    try writer.close()
    #expect(try photo.image.length == Int64(bytes.count))
    let reader = try await photo.image.openForRead()
    #expect(try reader.read(upTo: 10) == Array(bytes.prefix(10)))
    try reader.seek(to: 262_140)
    #expect(try reader.read(upTo: 9) == Array(bytes[262_140..<262_149]))
    #expect(reader.position == 262_149)
    try reader.seek(to: 700_000)
    #expect(try reader.readByte() == bytes.last)
    #expect(try reader.readByte() == nil)
    await #expect(failure { try reader.seek(to: 700_002) }?.code == .invalidValue)
    var joined: [UInt8] = []
    for try await piece in photo.image.pieces {
      #expect(piece.count <= 256 << 10)
      joined += piece
    }
    #expect(joined == bytes)
    #expect(try await photo.image.read() == bytes)
    try photo.image.write(Array("abc".utf8))
    #expect(
      try photo.image.reference?.description
        == "3:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test(
    "A value that is written makes its object pending, in one operation with what else waits",
    .reference("sync/P1")
  )
  func pending() throws {
    let device = try Device(Album.package)
    var photo = try device.photo("a", picture(10))
    let operations = try device.operations()
    #expect(operations.map(\.kind) == [.create])
    let reference = try #require(try photo.image.reference)
    #expect(operations[0].changed[2] == .text(reference.description))
    try photo.refresh()
    #expect(photo.pendingChange == .create)
    photo.title = "b"
    try photo.update()
    try photo.image.write(picture(11))
    #expect(try device.operations().count == 1)
    #expect(try photo.image.length == 11)
    #expect(try device.contents() == [1, 1, 0], "what was replaced is gone")
    try photo.image.setNull()
    #expect(try photo.image.isNull)
    #expect(try device.contents() == [0, 0, 0])
  }

  @Test("Texts are cut between characters, and read as they were written", .reference("facts/1.5"))
  func texts() async throws {
    let device = try Device(Album.package)
    let photo = try device.photo("a")
    let text = String(repeating: "aé€🚢", count: 50)
    let writer = try photo.report.openForWrite()
    for scalar in text { try writer.write(String(scalar)) }
    try writer.close()
    #expect(try photo.report.length == Int64(text.utf8.count))
    for size in [1, 4, 5, 6, 7, 1_000] {
      let reader = try await photo.report.openForRead()
      var read = ""
      while let piece = try reader.read(upTo: size) {
        #expect(!piece.isEmpty && !piece.unicodeScalars.contains("\u{FFFD}"))
        read += piece
      }
      #expect(read == text)
    }
    #expect(try await photo.report.read() == text)
  }

  @Test("A file goes in and comes out whole, or the value stays as it was", .reference("facts/1.5"))
  func files() async throws {
    let device = try Device(Album.package)
    let photo = try device.photo("a")
    let bytes = picture(600_000)
    let source = device.folder.appendingPathComponent("source").path
    let target = device.folder.appendingPathComponent("target").path
    try Data(bytes).write(to: URL(filePath: source))
    try photo.image.copyFrom(file: source)
    try await photo.image.copyTo(file: target)
    #expect(try Data(contentsOf: URL(filePath: target)) == Data(bytes))
    let missing = await failure { try photo.image.copyFrom(file: source + "x") }
    #expect(missing?.code == .store && missing?.attribute == "image")
    await #expect(
      failure { try await photo.image.copyTo(file: "/nowhere/at/all") }?.code == .store)
    #expect(try photo.image.length == 600_000)
    let pieces = AsyncThrowingStream<[UInt8], any Error> { stream in
      stream.yield([1, 2])
      stream.finish(throwing: CancellationError())
    }
    let broken = await failure { try await photo.image.write(contentsOf: pieces) }
    #expect(broken?.code == .contentSource && broken?.cause is CancellationError)
    #expect(try photo.image.length == 600_000)
    #expect(try device.contents()[0] == 1)
  }

  @Test(
    "The reference's stream errors: not saved, not open, over length, and fewer than declared",
    .reference("facts/1.5")
  )
  func errors() async throws {
    let device = try Device(Album.package)
    let unsaved = Photo("new", device.store)
    await #expect(failure { _ = try unsaved.image.openForWrite() }?.code == .objectNotSaved)
    await #expect(failure { _ = try unsaved.image.isNull }?.code == .objectNotSaved)
    let photo = try device.photo("a")
    await #expect(failure { _ = try await photo.image.openForRead() }?.code == .wrongState)
    let writer = try photo.image.openForWrite(length: 5)
    try writer.write([1, 2, 3])
    await #expect(failure { try writer.close() }?.code == .writeUnderLength)
    await #expect(failure { try writer.write([4, 5, 6]) }?.code == .writeOverLength)
    try writer.write([4, 5])
    try writer.close()
    await #expect(failure { try writer.write([6]) }?.code == .streamNotOpen)
    await #expect(failure { try writer.close() }?.code == .streamNotOpen)
    let reader = try await photo.image.openForRead()
    reader.close()
    await #expect(failure { _ = try reader.read(upTo: 1) }?.code == .streamNotOpen)
    let old = try await photo.image.openForRead()
    try photo.image.write([9])
    await #expect(failure { _ = try old.read(upTo: 1) }?.code == .notDownloaded)
    let doomed = try photo.image.openForWrite()
    try doomed.write([1])
    let gone = photo
    try await gone.delete()
    await #expect(failure { try doomed.close() }?.code == .objectNotFound)
    doomed.discard()
    #expect(try device.contents() == [0, 0, 0])
  }

  @Test(
    "Nothing is left of a value that was let go of: cancelled, deleted, cleaned, never finished",
    .reference("sync/P20")
  )
  func nothingOrphaned() throws {
    let device = try Device(Album.package)
    var first = try device.photo("a", picture(300_000))
    #expect(try device.contents() == [1, 2, 0])
    var second = try device.photo("b", picture(300_000))
    #expect(try device.contents() == [1, 2, 0], "equal contents are kept once")
    try first.cancelPending()
    #expect(try device.contents() == [1, 2, 0])
    try second.delete()
    #expect(try device.contents() == [0, 0, 0])
    var sketch = Sketch(1, device.store)
    try sketch.create()
    try sketch.lines.write(picture(10))
    sketch.record.set(2, "old copy")
    try sketch.update()
    #expect(try sketch.lines.length == 10, "an old copy of the object takes nothing away")
    try sketch.delete()
    #expect(try device.contents() == [0, 0, 0])
    var kept = Sketch(2, device.store)
    try kept.create()
    try kept.lines.write(picture(20))
    _ = try device.photo("c", picture(10))
    try device.store.cleanAllData(keepsClientOnly: true)
    try Contents(device.store).sweep()
    #expect(try device.contents() == [1, 1, 0])
    #expect(try kept.lines.length == 20, "what stays on the device keeps its content")
    _ = try device.photo("c", picture(10))
    let writer = try device.photo("d").image.openForWrite()
    try writer.write(picture(300_000))
    try device.store.cleanAllData()
    #expect(try device.contents() == [0, 0, 0])
    #expect(throws: FerryError.self) { try writer.write(picture(300_000)) }
    try device.photo("e").image.openForWrite().write(picture(300_000))
    #expect(try device.contents() == [0, 0, 0], "a writer that nobody holds leaves nothing")
  }

  @Test(
    "A draft of a process that died is thrown away a day later, and no other", .reference("sync/P1")
  )
  func drafts() throws {
    let device = try Device(Album.package)
    let photo = try device.photo("a", picture(5))
    let lost = Unmanaged.passRetained(try photo.image.openForWrite())
    try lost.takeUnretainedValue().write(picture(300_000))
    try device.session.tidyContents()
    #expect(try device.contents() == [2, 2, 0])
    device.clock.advance(25 * 3_600_000)
    try device.session.tidyContents()
    #expect(try device.contents() == [1, 1, 0])
    lost.release()
  }

  @Test("A newer model without the attribute lets go of its contents; one that has it keeps them")
  func migration() async throws {
    let device = try Device(Album.package)
    let photo = try device.photo("a", picture(10))
    try photo.report.write("text")
    device.store.close()
    let reopen = { (attributes: [Attribute], version: String) in
      let entity = Entity(
        name: "Photo", table: "Photos", attributes: attributes, key: [0],
        keyOrigin: .businessSystem, relationships: [], operations: [.create, .update, .delete],
        partition: nil, group: "default")
      let model = Package(
        name: "Album", version: version, entities: [entity],
        groups: [SynchronizationGroup(name: "default")])
      let store = try Store(
        path: device.path, model: model, world: .system(), durability: .application,
        migration: .discardUnmigratable)
      let session = Session(store: store, observers: Observers(), settings: SessionSettings())
      try session.tidyContents()
      let count = try store.read { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in
          try connection.value("SELECT count(*) FROM ferry_content")?.integer
        }
      }
      store.close()
      return count
    }
    let extra = Attribute(name: "place", column: "place", type: .string, isNullable: true)
    #expect(try reopen(Photo.entity.attributes + [extra], "1.1") == 2)
    #expect(try reopen(Array(Photo.entity.attributes.prefix(2)), "1.2") == 0)
  }

  @Test(
    "On a full disk a writer says so and goes on when there is room; what was saved is safe",
    .reference("sync/P1")
  )
  func diskFull() async throws {
    let device = try Device(Album.package)
    let photo = try device.photo("a", picture(10))
    let limit = { (pages: Int) throws(FerryError) in
      try device.store.writer.withConnection(closed: Store.closed("")) {
        connection throws(FerryError) in
        try device.store.sql { () throws(SQLiteError) in
          try connection.execute("PRAGMA max_page_count = \(pages)")
        }
      }
    }
    let bytes = picture(600_000, seed: 2)
    let writer = try photo.image.openForWrite()
    try limit(1)
    await #expect(failure { try writer.write(bytes) }?.code == .diskFull)
    #expect(try await photo.image.read() == picture(10))
    try limit(1_000_000)
    try writer.write(Array(bytes[Int(writer.position)...]))
    try writer.close()
    #expect(try await photo.image.read() == bytes)
    #expect(try device.contents() == [1, 3, 0])
  }

  @Test("In a sealed database the pieces are sealed too")
  func sealed() throws {
    let device = try Device(Album.package, key: .random())
    let marker = Array(String(repeating: "a clear word ", count: 30_000).utf8)
    _ = try device.photo("a", marker)
    device.store.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: device.folder.path) {
      let file = device.folder.appendingPathComponent(name)
      #expect(try Data(contentsOf: file).range(of: Data("a clear word".utf8)) == nil)
    }
  }

  @Test(
    "A content is compared with what the row names before its last piece is kept: none that is whole is another (found by seeds)"
  )
  func otherContent() throws {
    let shore = Shore(Album.package)
    let device = try Device(Album.package).loggedIn()
    let (right, wrong) = (picture(100), picture(100, seed: 2))
    let reference = BigReference(
      sizeBytes: 100, digest: hexadecimal(SHA256Digest.hash(right)))
    shore.put(
      Photo.entity, [.integer(1), .text("quay"), .text(reference.description), .null])
    try device.exchange(shore)
    let photo = try #require(try Records(device.store).all(Photo.entity, "ORDER BY _id", []).first)
    let place = ContentPlace(entity: Photo.entity, object: try #require(photo.object), position: 2)
    /// Takes what one answer brings.
    func take(_ bytes: [UInt8]) throws -> Bool {
      var download = ContentDownload(device.session, place)
      guard case .send(let request) = try download.next() else { return false }
      download.begin(request)
      download.received(status: 206)
      _ = try download.received(bytes)
      try download.ended(nil)
      return true
    }
    #expect(try take(Array(right.prefix(40)) + wrong.suffix(60)))
    #expect(try BigBinary(photo, 2).downloadedLength == 0)
    #expect(try take(Array(right.prefix(40))))
    #expect(try BigBinary(photo, 2).downloadedLength == 40)
    #expect(try take(Array(right.suffix(60))))
    #expect(try BigBinary(photo, 2).isDownloaded)
    #expect(try !take(wrong), "it is here, and nothing is asked for")
  }

  @Test(
    "A server in another era is asked again for contents that it had: it may be a restored one (found by seeds)"
  )
  func otherEra() throws {
    let device = try Device(Album.package).loggedIn()
    var photo = try device.photo("a", picture(10))
    try photo.submitPending()
    let id = try #require(try device.operations().first).id
    /// What is to be sent, after a word of a server in this era.
    func next(_ era: String) throws -> Upload? {
      try device.store.withTransaction { transaction throws(FerryError) in
        try OperationQueue(transaction).acknowledge([id])
        try Uploads(transaction).ask(in: era)
        return try Uploads(transaction).next()
      }
    }
    func end(_ upload: Upload) throws {
      try device.store.withTransaction { transaction throws(FerryError) in
        try Uploads(transaction).end(upload)
      }
    }
    let upload = try #require(try next("a"))
    try end(upload)
    #expect(try next("a") == nil)
    #expect(try next("b") == upload)
    try end(upload)
    #expect(try next("b") == nil)
  }

  @Test("What a server said of a piece before it was set back counts no longer (found by seeds)")
  func lateWord() throws {
    let shore = Shore(Album.package)
    let device = try Device(Album.package).loggedIn()
    var photo = try device.photo("a", picture(10))
    try photo.submitPending()
    try device.exchange(shore)
    let id = try #require(try device.operations().first).id
    guard case .send(let request) = try device.session.next(), request.path.contains("content/")
    else {
      Issue.record("nothing is sent")
      return
    }
    // The channel brings the word of the restored server, and then comes what it said to the piece.
    let next = { (isKnown: Bool) throws -> Upload? in
      try device.store.withTransaction { transaction throws(FerryError) in
        if isKnown {
          try OperationQueue(transaction).acknowledge([id])
        } else {
          try OperationQueue(transaction).neverSeen(id)
          try Uploads(transaction).ask(in: "restored")
        }
        return try Uploads(transaction).next()
      }
    }
    #expect(try next(false) == nil)
    device.session.received(status: 404, on: .exchange)
    try device.session.ended(.exchange, nil)
    #expect(try next(true)?.operation == id, "the operation is there again, and waits for it")
  }

  @Test("What was begun under a clock that was a year ahead goes as well (found by seeds)")
  func draftOfTomorrow() throws {
    let device = try Device(Album.package)
    let photo = try device.photo("a")
    let writer = try photo.image.openForWrite()
    try writer.write(picture(Contents(device.store).pieceBytes))
    for (shift, left) in [("+ 3600000", Int64(1)), ("+ 90000000", 0)] {
      try device.store.write { connection throws(FerryError) in
        try device.store.sql { () throws(SQLiteError) in
          try connection.run("UPDATE ferry_content SET made = made \(shift)")
        }
      }
      try Contents(device.store).discardOldDrafts()
      #expect(try device.contents()[0] == left)
    }
  }
}
