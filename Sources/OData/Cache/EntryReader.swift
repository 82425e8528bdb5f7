import FerryOData

/// Reads what `EntryWriter` wrote.
struct EntryReader {
  typealias Damage = CacheReader.Damage

  private var reader: CacheReader
  private let names: [String]

  init(_ bytes: UnsafeBufferPointer<UInt8>, names: [String]) {
    reader = CacheReader(bytes)
    self.names = names
  }

  /// The entry that the bytes hold, and nothing behind it.
  mutating func whole() throws(Damage) -> ODataEntry {
    let entry = try entry(0)
    guard reader.isAtEnd else { throw Damage() }
    return entry
  }

  private mutating func entry(_ depth: Int) throws(Damage) -> ODataEntry {
    guard depth < EntryWriter.depthLimit else { throw Damage() }
    let id = try reader.text()
    let flags = try reader.number()
    func has(_ bit: UInt64) -> Bool { flags >> bit & 1 == 1 }
    var entry = ODataEntry()
    entry.id = has(8) ? id : nil
    if has(0) { entry.etag = try reader.text() }
    if has(1) { entry.title = try reader.text() }
    if has(2) { entry.summary = try reader.text() }
    if has(3) { entry.author = try reader.text() }
    if has(4) { entry.updated = try reader.text() }
    if has(5) { entry.published = try reader.text() }
    if has(6) { entry.rights = try reader.text() }
    entry.isReference = has(7)
    if has(9) { entry.type = try name() }
    if has(10) { entry.context = try name() }
    if has(11) { entry.media = try media() }
    if has(12) {
      for _ in 0..<(try reader.count()) { entry.operations.append(try operation()) }
    }
    if has(13) { entry.annotations = try annotations(depth) }
    if has(14) { entry.links = try links(depth) }
    entry.properties = try properties(depth)
    return entry
  }

  private func name(_ number: UInt64) throws(Damage) -> String {
    guard number < names.count else { throw Damage() }
    return names[Int(number)]
  }

  private mutating func name() throws(Damage) -> String { try name(try reader.number()) }

  private mutating func optionalName() throws(Damage) -> String? {
    let number = try reader.number()
    return number == 0 ? nil : try name(number - 1)
  }

  private mutating func optional() throws(Damage) -> String? {
    try reader.byte() == 0 ? nil : try reader.text()
  }

  private mutating func media() throws(Damage) -> ODataMedia {
    ODataMedia(
      contentType: try optionalName(), source: try optional(), editLink: try optional(),
      etag: try optional())
  }

  private mutating func operation() throws(Damage) -> ODataOperation {
    ODataOperation(
      isFunction: try reader.byte() == 1, metadata: try name(), title: try optionalName(),
      target: try optional())
  }

  private mutating func annotations(_ depth: Int) throws(Damage) -> [String: EdmValue] {
    var found: [String: EdmValue] = [:]
    for _ in 0..<(try reader.count()) {
      let term = try name()
      found[term] = try value(depth + 1).value
    }
    return found
  }

  private mutating func links(_ depth: Int) throws(Damage) -> [ODataLink] {
    var found: [ODataLink] = []
    for _ in 0..<(try reader.count()) {
      let relation = try name()
      let href = try reader.text()
      let type = try optionalName()
      let title = try optionalName()
      var link = ODataLink(
        relation: relation, href: href, type: type, title: title, role: try role())
      let flags = try reader.byte()
      if flags & 1 != 0 { link.etag = try reader.text() }
      if flags & 2 != 0 { link.method = try name() }
      if flags & 4 != 0 { link.inline = try inline(depth) }
      if flags & 8 != 0 {
        for _ in 0..<(try reader.count()) {
          let key = try name()
          link.attributes[key] = try name()
        }
      }
      found.append(link)
    }
    return found
  }

