import FerryOData

/// Writes an entry as bytes that take little more room than its values.
struct EntryWriter {
  /// Entries in entries, values in values.
  static let depthLimit = 100

  private(set) var writer = CacheWriter()
  private var table: NameTable

  init(_ table: NameTable) { self.table = table }

  var names: NameTable { table }

  /// The bytes since the last time; the names stay.
  mutating func take() -> [UInt8] {
    defer { writer.bytes.removeAll(keepingCapacity: true) }
    return writer.bytes
  }

  mutating func write(_ entry: ODataEntry, depth: Int = 0) throws(ODataCacheError) {
    guard depth < EntryWriter.depthLimit else {
      throw ODataCacheError(
        .tooDeep, "entries are nested more than \(EntryWriter.depthLimit) levels deep")
    }
    writer.text(entry.id ?? "")
    let texts = [
      entry.etag, entry.title, entry.summary, entry.author, entry.updated, entry.published,
      entry.rights,
    ]
    var flags: UInt64 = 0
    for (index, text) in texts.enumerated() where text != nil { flags |= 1 << UInt64(index) }
    if entry.isReference { flags |= 1 << 7 }
    if entry.id != nil { flags |= 1 << 8 }
    if entry.type != nil { flags |= 1 << 9 }
    if entry.context != nil { flags |= 1 << 10 }
    if entry.media != nil { flags |= 1 << 11 }
    if !entry.operations.isEmpty { flags |= 1 << 12 }
    if !entry.annotations.isEmpty { flags |= 1 << 13 }
    if !entry.links.isEmpty { flags |= 1 << 14 }
    writer.number(flags)
    for text in texts { if let text { writer.text(text) } }
    if let type = entry.type { name(type) }
    if let context = entry.context { name(context) }
    if let media = entry.media { write(media) }
    if !entry.operations.isEmpty {
      writer.number(entry.operations.count)
      for operation in entry.operations { write(operation) }
    }
    if !entry.annotations.isEmpty { try write(entry.annotations, depth) }
    if !entry.links.isEmpty { try write(entry.links, depth) }
    try write(entry.properties, depth)
  }

  private mutating func name(_ name: String) { writer.number(table.number(name)) }

  private mutating func optional(_ text: String?) {
    writer.bytes.append(text == nil ? 0 : 1)
    if let text { writer.text(text) }
  }

  private mutating func optionalName(_ text: String?) {
    writer.number(text.map { table.number($0) + 1 } ?? 0)
  }

  private mutating func write(_ media: ODataMedia) {
    optionalName(media.contentType)
    optional(media.source)
    optional(media.editLink)
    optional(media.etag)
  }

  private mutating func write(_ operation: ODataOperation) {
    writer.bytes.append(operation.isFunction ? 1 : 0)
    name(operation.metadata)
    optionalName(operation.title)
    optional(operation.target)
  }

  private mutating func write(
    _ annotations: [String: EdmValue], _ depth: Int
  ) throws(ODataCacheError) {
    writer.number(annotations.count)
    for (term, value) in annotations {
      name(term)
      try write(value, depth + 1)
    }
  }

  private mutating func write(_ links: [ODataLink], _ depth: Int) throws(ODataCacheError) {
    writer.number(links.count)
    for link in links {
      name(link.relation)
      writer.text(link.href)
      optionalName(link.type)
      optionalName(link.title)
      write(link.role)
      var flags: UInt8 = 0
      if link.etag != nil { flags |= 1 }
      if link.method != nil { flags |= 2 }
      if link.inline != nil { flags |= 4 }
      if !link.attributes.isEmpty { flags |= 8 }
      writer.bytes.append(flags)
      if let etag = link.etag { writer.text(etag) }
      if let method = link.method { name(method) }
      if let inline = link.inline { try write(inline, depth) }
      if !link.attributes.isEmpty {
        writer.number(link.attributes.count)
        for (key, value) in link.attributes {
          name(key)
          name(value)
        }
      }
    }
  }

