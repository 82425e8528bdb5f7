import FerryCrypto
import FerryJSON
import FerryModel

/// A stretch of one partition's changes: everything between two cursors.
///
/// Nothing in it tells of a device, so the same bytes go to all that stand at `from`. The rows stay
/// as they came until they are imported.
public struct RowsPage: Sendable, Equatable {
  public let partition: Int64
  public let from: Cursor
  public let to: Cursor
  /// The clock of the snapshot that made it.
  public let at: Int64
  /// Rows and leaves in it.
  public let rowCount: Int
  /// The whole message, `sets` last.
  public let json: [UInt8]

  /// A page as it was kept: its frame as it came. What stands in it was looked at when it came, so
  /// only its head is read here.
  public init(kept frame: [UInt8]) throws(WireError) {
    guard let content = try FrameReader.frames(of: frame).first, content.kind == .rows else {
      throw WireError(
        .badMessage, "a stored page is not a page of rows", hint: "Download it again.")
    }
    let header: Result<Header, JSONError> = content.content.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer, depthLimit: WireLimits.nesting)
      do throws(JSONError) { return .success(try Header(&scanner)) } catch {
        return .failure(error)
      }
    }
    do throws(JSONError) { self.init(try header.get(), content.content) } catch {
      throw WireError(
        .badMessage, "a stored page cannot be read \(error)", hint: "Download it again.")
    }
  }

  init(_ scanner: inout JSONScanner, _ content: [UInt8]) throws(JSONError) {
    let header = try Header(&scanner)
    try scanner.skipValue()
    while try scanner.nextKey() != nil { try scanner.skipValue() }
    self.init(header, content)
  }

  /// Takes a page that was kept as it came.
  public init(json: [UInt8]) throws(JSONError) {
    self = try json.scan { scanner throws(JSONError) in try RowsPage(&scanner, json) }
  }

  /// The entity of the first rows; nil where there are none.
  public var firstEntity: String? {
    let found: Result<String?, JSONError> = json.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer, depthLimit: WireLimits.nesting)
      do throws(JSONError) {
        _ = try Header(&scanner)
        try scanner.enterArray()
        guard try scanner.nextElement() else { return .success(nil) }
        try scanner.enterObject()
        guard try scanner.nextKey() == "entity" else { return .success(nil) }
        return .success(try scanner.name(of: "entity"))
      } catch { return .failure(error) }
    }
    return (try? found.get()) ?? nil
  }

  private init(_ header: Header, _ content: [UInt8]) {
    partition = header.partition
    from = header.from
    to = header.to
    at = header.at
    rowCount = header.count
    json = content
  }

  /// Walks the rows: each row of an entity with its hash, then the keys of rows that left.
  public func read<Failure: Error>(
    of package: Package, wrap: (JSONError) -> Failure,
    row: (Entity, [AttributeValue], Int64) throws(Failure) -> Void,
    left: (Entity, ObjectKey) throws(Failure) -> Void
  ) throws(Failure) {
    try withReader(of: package, hasher: SHA256Hasher(), wrap: wrap) { reader throws(Failure) in
      while true {
        let step: RowsReader.Step
        do throws(JSONError) { step = try reader.next() } catch { throw wrap(error) }
        switch step {
        case .end: return
        case .row: try row(reader.entity, reader.decoded, reader.hash)
        case .left(let key): try left(reader.entity, key)
        }
      }
    }
  }

  struct Header {
    let partition: Int64
    let from: Cursor
    let to: Cursor
    let at: Int64
    let count: Int

    /// Reads up to the value of `sets`.
    init(_ scanner: inout JSONScanner) throws(JSONError) {
      var numbers: [String: Int64] = [:]
      var cursors: [String: Cursor] = [:]
      try scanner.enterObject()
      while let key = try scanner.nextKey() {
        if key == "sets" { break }
        switch key {
        case "partition", "at", "count": numbers[key] = try scanner.integer()
        case "from", "to": cursors[key] = try scanner.cursor()
        default: try scanner.skipValue()
        }
      }
      guard let partition = numbers["partition"], let at = numbers["at"],
        let from = cursors["from"],
        let to = cursors["to"], from <= to, try scanner.peek() == .array
      else { throw scanner.failure("a page has no partition, from, to, at or sets") }
      self.partition = partition
      self.at = at
      count = Int(numbers["count"] ?? 0)
      self.from = from
      self.to = to
    }
  }
}

/// The rows of one entity inside a page: `entity`, `columns`, `rows`, `left`, in this order.
struct RowSet {
  let entity: Entity
  let types: [AttributeType]
  let isNullable: [Bool]
  /// What the hash of each row begins with.
  let hashHead: String