  private mutating func role() throws(Damage) -> ODataLink.Role {
    switch try reader.byte() {
    case 0: .edit
    case 1: .`self`
    case 2: .next
    case 3: .delta
    case 4: .editMedia
    case 5: .action
    case 6: .callableEntities
    case 7: .subscriptions
    case 8: .search
    case 9: .other
    case 10: .related(try name())
    case 11: .association(try name())
    case 12: .stream(try name())
    case 13: .editStream(try name())
    default: throw Damage()
    }
  }

  private mutating func inline(_ depth: Int) throws(Damage) -> ODataInline {
    switch try reader.byte() {
    case 0: .entry(nil)
    case 1: .entry(try entry(depth + 1))
    case 2: .feed(try feed(depth))
    default: throw Damage()
    }
  }

  private mutating func feed(_ depth: Int) throws(Damage) -> ODataFeed {
    var head = ODataFeedHead()
    head.id = try optional()
    head.title = try optional()
    head.updated = try optional()
    head.author = try optional()
    head.count = try optional()
    head.next = try optional()
    head.delta = try optional()
    head.context = try optional()
    head.links = try links(depth)
    head.annotations = try annotations(depth)
    var feed = ODataFeed([], head: head)
    for _ in 0..<(try reader.count()) {
      switch try reader.byte() {
      case 0: feed.items.append(.entry(try entry(depth + 1)))
      case 1:
        var gone = ODataDeletedEntry(id: try reader.text())
        gone.when = try optional()
        gone.reason = try optional()
        gone.properties = try properties(depth)
        feed.items.append(.deleted(gone))
      case let tag where tag == 2 || tag == 3:
        feed.items.append(
          .link(
            ODataChangedLink(
              isDeleted: tag == 3, source: try reader.text(), relationship: try name(),
              target: try reader.text())))
      case 4: feed.items.append(.value(try value(depth + 1).value))
      default: throw Damage()
      }
    }
    return feed
  }

  private mutating func properties(_ depth: Int) throws(Damage) -> ODataProperties {
    let count = try reader.count()
    var found: [ODataProperty] = []
    found.reserveCapacity(count)
    for _ in 0..<count {
      let name = try name()
      let type = try optionalName()
      let (value, isMarked) = try value(depth + 1)
      found.append(
        ODataProperty(
          name, value, type: type.map { EdmTypeReference(text: $0) },
          annotations: isMarked ? try annotations(depth) : [:]))
    }
    return ODataProperties(found)
  }

  private mutating func value(
    _ depth: Int
  ) throws(Damage) -> (value: EdmValue, isMarked: Bool) {
    guard depth < EntryWriter.depthLimit else { throw Damage() }
    let byte = try reader.byte()
    guard let tag = ValueTag(rawValue: byte & 0x7f) else { throw Damage() }
    return (try value(tag, depth), byte & 0x80 != 0)
  }