  private mutating func write(_ role: ODataLink.Role) {
    switch role {
    case .edit: writer.bytes.append(0)
    case .`self`: writer.bytes.append(1)
    case .next: writer.bytes.append(2)
    case .delta: writer.bytes.append(3)
    case .editMedia: writer.bytes.append(4)
    case .action: writer.bytes.append(5)
    case .callableEntities: writer.bytes.append(6)
    case .subscriptions: writer.bytes.append(7)
    case .search: writer.bytes.append(8)
    case .other: writer.bytes.append(9)
    case .related(let property): named(10, property)
    case .association(let property): named(11, property)
    case .stream(let property): named(12, property)
    case .editStream(let property): named(13, property)
    }
  }

  private mutating func named(_ tag: UInt8, _ property: String) {
    writer.bytes.append(tag)
    name(property)
  }

  private mutating func write(_ inline: ODataInline, _ depth: Int) throws(ODataCacheError) {
    switch inline {
    case .entry(nil): writer.bytes.append(0)
    case .entry(let entry?):
      writer.bytes.append(1)
      try write(entry, depth: depth + 1)
    case .feed(let feed):
      writer.bytes.append(2)
      try write(feed, depth)
    }
  }

  private mutating func write(_ feed: ODataFeed, _ depth: Int) throws(ODataCacheError) {
    let head = feed.head
    for text in [
      head.id, head.title, head.updated, head.author, head.count, head.next, head.delta,
      head.context,
    ] { optional(text) }
    try write(head.links, depth)
    try write(head.annotations, depth)
    writer.number(feed.items.count)
    for item in feed.items {
      switch item {
      case .entry(let entry):
        writer.bytes.append(0)
        try write(entry, depth: depth + 1)
      case .deleted(let entry):
        writer.bytes.append(1)
        writer.text(entry.id)
        optional(entry.when)
        optional(entry.reason)
        try write(entry.properties, depth)
      case .link(let link):
        writer.bytes.append(link.isDeleted ? 3 : 2)
        writer.text(link.source)
        name(link.relationship)
        writer.text(link.target)
      case .value(let value):
        writer.bytes.append(4)
        try write(value, depth + 1)
      }
    }
  }

  private mutating func write(
    _ properties: ODataProperties, _ depth: Int
  ) throws(ODataCacheError) {
    writer.number(properties.count)
    for property in properties {
      name(property.name)
      optionalName(property.type?.description)
      let hasAnnotations = !property.annotations.isEmpty
      try write(property.value, depth + 1, marked: hasAnnotations)
      if hasAnnotations { try write(property.annotations, depth) }
    }
  }

