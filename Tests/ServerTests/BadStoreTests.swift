import FerryCrypto
import FerryFaultVFS
import FerryJSON
import FerryModel
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// What others do to a store's file under a running server, and what its disk does.
@Suite("A store that goes bad under a running server: a clear answer, and nothing is lost")
struct BadStoreTests {
  private func shop(vfs: String? = nil) throws -> (bench: Bench, pulse: Pulse) {
    let bench = try Bench(vfs: vfs)
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    try bench.load()
    let pulse = Pulse(world: World(clock: bench.clock, chance: bench.chance, log: bench.log))
    bench.service.listen { if case .storeFailed(let error) = $0 { pulse.tell(error) } }
    return (bench, pulse)
  }

  private func change(_ bench: Bench, _ text: String) -> (OperationID, [UInt8]) {
    bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text(text)],
      base: [2: .text("Oslo")])
  }

  /// The device is turned away, and the log says once what is wrong and what to do.
  private func expectTrouble(
    _ bench: Bench, _ pulse: Pulse, _ code: String, hint: String,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let device = Device(bench, "phone")
    let (id, bytes) = change(bench, "lost?")
    for _ in 0..<2 {
      try device.exchange([bytes])
      #expect(device.failure?.code == .internal, sourceLocation: location)
      #expect(device.stored == nil, "it was told that \(id) is stored", sourceLocation: location)
      #expect(device.rows.isEmpty, sourceLocation: location)
    }
    let lines = bench.log.lines.filter { $0 == "error the store cannot be used" }
    #expect(lines.count == 1, sourceLocation: location)
    #expect(bench.log.hints.contains { $0.contains(hint) }, sourceLocation: location)
    #expect(!pulse.report.isWell, sourceLocation: location)
    var writer = JSONWriter()
    writer.beginObject()
    pulse.report.write(to: &writer)
    writer.endObject()
    #expect(writer.text.contains("\"\(code)\""), sourceLocation: location)
  }

  /// The store works again, without a restart: what waited is done.
  private func expectWell(
    _ bench: Bench, _ waiting: OperationID, _ location: SourceLocation = #_sourceLocation
  ) throws {
    try bench.service.probe()
    let device = Device(bench, "phone")
    let (id, bytes) = change(bench, "Bern")
    device.open = [waiting, id]
    try device.exchange([bytes])
    #expect(device.stored?.ids == [id], sourceLocation: location)
    try bench.replay()
    try device.exchange()
    #expect(device.answers[waiting] != nil, sourceLocation: location)
    #expect(device.answers[id] != nil, sourceLocation: location)
  }

  /// An operation that the store has when it goes bad.
  private func waiting(_ bench: Bench) throws -> OperationID {
    let (id, bytes) = change(bench, "Kiel")
    let device = try Device(bench, "phone").exchange([bytes])
    #expect(device.stored?.ids == [id])
    return id
  }

  @Test("Its file is removed: nothing is taken in; put back, all goes on")
  func removed() throws {
    let (bench, pulse) = try shop()
    let waiting = try waiting(bench)
    let file = "\(bench.folder)/server.sqlite"
    // The same file under a second name: a backup program that keeps links, or an undelete.
    try FileManager.default.linkItem(atPath: file, toPath: file + ".kept")
    try FileManager.default.removeItem(atPath: file)
    try expectTrouble(bench, pulse, "storeGone", hint: "Put it back")
    try FileManager.default.moveItem(atPath: file + ".kept", toPath: file)
    try expectWell(bench, waiting)
  }

  @Test("Its file is exchanged for a copy: no device gets anything of that; put back, all goes on")
  func exchanged() throws {
    let (bench, pulse) = try shop()
    let waiting = try waiting(bench)
    let file = "\(bench.folder)/server.sqlite"
    _ = try StoreCopy.make(of: bench.folder, to: file + ".copy") { _, _ in }
    try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
    try FileManager.default.moveItem(atPath: file + ".copy", toPath: file)
    try expectTrouble(bench, pulse, "storeGone", hint: "Put it back")
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
    try expectWell(bench, waiting)
  }

  @Test("A reader that opens an exchanged file brings nothing of it")
  func exchangedUnderReader() throws {
    var limits = ServiceLimits()
    limits.nearRows = 1
    let bench = try Bench(limits: limits)
    for number in 1...5 as ClosedRange<Int64> {
      bench.business.put(Shop.order, Shop.order(number, 1, "Oslo"))
    }
    try bench.load()
    let file = "\(bench.folder)/server.sqlite"
    // Of the era before, as a backup is.
    _ = try StoreCopy.make(of: bench.folder, to: file + ".old") { _, _ in }
    try bench.restart()
    _ = try StoreCopy.make(of: bench.folder, to: file + ".copy") { _, _ in }
    var asked: [PendingRead] = []
    bench.service.onRead = { asked.append($0) }
    for copy in [".old", ".copy"] {
      let device = Device(bench, "phone\(copy)")
      let exchange = bench.service.exchange(device.body(), by: device.identity)
      #expect(try !device.drain(exchange))
      let last = asked.popLast()
      let pending = try #require(last)
      try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
      try FileManager.default.moveItem(atPath: file + copy, toPath: file)
      let make = bench.service.store.readerMaker
      let reader = Result { () throws(StoreError) in try make() }
      let result = reader.flatMap { reader in
        Result { () throws(StoreError) in
          try reader.snapshot { view throws(StoreError) in try pending.read.round(view) }
        }
      }
      bench.service.finish(pending, result)
      #expect(try device.drain(exchange))
      #expect(device.rows.isEmpty)
      #expect(device.failure?.code == .internal)
      try FileManager.default.removeItem(atPath: file)
      try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
      // Nor later, when the store is back.
      if case .success(let reader) = reader {
        #expect(throws: StoreError.self) {
          try reader.snapshot { view throws(StoreError) in view.clock }
        }
      }
    }
    bench.service.onRead = nil
    #expect(try Device(bench).exchange().rows.count == 5)
  }

  @Test("Its file turns read-only: the log says what to check; writable again, all goes on")
  func readOnly() throws {
    let disk = FaultDisk()
    let (bench, pulse) = try shop(vfs: disk.vfs)
    let waiting = try waiting(bench)
    disk.fail(at: disk.operations, code: 8, times: nil)
    try expectTrouble(bench, pulse, "folderNotWritable", hint: "owner and rights")
    disk.fail(at: .max, code: 0)
    try expectWell(bench, waiting)
    bench.stop()
  }

  @Test("A disk that fills at each write of each verb: the verb says so and does nothing")
  func full() throws {
    let disk = FaultDisk()
    let (bench, _) = try shop(vfs: disk.vfs)
    try Device(bench, "phone").exchange()
    let filled = Filled(bench, disk)
    let anna = UserRecord(name: "anna", claims: ["employee": ["1"]])
    let pair = try filled.verb("login") { try bench.service.login(anna, device: "phone") }
    let identity = try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
    let phone = Device(bench, "phone", identity)
    let (id, bytes) = change(bench, "Bern")
    try filled.verb("receive") { try phone.exchange([bytes]) }
    #expect(phone.stored?.ids == [id])
    let claimed = try filled.verb("claim") {
      // What could not be claimed is tried again after a while.
      bench.clock.advance(61)
      return try bench.service.nextReplay()
    }
    let task = try #require(claimed)
    var step = task.step
    while let report = bench.answer(step) {
      step = try filled.verb("answer") { try bench.service.report(task, report) }
    }
    try phone.exchange()
    #expect(phone.answers[id]?.outcome == .replayResult)
    let unconfirmed = phone.unconfirmed
    #expect(unconfirmed == [id])
    try filled.verb("confirm") {
      phone.unconfirmed = unconfirmed
      try phone.exchange()
    }
    bench.business.put(Shop.order, Shop.order(11, 1, "Riga"))
    try filled.verb("load", changesNothing: false) { try bench.load() }
    try filled.verb("compact", changesNothing: false) {
      bench.clock.advance(86_400)
      try bench.service.compact()
    }
    let owner = Owner(device: "phone", user: "anna")
    for verb in [DeviceVerb.lock, .unlock] {
      let device = try filled.verb(verb.rawValue) {
        try bench.service.decide(verb, owner, reason: "lost", withPending: false)
      }
      #expect(device.state == (verb == .lock ? .locked : .active))
    }
    let content = Array("a photo".utf8)
    let reference = BigReference(
      sizeBytes: Int64(content.count), digest: hexadecimal(SHA256Digest.hash(content)))
    let begun = try filled.verb("content") {
      try bench.service.guarded { () throws(StoreError) in
        try bench.service.store.beginContent("anna", reference)
      }
    }
    try filled.verb("piece") {
      try bench.service.guarded { () throws(StoreError) in
        try bench.service.store.appendContent(begun.id, at: 0, content)
      }
    }
    #expect(try bench.service.store.contentPiece(begun.id, at: 0) == content)
    // All is there that was told, and a start on the same disk finds it.
    try bench.restart()
    let device = try Device(bench, "tablet").exchange()
    #expect(device.shown == ["Order 10 [10,1,\"Bern\"]", "Order 11 [11,1,\"Riga\"]"])
    bench.stop()
  }
}