  private mutating func value(_ tag: ValueTag, _ depth: Int) throws(Damage) -> EdmValue {
    switch tag {
    case .null: return .null
    case .yes: return .boolean(true)
    case .no: return .boolean(false)
    case .byte: return .byte(try reader.byte())
    case .sbyte: return .sbyte(try reader.narrow(Int8.self))
    case .int16: return .int16(try reader.narrow(Int16.self))
    case .int32: return .int32(try reader.narrow(Int32.self))
    case .int64: return .int64(try reader.signed())
    case .single:
      return .single(Float(bitPattern: UInt32(truncatingIfNeeded: try reader.number())))
    case .double: return .double(Double(bitPattern: try reader.fixed()))
    case .decimal: return .decimal(try made(EdmDecimal(try reader.text())))
    case .string: return .string(try reader.text())
    case .binary: return .binary(try reader.piece())
    case .guid:
      let high = try reader.fixed()
      return .guid(EdmGuid(high: high, low: try reader.fixed()))
    case .dateTime:
      let date = try date()
      return .dateTime(EdmDateTime(date, try timeOfDay()))
    case .dateTimeOffset:
      let date = try date()
      let local = EdmDateTime(date, try timeOfDay())
      return .dateTimeOffset(
        try made(EdmDateTimeOffset(local, offsetMinutes: try reader.narrow(Int16.self))))
    case .time: return .time(try duration())
    case .duration: return .duration(try duration())
    case .date: return .date(try date())
    case .timeOfDay: return .timeOfDay(try timeOfDay())
    case .enumeration:
      let members = try reader.text()
      return .enumeration(members, type: try name())
    case .spatial:
      let isGeometry = try reader.byte() == 1
      let srid = Int(try reader.signed())
      return .spatial(
        EdmSpatial(try shape(depth), isGeometry: isGeometry, srid: srid < 0 ? nil : srid))
    case .complex:
      let type = try optionalName()
      let links = try links(depth)
      var complex = EdmComplex(type: type, try properties(depth))
      complex.links = links
      return .complex(complex)
    case .collection:
      var values: [EdmValue] = []
      for _ in 0..<(try reader.count()) { values.append(try value(depth + 1).value) }
      return .collection(values)
    case .invalid:
      let text = try reader.text()
      return .invalid(text, try made(EdmPrimitive(rawValue: try name())))
    }
  }

  private func made<Value>(_ value: Value?) throws(Damage) -> Value {
    guard let value else { throw Damage() }
    return value
  }

  private mutating func date() throws(Damage) -> EdmDate {
    let year = try reader.narrow(Int32.self)
    let month = try reader.byte()
    return try made(EdmDate(year: year, month: month, day: try reader.byte()))
  }

  private mutating func timeOfDay() throws(Damage) -> EdmTimeOfDay {
    let (hour, minute, second) = (try reader.byte(), try reader.byte(), try reader.byte())
    return try made(
      EdmTimeOfDay(
        hour: hour, minute: minute, second: second, picoseconds: try reader.number()))
  }

  private mutating func duration() throws(Damage) -> EdmDuration {
    let isNegative = try reader.byte() == 1
    let seconds = try reader.number()
    return EdmDuration(
      seconds: seconds, picoseconds: try reader.number(), isNegative: isNegative)
  }

  private mutating func shape(_ depth: Int) throws(Damage) -> EdmSpatial.Shape {
    guard depth < EntryWriter.depthLimit else { throw Damage() }
    switch try reader.byte() {
    case 0: return .point(try position())
    case 1: return .lineString(try line())
    case 2: return .polygon(try lines())
    case 3: return .multiPoint(try line())
    case 4: return .multiLineString(try lines())
    case 5:
      var polygons: [[[EdmSpatial.Position]]] = []
      for _ in 0..<(try reader.count()) {
        guard try reader.byte() == 2 else { throw Damage() }
        polygons.append(try lines())
      }
      return .multiPolygon(polygons)
    case 6:
      var shapes: [EdmSpatial.Shape] = []
      for _ in 0..<(try reader.count()) { shapes.append(try shape(depth + 1)) }
      return .collection(shapes)
    default: throw Damage()
    }
  }

  private mutating func position() throws(Damage) -> EdmSpatial.Position {
    var position: EdmSpatial.Position = []
    for _ in 0..<(try reader.count()) {
      position.append(Double(bitPattern: try reader.fixed()))
    }
    return position
  }

  private mutating func line() throws(Damage) -> [EdmSpatial.Position] {
    var line: [EdmSpatial.Position] = []
    for _ in 0..<(try reader.count()) { line.append(try position()) }
    return line
  }

  private mutating func lines() throws(Damage) -> [[EdmSpatial.Position]] {
    var lines: [[EdmSpatial.Position]] = []
    for _ in 0..<(try reader.count()) {
      guard try reader.byte() == 1 else { throw Damage() }
      lines.append(try line())
    }
    return lines
  }
}