  /// The tag of the value has its highest bit set where annotations follow.
  private mutating func write(
    _ value: EdmValue, _ depth: Int, marked: Bool = false
  ) throws(ODataCacheError) {
    guard depth < EntryWriter.depthLimit else {
      throw ODataCacheError(
        .tooDeep, "values are nested more than \(EntryWriter.depthLimit) levels deep")
    }
    let mark: UInt8 = marked ? 0x80 : 0
    func tag(_ tag: ValueTag) { writer.bytes.append(tag.rawValue | mark) }
    switch value {
    case .null: tag(.null)
    case .boolean(let value): tag(value ? .yes : .no)
    case .byte(let value):
      tag(.byte)
      writer.bytes.append(value)
    case .sbyte(let value):
      tag(.sbyte)
      writer.signed(Int64(value))
    case .int16(let value):
      tag(.int16)
      writer.signed(Int64(value))
    case .int32(let value):
      tag(.int32)
      writer.signed(Int64(value))
    case .int64(let value):
      tag(.int64)
      writer.signed(value)
    case .single(let value):
      tag(.single)
      writer.number(UInt64(value.bitPattern))
    case .double(let value):
      tag(.double)
      writer.fixed(value.bitPattern)
    case .decimal(let value):
      tag(.decimal)
      writer.text(value.text)
    case .string(let value):
      tag(.string)
      writer.text(value)
    case .binary(let value):
      tag(.binary)
      writer.piece(value)
    case .guid(let value):
      tag(.guid)
      writer.fixed(value.high)
      writer.fixed(value.low)
    case .dateTime(let value):
      tag(.dateTime)
      write(value.date)
      write(value.time)
    case .dateTimeOffset(let value):
      tag(.dateTimeOffset)
      write(value.local.date)
      write(value.local.time)
      writer.signed(Int64(value.offsetMinutes))
    case .time(let value):
      tag(.time)
      write(value)
    case .duration(let value):
      tag(.duration)
      write(value)
    case .date(let value):
      tag(.date)
      write(value)
    case .timeOfDay(let value):
      tag(.timeOfDay)
      write(value)
    case .enumeration(let members, let type):
      tag(.enumeration)
      writer.text(members)
      name(type)
    case .spatial(let value):
      tag(.spatial)
      writer.bytes.append(value.isGeometry ? 1 : 0)
      writer.signed(Int64(value.srid ?? -1))
      try write(value.shape, depth)
    case .complex(let value):
      tag(.complex)
      optionalName(value.type)
      try write(value.links, depth)
      try write(value.properties, depth)
    case .collection(let values):
      tag(.collection)
      writer.number(values.count)
      for value in values { try write(value, depth + 1) }
    case .invalid(let text, let type):
      tag(.invalid)
      writer.text(text)
      name(type.rawValue)
    }
  }

  private mutating func write(_ date: EdmDate) {
    writer.signed(Int64(date.year))
    writer.bytes += [date.month, date.day]
  }

  private mutating func write(_ time: EdmTimeOfDay) {
    writer.bytes += [time.hour, time.minute, time.second]
    writer.number(time.picoseconds)
  }

  private mutating func write(_ duration: EdmDuration) {
    writer.bytes.append(duration.isNegative ? 1 : 0)
    writer.number(duration.seconds)
    writer.number(duration.picoseconds)
  }

  private mutating func write(
    _ shape: EdmSpatial.Shape, _ depth: Int
  ) throws(ODataCacheError) {
    guard depth < EntryWriter.depthLimit else {
      throw ODataCacheError(
        .tooDeep, "shapes are nested more than \(EntryWriter.depthLimit) levels deep")
    }
    switch shape {
    case .point(let position):
      writer.bytes.append(0)
      write(position)
    case .lineString(let line): write(1, line)
    case .polygon(let rings): write(2, rings)
    case .multiPoint(let points): write(3, points)
    case .multiLineString(let lines): write(4, lines)
    case .multiPolygon(let polygons):
      writer.bytes.append(5)
      writer.number(polygons.count)
      for polygon in polygons { write(2, polygon) }
    case .collection(let shapes):
      writer.bytes.append(6)
      writer.number(shapes.count)
      for shape in shapes { try write(shape, depth + 1) }
    }
  }

  private mutating func write(_ position: EdmSpatial.Position) {
    writer.number(position.count)
    for number in position { writer.fixed(number.bitPattern) }
  }

  private mutating func write(_ tag: UInt8, _ line: [EdmSpatial.Position]) {
    writer.bytes.append(tag)
    writer.number(line.count)
    for position in line { write(position) }
  }

  private mutating func write(_ tag: UInt8, _ lines: [[EdmSpatial.Position]]) {
    writer.bytes.append(tag)
    writer.number(lines.count)
    for line in lines { write(1, line) }
  }
}

/// What follows in the bytes of an entry.
enum ValueTag: UInt8 {
  case null, yes, no, byte, sbyte, int16, int32, int64, single, double, decimal, string, binary
  case guid, dateTime, dateTimeOffset, time, duration, date, timeOfDay, enumeration, spatial
  case complex, collection, invalid
}
