import FerryCrypto
import FerryFaultFiles
import FerryPersistence
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@Suite("A store on a bad disk")
struct StoreDamageTests {
  @Test("Every byte of a store, flipped or cut off, is told", arguments: [true, false])
  func everyByte(_ isSecure: Bool) throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open(isSecure: isSecure)
    let content = Array("what was stored".utf8)
    try store.storeData(content, id: "a")
    let data = try fixture.dataPath
    for (path, isManifest) in [(data, false), (fixture.folder + "/store.ferry", true)] {
      let whole = [UInt8](try Data(contentsOf: URL(filePath: path)))
      var variants = (0..<whole.count).map { Array(whole[..<$0]) }
      for place in whole.indices {
        var flipped = whole
        flipped[place] ^= 0x41
        variants.append(flipped)
      }
      variants.append(whole + [0])
      for (number, bytes) in variants.enumerated() {
        try Data(bytes).write(to: URL(filePath: path))
        let found = reason {
          if isManifest {
            _ = try fixture.open(isSecure: isSecure)
          } else {
            _ = try store.loadData("a")
          }
        }
        // The four bytes of the version tell another one.
        #expect(
          found == .damaged
            || !isManifest && found == .foreign
              && (12..<16).contains(
                number - whole.count),
          "\(path) \(number) of \(whole.count): \(String(describing: found))")
        #expect([UInt8](try Data(contentsOf: URL(filePath: path))) == bytes)
      }
      try Data(whole).write(to: URL(filePath: path))
    }
    #expect(try fixture.open(isSecure: isSecure).loadData("a") == content)
    // Damaged data can be removed and stored anew.
    try Data([1, 2, 3]).write(to: URL(filePath: data))
    #expect(try store.isDataPersisted("a"))
    try store.storeData(content, id: "a")
    #expect(try store.loadData("a") == content)
  }

  @Test(
    "Blocks that change places, and files under another name, are told", arguments: [true, false])
  func exchanged(_ isSecure: Bool) throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open(isSecure: isSecure)
    let block = 64 << 10
    let bytes = (0..<(3 * block)).map { UInt8(truncatingIfNeeded: $0 / block) }
    try store.storeData(bytes, id: "a")
    let path = try fixture.dataPath
    let whole = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let unit = block + 4 + 16
    #expect(whole.count == 64 + 3 * unit)
    let (one, two, three) = (
      Array(whole[64..<(64 + unit)]), Array(whole[(64 + unit)..<(64 + 2 * unit)]),
      Array(whole[(64 + 2 * unit)...])
    )
    let head = Array(whole[..<64])
    for blocks in [two + one + three, one + three, one + two, one + one + two + three, three] {
      try Data(head + blocks).write(to: URL(filePath: path))
      #expect(reason { _ = try store.loadData("a") } == .damaged)
    }
    try Data(whole).write(to: URL(filePath: path))
    try store.storeData([1], id: "b")
    let other = try #require(
      try fixture.contents().keys.first {
        $0.hasSuffix(".data") && fixture.folder + "/" + $0 != path
      })
    try Data(whole).write(to: URL(filePath: fixture.folder + "/" + other))
    #expect(reason { _ = try store.loadData("b") } == .damaged)
    // What was read before the damage was right.
    var cut = whole
    cut[64 + unit + 100] ^= 1
    try Data(cut).write(to: URL(filePath: path))
    let stream = try #require(try store.loadDataStream("a"))
    #expect(try stream.read(block) == Array(bytes[..<block]))
    #expect(reason { _ = try stream.read(1) } == .damaged)
  }

  @Test("A later version is refused and left alone")
  func laterVersion() throws {
    let fixture = PersistenceFixture()
    try fixture.open().storeData([1], id: "a")
    let path = fixture.folder + "/store.ferry"
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)).dropLast(32))
    bytes[15] = 2
    try Data(bytes + SHA256Digest.hash(bytes)).write(to: URL(filePath: path))
    let before = try fixture.contents()
    #expect(reason { _ = try fixture.open() } == .foreign)
    #expect(try fixture.contents() == before)
  }

  @Test("Data without the file that describes the store is told, not taken for an empty store")
  func lostManifest() throws {
    let fixture = PersistenceFixture()
    try fixture.open().storeData([1], id: "a")
    try FileManager.default.removeItem(atPath: fixture.folder + "/store.ferry")
    let before = try fixture.contents()
    #expect(reason { _ = try fixture.open() } == .damaged)
    #expect(try fixture.contents() == before)
  }

  /// Every kind of change of single data.
  private static let changes: [@Sendable (Persistence) throws -> Void] = [
    { try $0.storeData([UInt8](repeating: 7, count: 150_000), id: "old") },
    { try $0.storeData([7], id: "new") },
    { try $0.removeData("old") },
    { try $0.storeSerializable([7], id: "coded") },
  ]

  private func state(_ store: Persistence) throws -> [Int] {
    try ["old", "new"].map { try store.loadData($0)?.count ?? -1 }
      + [store.loadSerializable([Int].self, "coded")?.count ?? -1]
  }

  @Test("A change that is killed at any step is made or not made", arguments: changes.indices)
  func killed(_ index: Int) throws {
    let change = Self.changes[index]
    var isMade = false
    var step = 0
    while !isMade {
      let fixture = PersistenceFixture()
      let store = try fixture.open()
      try store.storeData([1], id: "old")
      let before = try state(store)
      fixture.files.plan(.killed, at: step)
      isMade = (try? change(store)) != nil
      fixture.files.plan(nil)
      let after = try state(try fixture.open())
      if !isMade { #expect(after == before, "step \(step)") }
      try change(store)
      step += 1
    }
    #expect(step > 1)
  }

  @Test("A change of all data that is killed at any step leaves all of it, or is finished")
  func killedWhole() throws {
    let changes: [(Persistence, [UInt8]) throws -> Void] = [
      { store, _ in try store.clear() },
      { store, key in
        try store.changeSecureMode(to: true, key: key, confirming: .deletesAllStoredData)
      },
    ]
    for change in changes {
      var isMade = false
      var step = 0
      while !isMade {
        let fixture = PersistenceFixture()
        let store = try fixture.open()
        for number in 0..<4 { try store.storeData([1], id: "\(number)") }
        fixture.files.plan(.killed, at: step)
        isMade = (try? change(store, fixture.key)) != nil
        fixture.files.plan(nil)
        let again = try fixture.open()
        let left = try (0..<4).filter { try again.loadData("\($0)") != nil }
        #expect(left.isEmpty || left.count == 4, "step \(step): \(left)")
        try again.storeData([2], id: "0")
        step += 1
      }
      #expect(step > 8)
    }
  }

  @Test("A move to another disk that is killed at any step loses nothing", .reference("adr/PEA-5"))
  func killedMove() throws {
    var isMade = false
    var step = 3
    while !isMade {
      let fixture = PersistenceFixture()
      let store = try fixture.open()
      for number in 0..<3 { try store.storeData([UInt8(number)], id: "\(number)") }
      let target = fixture.root + "/other"
      // Not there, not made, then the rename that only one disk allows.
      let other = OtherDisk(fixture.files)
      let mover = try Persistence(folder: fixture.folder, key: fixture.key, files: other)
      fixture.files.plan(.killed, at: step)
      isMade = (try? mover.changeFolder(to: target, confirming: .movesAllStoredData)) != nil
      fixture.files.plan(nil)
      // At least one of the two opens, and whichever opens is whole.
      var opened = 0
      for folder in [fixture.folder, target] {
        guard FileManager.default.fileExists(atPath: folder + "/store.ferry") else { continue }
        guard let store = try? Persistence(folder: folder, key: fixture.key) else { continue }
        opened += 1
        for number in 0..<3 {
          #expect(try store.loadData("\(number)") == [UInt8(number)], "step \(step) \(folder)")
        }
      }
      #expect(opened >= 1, "step \(step)")
      if !isMade,
        let again = try? Persistence(folder: fixture.folder, key: fixture.key, files: other)
      {
        try again.changeFolder(to: target, confirming: .movesAllStoredData)
        #expect(try again.loadData("2") == [2])
      }
      if isMade {
        #expect(reason { _ = try fixture.open() } == .changedElsewhere)
        #expect(try mover.loadData("1") == [1])
      }
      step += 1
    }
    #expect(step > 20)
  }

  @Test("A disk that is full, read-only or forbidden is told, and nothing changes")
  func fullDisk() throws {
    let causes: [FileError.Cause] = [.full, .readOnly, .denied, .system(5)]
    for (cause, step) in causes.flatMap({ cause in (0..<6).map { (cause, $0) } }) {
      let fixture = PersistenceFixture()
      let store = try fixture.open()
      try store.storeData([1], id: "old")
      let before = try state(store)
      fixture.files.plan(.failing(cause), at: step)
      #expect(
        reason { try store.storeData([UInt8](repeating: 2, count: 200_000), id: "old") }
          == .cannotWrite)
      fixture.files.plan(.failing(cause))
      #expect(reason { try store.removeData("old") } == .cannotWrite)
      #expect(reason { try store.clear() } == .cannotWrite)
      fixture.files.plan(nil)
      #expect(try state(store) == before)
    }
  }

  @Test("A folder that vanishes is told")
  func vanished() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    try store.storeData([1], id: "a")
    try FileManager.default.removeItem(atPath: fixture.folder)
    #expect(reason { _ = try store.loadData("a") } == .changedElsewhere)
    #expect(reason { _ = try store.isDataPersisted("a") } == .changedElsewhere)
    #expect(reason { try store.storeData([1], id: "a") } == .cannotWrite)
    #expect(reason { try store.clear() } == .cannotWrite)
  }

  @Test(
    "What ended processes left half-written goes with the next opening, what live ones write stays")
  func drafts() throws {
    let fixture = PersistenceFixture()
    let live = try fixture.open()
    let writer = try live.openForWriting("live")
    try writer.write([UInt8](repeating: 1, count: 100_000))
    fixture.files.plan(.killed, at: 2)
    #expect(reason { try fixture.open().storeData([1], id: "a") } == .cannotWrite)
    fixture.files.plan(nil)
    #expect(try fixture.contents().keys.count { $0.hasSuffix(".new") } >= 1)
    _ = try fixture.open()
    #expect(try fixture.contents().keys.count { $0.hasSuffix(".new") } == 1)
    try writer.close()
    #expect(try live.loadData("live")?.count == 100_000)
  }

  @Test("A stream of any size takes little memory")
  func memory() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    let piece = [UInt8](repeating: 5, count: 1 << 20)
    var count = 0
    try store.storeDataStream("big") {
      count += 1
      return count <= 64 ? piece : nil
    }
    let before = Self.peakKilobytes()
    count = 0
    try store.storeDataStream("big") {
      count += 1
      return count <= 256 ? piece : nil
    }
    let stream = try #require(try store.loadDataStream("big"))
    var total = 0
    while true {
      let part = try stream.read(1 << 20)
      if part.isEmpty { break }
      total += part.count
    }
    #expect(total == 256 << 20)
    // Other tests run beside this one; 256 MB would show all the same.
    #expect(Self.peakKilobytes() - before < 128 << 10)
  }

  /// The most memory that this process has had.
  private static func peakKilobytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
      return 0
    }
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
  }
}

/// Files of which no folder can be given a name on another disk.
private struct OtherDisk: FileAccess {
  let files: FaultyFiles

  init(_ files: FaultyFiles) { self.files = files }

  func move(_ path: String, to target: String) throws(FileError) {
    guard path.contains(".") else { throw FileError(.system(18), path: path) }
    try files.move(path, to: target)
  }

  func read(_ path: String, atMost limit: Int) throws(FileError) -> [UInt8]? {
    try files.read(path, atMost: limit)
  }
  func create(_ path: String) throws(FileError) -> any FileWriter { try files.create(path) }
  func open(_ path: String) throws(FileError) -> (any FileReader)? { try files.open(path) }
  func remove(_ path: String) throws(FileError) -> Bool { try files.remove(path) }
  func names(in folder: String) throws(FileError) -> [String]? { try files.names(in: folder) }
  func createFolder(_ path: String) throws(FileError) { try files.createFolder(path) }
  func removeFolder(_ path: String) throws(FileError) -> Bool { try files.removeFolder(path) }
  func lock(_ path: String, within: Duration) throws(FileError) -> any FileLock {
    try files.lock(path, within: within)
  }
}
