import FerryConnector
import FerryCrypto
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Contents that arrive behind their operations")
struct ContentTests {
  static let photo = Shop.entity(
    "Photo", [("id", .int, false), ("image", .bigBinary, true)], key: [0])
  static let album = Package(
    name: "album", version: "1.0", entities: [photo], groups: [SynchronizationGroup(name: "sales")])

  private let bytes: [UInt8] = (0..<100).map { UInt8($0) }

  private func bench(_ change: (inout ServiceLimits) -> Void = { _ in }) throws -> Bench {
    var limits = ServiceLimits()
    change(&limits)
    let bench = try Bench(ContentTests.album, limits: limits)
    try bench.load()
    return bench
  }

  private func reference(_ bytes: [UInt8]) -> BigReference {
    BigReference(sizeBytes: Int64(bytes.count), digest: hexadecimal(SHA256Digest.hash(bytes)))
  }

  /// An operation that names the content, stored by the server.
  private func send(_ device: Device, _ id: Int64, _ bytes: [UInt8]) throws -> OperationID {
    let (operation, payload) = device.bench.operation(
      ContentTests.photo, .create, ObjectKey([.integer(id)]),
      changed: [1: .text(reference(bytes).description)])
    device.open.append(operation)
    try device.exchange([payload])
    return operation
  }

  /// What the server says to a piece: its status and the offset, if it told one.
  private func put(
    _ bench: Bench, _ operation: OperationID, _ range: ContentRange, _ piece: [UInt8] = [],
    attribute: String = "image", digest: String? = nil, user: String = "anna"
  ) throws -> String {
    let piece = ContentPiece(
      operation: operation, attribute: attribute, range: range, bytes: piece, digest: digest)
    return switch try bench.service.take(piece, from: bench.identity(user)) {
    case .success(let (progress, isTaken)): "\(isTaken ? 200 : 409) \(progress.offset)"
    case .failure(let refusal): "\(refusal.status) \(refusal.code)"
    }
  }

  private func stored(_ bench: Bench) throws -> [Int64] {
    try ["content", "content_piece"].map { table in
      try bench.database.value("SELECT count(*) FROM \(table)")?.integer ?? -1
    }
  }

  @Test(
    "An operation is performed when its content has arrived, and not before; a restart keeps what came",
    .reference("sync/P25")
  )
  func arrives() throws {
    let bench = try bench()
    let device = try Device(bench).exchange()
    let id = try send(device, 1, bytes)
    try bench.replay()
    #expect(bench.business.performs == 0)
    #expect(try put(bench, id, ContentRange(sizeBytes: 100)) == "200 0")
    let first = ContentRange(start: 0, count: 60, sizeBytes: 100)
    #expect(try put(bench, id, first, Array(bytes.prefix(60))) == "200 60")
    #expect(try put(bench, id, first, Array(bytes.prefix(60))) == "409 60", "known already")
    try bench.restart()
    try device.exchange()
    #expect(try put(bench, id, ContentRange(sizeBytes: 100)) == "200 60")
    let rest = ContentRange(start: 60, count: 40, sizeBytes: 100)
    let torn = try put(
      bench, id, rest, Array(bytes.suffix(40)), digest: ContentDigest.text(of: [1]))
    #expect(torn == "400 tornPiece")
    let right = ContentDigest.text(of: Array(bytes.suffix(40)))
    #expect(try put(bench, id, rest, Array(bytes.suffix(40)), digest: right) == "200 100")
    #expect(try put(bench, id, ContentRange(sizeBytes: 100)) == "200 100")
    try bench.replay()
    #expect(bench.business.performs == 1)
    try device.exchange()
    #expect(device.answers[id]?.outcome == .replayResult)
    #expect(try put(bench, id, ContentRange(sizeBytes: 100)) == "410 answered")
    #expect(try stored(bench) == [0, 0], "the business system has it now")
  }

  @Test("An empty content is there or not at all, whenever the store fails (seed 171)")
  func empty() throws {
    let bench = try bench()
    let device = try Device(bench).exchange()
    let id = try send(device, 1, [])
    let writer = bench.database
    try writer.execute(
      "CREATE TRIGGER full BEFORE UPDATE ON content BEGIN SELECT RAISE(ABORT, 'full'); END")
    #expect(throws: ServerError.self) { try put(bench, id, ContentRange(sizeBytes: 0)) }
    try writer.execute("DROP TRIGGER full")
    #expect(try put(bench, id, ContentRange(sizeBytes: 0)) == "200 0")
    try bench.replay()
    #expect(bench.business.performs == 1)
  }

  @Test(
    "A change whose device was set back before its content came is refused, and holds up nothing (seed 191)"
  )
  func setBack() throws {
    let bench = try bench()
    let device = try Device(bench).exchange()
    let id = try send(device, 1, bytes)
    let other = FerryWire.Operation(
      id: id, chain: id, position: 0, count: 1, entity: "Photo", kind: .create,
      key: ObjectKey([.integer(1)]), changed: [:], base: [:])
    try device.exchange([other.encoded(for: ContentTests.photo)])
    #expect(device.stored?.refused.map(\.id) == [id])
    try bench.replay()
    #expect(bench.business.performs == 0)
    try device.exchange()
    #expect(device.answers[id]?.outcome == .replayFailed)
    #expect(try stored(bench) == [0, 0])
  }

