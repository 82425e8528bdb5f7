import FerryConnector
import FerryCrypto
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Testing

@Suite("Big values in a SQLite database")
struct BigColumnTests {
  private let photos = entity(
    "Photos",
    [
      attribute("id", .long, required: true), attribute("image", .bigBinary),
      attribute("text", .bigString),
    ])

  private func reference(_ bytes: [UInt8]) -> BigReference {
    BigReference(
      sizeBytes: Int64(bytes.count), digest: hexadecimal(SHA256Digest.hash(bytes)))
  }

  private func value(_ bytes: [UInt8]) -> AttributeValue { .text(reference(bytes).description) }

  private func content(_ bytes: [UInt8], endsAt end: Int = .max) -> ConnectorContent {
    ConnectorContent(reference(bytes)) { offset, count throws(ConnectorError) in
      Array(bytes.prefix(end).dropFirst(Int(offset)).prefix(count))
    }
  }

  private func operation(
    _ business: Business, _ kind: OperationKind, _ contents: [Int: ConnectorContent],
    base: [String: AttributeValue] = [:]
  ) -> ConnectorOperation {
    let plain = business.operation(kind, photos, [.integer(1)], base: base)
    return ConnectorOperation(
      id: plain.id, entity: photos, kind: kind, key: plain.key,
      changed: contents.mapValues { .text($0.reference.description) }, base: plain.base,
      contents: contents)
  }

  @Test(
    "Contents are written with their row and read back as references, with row ids and without",
    arguments: ["", " WITHOUT ROWID"])
  func circle(form: String) throws {
    let business = try Business(
      "CREATE TABLE Photos (id INTEGER PRIMARY KEY, image BLOB, text TEXT)\(form)", photos)
    #expect(try business.connector.mismatches(with: business.package) == [])
    let first = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
    let text = Array("ähnlich".utf8)
    let (outcomes, touched) = try business.perform(
      operation(business, .create, [1: content(first), 2: content(text)]))
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(1)]))])
    #expect(touched.map(\.values) == [[.integer(1), value(first), value(text)]])
    #expect(try business.other.value("SELECT image FROM Photos") == .blob(first))
    #expect(try business.other.value("SELECT text FROM Photos") == .text("ähnlich"))
    let key = ObjectKey([.integer(1)])
    let middle = try business.connector.content(
      photos, key: key, position: 1, offset: 699_990, count: 100)
    #expect(middle == Array(first.suffix(10)))
    let tail = try business.connector.content(photos, key: key, position: 2, offset: 1, count: 3)
    #expect(tail == Array(text[1..<4]))
    let none = try business.connector.content(
      photos, key: ObjectKey([.integer(2)]), position: 1, offset: 0, count: 9)
    #expect(none == nil)
    let second: [UInt8] = []
    let stale = try business.refusal(
      of: operation(business, .update, [1: content(second)], base: ["image": value(text)]))
    #expect(stale.code == 412 && stale.currentValue == value(first))
    _ = try business.perform(
      operation(business, .update, [1: content(second)], base: ["image": value(first)]))
    #expect(try business.other.value("SELECT image FROM Photos") == .blob([]))
    #expect(
      try business.load(photos).rows.map(\.values) == [[.integer(1), value([]), value(text)]])
    try business.other.execute("UPDATE Photos SET image = NULL")
    #expect(try business.load(photos).rows.map(\.values) == [[.integer(1), .null, value(text)]])
  }

  @Test(
    "A column of an index, or of a table with an index of an expression, takes contents too",
    arguments: ["Photos (image)", "Photos (length(image))"])
  func indexed(columns: String) throws {
    let business = try Business(
      """
      CREATE TABLE Photos (id INTEGER PRIMARY KEY, image BLOB, text TEXT);
      CREATE INDEX images ON \(columns);
      """, photos)
    let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let (outcomes, _) = try business.perform(operation(business, .create, [1: content(bytes)]))
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(1)]))])
    #expect(try business.other.value("SELECT image FROM Photos") == .blob(bytes))
  }

  @Test(
    "A content that ends too soon leaves nothing: the row is not there either, and it is tried again"
  )
  func tooShort() throws {
    let business = try Business(
      "CREATE TABLE Photos (id INTEGER PRIMARY KEY, image BLOB, text TEXT)", photos)
    let bytes = [UInt8](repeating: 7, count: 600_000)
    let torn = operation(business, .create, [1: content(bytes, endsAt: 300_000)])
    guard case .notDone = business.connector.perform([torn]) else {
      Issue.record("a torn content was taken")
      return
    }
    #expect(try business.other.value("SELECT count(*) FROM Photos") == .integer(0))
    let whole = ConnectorOperation(
      id: torn.id, entity: photos, kind: .create, key: torn.key, changed: torn.changed, base: [:],
      contents: [1: content(bytes)])
    let (outcomes, _) = try business.perform(whole)
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(1)]))])
    #expect(try business.other.value("SELECT image FROM Photos") == .blob(bytes))
    let again = try business.perform(whole)
    #expect(again.0 == [.accepted(key: ObjectKey([.integer(1)]), isRepeated: true)])
    #expect(try business.other.value("SELECT count(*) FROM Photos") == .integer(1))
  }

  @Test("A column that takes a text for a number is no place for a big text")
  func affinity() throws {
    let business = try Business(
      "CREATE TABLE Photos (id INTEGER PRIMARY KEY, image INTEGER, text NUMERIC)", photos)
    let found = try business.connector.mismatches(with: business.package)
    #expect(found.map(\.place) == ["Photos.text"])
  }
}