  /// Reads up to the first row.
  init(_ scanner: inout JSONScanner, _ package: Package) throws(JSONError) {
    try scanner.enterObject()
    guard try scanner.nextKey() == "entity" else {
      throw scanner.failure("a set begins with its entity")
    }
    let name = try scanner.name(of: "entity")
    guard let entity = package.entity(named: name) else {
      throw scanner.failure("the package \(package.id) has no entity \(name)", [name])
    }
    guard try scanner.nextKey() == "columns" else {
      throw scanner.failure("a set names its columns")
    }
    let columns = try scanner.list(of: "columns", atMost: WireLimits.namesInMessage) {
      scanner throws(JSONError) in try scanner.name(of: "a column")
    }
    let known = entity.attributes.map(\.name)
    if let odd = columns.first(where: { !known.contains($0) }) {
      throw scanner.failure(
        "the columns of \(name) are not those of the package \(package.id), which has no \(odd)",
        [name, odd])
    }
    guard columns == known else {
      let missing = known.filter { !columns.contains($0) }
      throw scanner.failure(
        "the columns of \(name) are not those of the package \(package.id)", [name] + missing)
    }
    guard try scanner.nextKey() == "rows" else { throw scanner.failure("a set has rows") }
    try scanner.enterArray()
    self.entity = entity
    types = entity.attributes.map(\.type)
    isNullable = entity.attributes.map(\.isNullable)
    hashHead = entity.name + "\0"
  }

  /// Says of which attribute a row could not be read.
  func failure(_ error: JSONError, at position: Int) -> JSONError {
    let attributes = entity.attributes
    let subject =
      [entity.name] + (attributes.indices.contains(position) ? [attributes[position].name] : [])
    return error.of(subject)
  }

  func enterLeft(_ scanner: inout JSONScanner) throws(JSONError) {
    guard try scanner.nextKey() == "left" else { throw scanner.failure("a set has a list left") }
    try scanner.enterArray()
  }
}

extension JSONError {
  /// The same, of an entity and its attribute.
  func of(_ subject: [String]) -> JSONError {
    JSONError(
      offset: offset, problem: "\(subject.joined(separator: ".")): \(problem)", subject: subject)
  }
}

/// Puts a page together from rows that are encoded already.
public struct RowsPageWriter {
  private struct Set {
    let entity: Entity
    /// Encoded, with commas between.
    var rows: [UInt8] = []
    var left: [ObjectKey] = []
  }

  private var sets: [Set] = []
  private var positions: [String: Int] = [:]
  /// Bytes of rows and keys so far, about.
  public private(set) var byteCount: Int = 0
  public private(set) var rowCount: Int = 0

  public init() {}

  /// Adds a row that is in the partition, already encoded.
  public mutating func row(_ entity: Entity, body: some Collection<UInt8>) {
    let position = position(of: entity)
    if !sets[position].rows.isEmpty { sets[position].rows.append(UInt8(ascii: ",")) }
    sets[position].rows.append(contentsOf: body)
    byteCount += body.count + 1
    rowCount += 1
  }

  /// Adds a key that left the partition.
  public mutating func left(_ entity: Entity, key: ObjectKey) {
    sets[position(of: entity)].left.append(key)
    byteCount += key.text.utf8.count + 3
    rowCount += 1
  }

  /// The content of the frame.
  public func json(partition: Int64, from: Cursor, to: Cursor, at: Int64) -> [UInt8] {
    var writer = JSONWriter(reserving: byteCount + 512)
    writer.beginObject()
    writer.field("partition", partition)
    writer.key("from")
    writer.cursor(from)
    writer.key("to")
    writer.cursor(to)
    writer.field("at", at)
    writer.field("count", rowCount)
    writer.key("sets")
    writer.array(sets) { writer, set in
      writer.beginObject()
      writer.field("entity", set.entity.name)
      writer.key("columns")
      writer.array(set.entity.attributes) { $0.string($1.name) }
      writer.key("rows")
      writer.beginArray()
      if !set.rows.isEmpty { writer.raw(set.rows) }
      writer.endArray()
      writer.key("left")
      writer.array(set.left) { $0.raw("[\($1.text)]".utf8) }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  private mutating func position(of entity: Entity) -> Int {
    if let last = sets.last, last.entity.name == entity.name { return sets.count - 1 }
    if let known = positions[entity.name] { return known }
    sets.append(Set(entity: entity))
    positions[entity.name] = sets.count - 1
    return sets.count - 1
  }
}

/// The number by which a row counts in its partition's sum: the first 8 bytes, big endian, of
/// SHA-256 over entity, a zero byte, key, a zero byte, body.
public enum RowHash {
  /// The number that a row adds to the sum of its partition.
  public static func of(entity: String, key: ObjectKey, body: some Collection<UInt8>) -> Int64 {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entity.utf8.count + key.text.utf8.count + body.count + 2)
    bytes.append(contentsOf: entity.utf8)
    bytes.append(0)
    bytes.append(contentsOf: key.text.utf8)
    bytes.append(0)
    bytes.append(contentsOf: body)
    var number: UInt64 = 0
    for byte in SHA256Digest.hash(bytes).prefix(8) { number = number << 8 | UInt64(byte) }
    return Int64(bitPattern: number)
  }
}
