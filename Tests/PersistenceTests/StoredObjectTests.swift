import FerryPersistence
import FerryTestTraits
import Foundation
import Synchronization
import Testing

private struct Address: Codable, Equatable, Persistable {
  var street = ""
  var number = 0
  var isHome = false
  var weight = 0.0
  var photo: [UInt8] = []

  func write(to writer: inout PersistableWriter) throws {
    writer.write(street)
    writer.write(number)
    writer.write(isHome)
    writer.write(weight)
    writer.write(photo)
  }

  mutating func read(from reader: inout PersistableReader) throws {
    street = try reader.readString()
    number = try reader.readInt()
    isHome = try reader.readBool()
    weight = try reader.readDouble()
    photo = try reader.readBytes()
  }
}

/// Reads more, or less, than it writes.
private struct Uneven: Persistable {
  var reads = 1
  func write(to writer: inout PersistableWriter) throws { writer.write(7) }
  mutating func read(from reader: inout PersistableReader) throws {
    for _ in 0..<Uneven.asked { reads = try reader.readInt() }
  }
  static let asking = Mutex(1)
  static var asked: Int {
    get { asking.withLock { $0 } }
    set { asking.withLock { $0 = newValue } }
  }
}

private struct Refusing: Persistable {
  func write(to writer: inout PersistableWriter) throws { throw CancellationError() }
  mutating func read(from reader: inout PersistableReader) throws {}
}

@Suite("Stored objects and streams")
struct StoredObjectTests {
  private let sample = Address(
    street: "Größe \u{1F511}", number: -7, isHome: true, weight: -.infinity, photo: [0, 255])

  @Test("An object writes itself and fills another one", .reference("adr/PEA-1", "adr/PEA-7"))
  func objects() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    var object = Address(street: "kept")
    #expect(try !store.loadObject("a", into: &object))
    #expect(object.street == "kept")
    try store.storeObject("a", sample)
    #expect(try store.loadObject("a", into: &object))
    #expect(object == sample)
    // Bytes of another kind are told, and the object stays as it was.
    try store.storeData([1], id: "raw")
    #expect(reason { _ = try store.loadObject("raw", into: &object) } == .dataType)
    #expect(reason { _ = try store.loadData("a") } == .dataType)
    #expect(object == sample)
  }

  @Test("An object that reads other than it writes is told", .reference("adr/PEA-7"))
  func uneven() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    try store.storeObject("a", Uneven())
    for asked in [0, 2] {
      Uneven.asked = asked
      var object = Uneven()
      #expect(reason { _ = try store.loadObject("a", into: &object) } == .notPersistable)
      #expect(object.reads == 1)
    }
    Uneven.asked = 1
    var object = Uneven()
    #expect(try store.loadObject("a", into: &object))
    #expect(object.reads == 7)
    try store.storeObject("a", sample)
    #expect(reason { try store.storeObject("a", Refusing()) } == .notPersistable)
    var kept = Address()
    #expect(try store.loadObject("a", into: &kept))
    #expect(try fixture.contents().count == 2)
  }

  @Test("Codable values are stored by name", .reference("ios/PER-4", "adr/PEB-4"))
  func coded() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    var value = sample
    value.weight = 1.5
    let id = try store.storeSerializable([value])
    #expect(try store.loadSerializable([Address].self, id) == [value])
    #expect(try store.loadSerializable([Address].self, "other") == nil)
    #expect(reason { _ = try store.loadSerializable(Int.self, id) } == .notPersistable)
    // A number that JSON cannot say is told, and nothing is stored.
    #expect(reason { try store.storeSerializable(sample, id: "b") } == .notPersistable)
    #expect(try !store.isDataPersisted("b"))
    try store.storeSerializable(["b": true], id: "b")
    #expect(try store.loadSerializable([String: Bool].self, "b") == ["b": true])
  }

  @Test(
    "A stream comes back in pieces of any size", .reference("adr/PEA-1"), arguments: [true, false])
  func streams(_ isSecure: Bool) throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open(isSecure: isSecure)
    let block = 64 << 10
    for count in [0, 1, block - 1, block, block + 1, 3 * block, 5 * block + 17] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 251 + $0) }
      var rest = bytes[...]
      try store.storeDataStream("s") {
        defer { rest = rest.dropFirst(10_007) }
        return rest.isEmpty ? nil : Array(rest.prefix(10_007))
      }
      let stream = try #require(try store.loadDataStream("s"))
      var read: [UInt8] = []
      while true {
        let part = try stream.read(7_001)
        if part.isEmpty { break }
        read += part
      }
      #expect(read == bytes)
      #expect(try stream.read(1) == [])
      #expect(try store.loadData("s") == bytes)
    }
    #expect(try store.loadDataStream("other") == nil)
  }

  @Test(
    "What is not closed is not stored, and a source that fails changes nothing",
    .reference("adr/PEA-1"))
  func unclosed() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    try store.storeData([1], id: "s")
    do {
      let writer = try store.openForWriting("s")
      try writer.write([UInt8](repeating: 2, count: 200_000))
      #expect(try store.loadData("s") == [1])
    }
    #expect(throws: CancellationError.self) {
      try store.storeDataStream("s") { throw CancellationError() }
    }
    #expect(try store.loadData("s") == [1])
    #expect(try fixture.contents().count == 2)
    // A reader goes on with what it has opened.
    try store.storeData([UInt8](repeating: 3, count: 200_000), id: "s")
    let stream = try #require(try store.loadDataStream("s"))
    #expect(try stream.read(1) == [3])
    try store.storeData([4], id: "s")
    #expect(try stream.read(300_000) == [UInt8](repeating: 3, count: 199_999))
  }
}