  @Test(
    "What is left of a group does not wait for a content that its device has no more",
    .reference("sync/P25")
  )
  func lostMember() throws {
    let bench = try bench()
    let device = try Device(bench).exchange()
    let chain = try #require(OperationID(bench.newID()))
    let group = [[1: AttributeValue.text(reference(bytes).description)], [:]].enumerated().map {
      bench.operation(
        ContentTests.photo, .create, ObjectKey([.integer(Int64($0.offset))]), changed: $0.element,
        chain: chain, position: $0.offset, count: 2)
    }
    device.open = group.map(\.0)
    try device.exchange(group.map(\.1))
    try device.exchange()
    // As it is restored from a backup that was made when the first was not sent, and sends it.
    device.open = [group[1].0]
    try device.exchange([group[0].1])
    device.pulls = false
    let channel = bench.service.channel(
      device.body(), by: device.identity, until: device.identity.expires)
    try device.drain(channel)
    bench.service.close(channel)
    device.pulls = true
    // As an early request with a part of the group comes late, or a second time.
    device.open = []
    try device.exchange([group[1].1])
    try bench.replay()
    #expect(try put(bench, group[0].0, ContentRange(sizeBytes: 100)) == "200 0", "it may come")
    device.open = [group[1].0]
    // It was refused under its id, and the server set back to before that.
    try device.exchange()
    try bench.replay()
    #expect(bench.business.performs == 0)
    try device.exchange()
    #expect(
      group.map { device.answers[$0.0]?.outcome } == [.replayFailed, .notTried], "and it is told")
    #expect(device.answers[group[0].0]?.logRecords.first?.attribute == "image")
    #expect(try stored(bench) == [0, 0])
  }

  @Test(
    "Pieces that make no sense, or are not this user's, are refused and leave nothing",
    .reference("sync/M12"))
  func nonsense() throws {
    let bench = try bench { $0.contentBytesPerUser = 90 }
    let device = try Device(bench).exchange()
    let id = try send(device, 1, bytes)
    let whole = ContentRange(start: 0, count: 100, sizeBytes: 100)
    let unknown = try #require(OperationID(String(repeating: "a", count: 32)))
    #expect(try put(bench, unknown, whole, bytes) == "404 unknownOperation")
    #expect(try put(bench, id, whole, bytes, user: "berta") == "404 unknownOperation")
    #expect(try put(bench, id, whole, bytes, attribute: "id") == "404 unknownAttribute")
    #expect(try put(bench, id, whole, bytes, attribute: "none") == "404 unknownAttribute")
    #expect(try put(bench, id, whole, [1, 2]) == "400 badRequest")
    #expect(try put(bench, id, ContentRange(sizeBytes: 99)) == "400 badRequest")
    #expect(try stored(bench) == [0, 0])
    #expect(try put(bench, id, whole, bytes) == "429 tooMuchContent")
    #expect(try stored(bench)[1] == 0)
  }

  @Test(
    "A content that is another than the change names makes the change refused, and is let go of",
    .reference("sync/P15")
  )
  func wrong() throws {
    let bench = try bench()
    let device = try Device(bench).exchange()
    let id = try send(device, 1, bytes)
    let whole = ContentRange(start: 0, count: 100, sizeBytes: 100)
    #expect(try put(bench, id, whole, bytes.reversed()) == "200 100")
    try bench.replay()
    try device.exchange()
    #expect(device.answers[id]?.outcome == .replayFailed)
    #expect(device.answers[id]?.logRecords.first?.attribute == "image")
    #expect(bench.business.performs == 0)
    #expect(try stored(bench) == [0, 0])
  }

  @Test(
    "What a change of unknown outcome brought is kept until somebody has decided",
    .reference("sync/P25"))
  func unknown() throws {
    let bench = try bench()
    bench.business.remembers = false
    let device = try Device(bench).exchange()
    bench.business.next = .unknown(reason: "the line broke")
    let id = try send(device, 1, bytes)
    _ = try put(bench, id, ContentRange(start: 0, count: 100, sizeBytes: 100), bytes)
    try bench.replay()
    for _ in 1...20 {
      bench.clock.advance(86_400)
      try bench.service.compact()
    }
    #expect(try stored(bench) == [1, 1])
    try bench.service.decide(id, .again)
    try bench.replay()
    #expect(bench.business.performs == 2)
    #expect(try stored(bench) == [0, 0])
  }

  @Test(
    "The content of a refused change is kept for a week, and one that something waits for for ever")
  func purged() throws {
    let bench = try bench()
    let device = try Device(bench).exchange()
    bench.business.next = .done(
      [.refused(Refusal(code: 412, message: "no"))], touched: [])
    let refused = try send(device, 1, bytes)
    let whole = ContentRange(start: 0, count: 100, sizeBytes: 100)
    _ = try put(bench, refused, whole, bytes)
    try bench.replay()
    let other = Array(bytes.reversed())
    let waiting = try send(device, 2, other)
    _ = try put(
      bench, waiting, ContentRange(start: 0, count: 10, sizeBytes: 100), Array(other[..<10]))
    #expect(try stored(bench) == [2, 2])
    for day in 1...9 {
      bench.clock.advance(86_400)
      try bench.service.compact()
      #expect(try stored(bench) == (day < 8 ? [2, 2] : [1, 1]), "day \(day)")
    }
    #expect(try put(bench, waiting, ContentRange(sizeBytes: 100)) == "200 10")
  }
}