/// Lets the disk be full from each write of a verb on in turn, until it has room for all of them.
private final class Filled {
  private let bench: Bench
  private let disk: FaultDisk
  private var trouble: ServerError?

  init(_ bench: Bench, _ disk: FaultDisk) {
    self.bench = bench
    self.disk = disk
    bench.service.listen { [weak self] in
      if case .storeFailed(let error) = $0 { self?.trouble = error }
    }
  }

  /// `changesNothing`: whether a verb that fails leaves rows and operations as they were.
  @discardableResult
  func verb<Result>(
    _ name: String, changesNothing: Bool = true, _ body: () throws -> Result
  ) throws -> Result {
    for write in 0..<1_000 {
      let before = try bench.service.dump()
      trouble = nil
      disk.fail(at: disk.operations + write, code: 13, times: nil)
      let result = Swift.Result { try body() }
      disk.fail(at: .max, code: 0)
      guard let trouble else {
        #expect(write > 0, "\(name) writes nothing")
        return try result.get()
      }
      #expect(trouble.code == .diskFull, "\(name), write \(write)")
      #expect(trouble.hint == "Free space on the disk; nothing was lost.")
      if changesNothing {
        #expect(try bench.service.dump() == before, "\(name), write \(write)")
      }
    }
    throw StoreError(.other, "\(name) has no end")
  }
}
