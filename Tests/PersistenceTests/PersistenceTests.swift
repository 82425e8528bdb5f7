import FerryPersistence
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@Suite("Persistence")
struct PersistenceTests {
  @Test(
    "Bytes are stored by name or get one, and are nil when missing",
    .reference("ios/PER-3", "adr/PEA-1"))
  func data() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    #expect(try store.loadData("a") == nil)
    #expect(try store.storeData([1, 2, 3], id: "a") == "a")
    #expect(try store.loadData("a") == [1, 2, 3])
    #expect(try store.isDataPersisted("a"))
    let fresh = try store.storeData([])
    let other = try store.storeData([4])
    #expect(fresh != other && fresh.count == 32)
    #expect(try store.loadData(fresh) == [])
    try store.storeData([9], id: "a")
    // They outlive the process.
    let again = try fixture.open()
    #expect(try again.loadData("a") == [9])
    #expect(try again.loadData(other) == [4])
    #expect(try again.removeData("a"))
    #expect(try !again.removeData("a"))
    #expect(try !store.isDataPersisted("a"))
    #expect(try store.loadData("a") == nil)
    #expect(reason { try store.storeData([1], id: "") } == .invalidArgument)
    // Equal texts are one name, others are not.
    try store.storeData([5], id: "caf\u{E9}")
    #expect(try store.loadData("cafe\u{301}") == [5])
    #expect(try store.loadData("CAF\u{C9}") == nil)
  }

  @Test("Everything is wiped on demand", .reference("ios/PER-1"))
  func clear() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    for number in 0..<5 { try store.storeData([1], id: "\(number)") }
    try store.clear()
    for number in 0..<5 { #expect(try store.loadData("\(number)") == nil) }
    #expect(try fixture.contents().count == 1)
    try store.storeData([2], id: "0")
    #expect(try fixture.open().loadData("0") == [2])
  }

  @Test(
    "It is sealed by default; without a key that is an error",
    .reference("ios/PER-5", "ios/PER-6", "adr/PEA-2"))
  func secure() throws {
    let fixture = PersistenceFixture()
    let missing = reason { _ = try Persistence(folder: fixture.folder, key: nil) }
    #expect(missing == .keyMissing)
    #expect(missing?.rawValue == 200)
    for count in [0, 31, 33] {
      #expect(
        reason {
          _ = try Persistence(folder: fixture.folder, key: [UInt8](repeating: 1, count: count))
        } == .invalidArgument)
    }
    let store = try fixture.open()
    #expect(store.isSecure)
    #expect(store.storagePolicy == .fullProtection)
    #expect(StoragePolicy.fullProtection.rawValue == 0 && StoragePolicy.noProtection.rawValue == 1)
    try store.storeData(Array("a plain secret".utf8), id: "a plain name")
    for (name, bytes) in try fixture.contents() {
      let text = name + String(decoding: bytes, as: UTF8.self)
      #expect(!text.contains("a plain secret") && !text.contains("a plain name"))
    }
    #expect(
      reason {
        _ = try Persistence(folder: fixture.folder, key: [UInt8](repeating: 1, count: 32))
      } == .wrongKey)
    #expect(reason { _ = try fixture.open(isSecure: false) } == .otherMode)
    #expect(try fixture.open().loadData("a plain name") == Array("a plain secret".utf8))
  }

  @Test(
    "A store in plain mode keeps what it is given, and is no sealed one",
    .reference("ios/PER-5", "adr/PEB-1"))
  func plain() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open(isSecure: false)
    #expect(store.storagePolicy == .noProtection)
    try store.storeData([1, 2, 3], id: "a")
    #expect(try fixture.open(isSecure: false).loadData("a") == [1, 2, 3])
    #expect(reason { _ = try fixture.open() } == .otherMode)
  }

  @Test("A key is generated, each another, of the one algorithm", .reference("adr/PEA-3"))
  func generatedKey() throws {
    let fixture = PersistenceFixture()
    let key = try Persistence.generateSecretKey(algorithm: "AES")
    #expect(key.count == 32)
    #expect(try Persistence.generateSecretKey() != key)
    #expect(reason { _ = try Persistence.generateSecretKey(algorithm: "DES") } == .invalidArgument)
    try Persistence(folder: fixture.folder, key: key).storeData([1], id: "a")
    #expect(try Persistence(folder: fixture.folder, key: key).loadData("a") == [1])
  }

  @Test("Changing the mode removes all data, which the caller confirms", .reference("adr/PEA-4"))
  func mode() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    let other = try fixture.open()
    try store.storeData([1], id: "a")
    #expect(
      reason {
        try store.changeSecureMode(to: true, key: nil, confirming: .deletesAllStoredData)
      } == .keyMissing)
    #expect(try store.loadData("a") == [1])
    try store.changeSecureMode(to: false, key: nil, confirming: .deletesAllStoredData)
    #expect(!store.isSecure)
    #expect(try store.loadData("a") == nil)
    try store.storeData([2], id: "a")
    // Who has it open with the old key reads and writes nothing.
    #expect(reason { try other.storeData([3], id: "a") } == .changedElsewhere)
    #expect(reason { _ = try other.loadData("a") } == .changedElsewhere)
    #expect(reason { try other.removeData("a") } == .changedElsewhere)
    #expect(reason { try other.clear() } == .changedElsewhere)
    #expect(try fixture.open(isSecure: false).loadData("a") == [2])
    try store.changeSecureMode(to: true, key: fixture.key, confirming: .deletesAllStoredData)
    #expect(try fixture.open().loadData("a") == nil)
    #expect(try fixture.contents().count == 1)
  }

  @Test("Changing the folder moves all data, which the caller confirms", .reference("adr/PEA-5"))
  func folder() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    try store.storeData([1], id: "a")
    let target = fixture.root + "/deep/other"
    try store.changeFolder(to: target, confirming: .movesAllStoredData)
    #expect(store.folder == target)
    #expect(try store.loadData("a") == [1])
    #expect(!FileManager.default.fileExists(atPath: fixture.folder))
    try store.storeData([2], id: "b")
    #expect(try Persistence(folder: target, key: fixture.key).loadData("b") == [2])
    // A folder with something in it is left alone.
    let taken = fixture.root + "/taken"
    try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: taken + "/file"))
    #expect(
      reason { try store.changeFolder(to: taken, confirming: .movesAllStoredData) }
        == .invalidArgument)
    #expect(store.folder == target)
    #expect(try store.loadData("a") == [1])
  }

  @Test("Threads store and load at the same time; each finds whole data", .reference("adr/PEA-6"))
  func threads() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    let other = try fixture.open()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        let mine = thread % 2 == 0 ? store : other
        for round in 0..<15 {
          let bytes = [UInt8](repeating: UInt8(thread), count: 100_000 + round)
          try mine.storeData(bytes, id: "shared")
          try mine.storeData(bytes, id: "own \(thread)")
          let read = try mine.loadData("shared") ?? []
          #expect(Set(read).count == 1 && read.count >= 100_000)
        }
      } catch {
        Issue.record("\(error)")
      }
    }
    for thread in 0..<4 { #expect(try store.loadData("own \(thread)")?.count == 100_014) }
    // Nothing half-written is left.
    #expect(try fixture.contents().count == 6)
  }

  @Test("Every change waits for another process, and is busy when the time is over")
  func busy() throws {
    let fixture = PersistenceFixture()
    _ = try fixture.open()
    let store = try Persistence(
      folder: fixture.folder, key: fixture.key, lockWait: .milliseconds(1))
    let lock = try SystemFiles().lock(fixture.folder + "/store.lock", within: .zero)
    let calls: [() throws -> Void] = [
      { try store.storeData([1], id: "a") }, { try store.removeData("a") }, { try store.clear() },
      { try store.changeSecureMode(to: false, key: nil, confirming: .deletesAllStoredData) },
      {
        try store.changeFolder(to: fixture.root + "/other", confirming: .movesAllStoredData)
      },
      {
        _ = try Persistence(
          folder: fixture.folder, key: fixture.key, lockWait: .milliseconds(1))
      },
    ]
    for (number, call) in calls.enumerated() { #expect(reason(call) == .busy, "call \(number)") }
    lock.release()
    try store.storeData([1], id: "a")
    #expect(try fixture.contents().count == 2)
  }
}
