import FerryOData

/// Rewrites a feed or entry in the other format, by pieces: memory is that of the largest entry.
///
/// The version stays what it was unless another is asked for; going to V4, dates without a zone
/// become UTC and times of day become durations. Relative links become absolute where the document
/// says beside what they stand.
package final class ODataConversion {
  private let format: ODataFormat
  private let version: ODataVersion?
  private let options: ODataReadOptions
  private let reader: ODataFeedReader
  private var early: [UInt8] = []
  private var target = ODataVersion.v2
  private var writer: ODataFeedWriter?
  private var single: ODataItem?

  package init(
    to format: ODataFormat, version: ODataVersion? = nil,
    _ options: ODataReadOptions = ODataReadOptions()
  ) {
    self.format = format
    self.version = version
    self.options = options
    reader = ODataFeedReader(options)
  }

  /// Reads and writes a document that is there as a whole.
  package static func convert(
    _ bytes: [UInt8], to format: ODataFormat, version: ODataVersion? = nil,
    _ options: ODataReadOptions = ODataReadOptions()
  ) throws(ODataError) -> [UInt8] {
    let conversion = ODataConversion(to: format, version: version, options)
    return try conversion.push(bytes) + conversion.finish()
  }

  /// Takes the next bytes; gives what can be written by now.
  package func push(_ bytes: [UInt8]) throws(ODataError) -> [UInt8] {
    if early.count < 4_096 { early += bytes.prefix(max(0, 4_096 - early.count)) }
    reader.push(bytes)
    try drain()
    return writer?.take() ?? []
  }

  /// Says that the document is over; gives the rest.
  package func finish() throws(ODataError) -> [UInt8] {
    reader.finish()
    try drain()
    if reader.isFeed == true {
      try begin()
      try writer?.end(reader.head)
      return writer?.take() ?? []
    }
    guard case .entry(let entry)? = single else {
      throw ODataError(
        .unexpectedDocument, "the document is neither a feed nor an entry",
        at: ODataPlace(line: 1, column: 1))
    }
    return try composer.body(entry, .archive)
  }

  private func drain() throws(ODataError) {
    while let item = try reader.next() {
      if writer == nil, single == nil { decide() }
      let item = target >= .v4 ? Self.modern(item) : item
      if reader.isFeed == true {
        try begin()
        try writer?.add(item)
      } else if single == nil {
        single = item
      }
    }
  }

  private func begin() throws(ODataError) {
    guard writer == nil else { return }
    decide()
    var made = ODataFeedWriter(composer)
    try made.begin(reader.head)
    writer = made
  }

  // Collections came with V3, whatever the document calls itself.
  private var composer: ODataComposer {
    ODataComposer(format, version: target, metadata: options.metadata)
  }

  private func decide() {
    target = version ?? options.version ?? options.metadata?.version ?? (isV4 ? .v4 : .v2)
  }

  private var isV4: Bool {
    guard let shape = reader.shape else { return false }
    if shape.format == .json { return !shape.isVerbose }
    return String(decoding: early, as: UTF8.self).contains("docs.oasis-open.org/odata")
  }

  private static func modern(_ item: ODataItem) -> ODataItem {
    switch item {
    case .entry(let entry): .entry(modern(entry))
    case .value(let value): .value(modern(value))
    default: item
    }
  }

  private static func modern(_ entry: ODataEntry) -> ODataEntry {
    var entry = entry
    entry.properties = modern(entry.properties)
    for index in entry.links.indices {
      switch entry.links[index].inline {
      case .entry(let inner?): entry.links[index].inline = .entry(modern(inner))
      case .feed(var feed):
        feed.items = feed.items.map { modern($0) }
        entry.links[index].inline = .feed(feed)
      default: break
      }
    }
    return entry
  }

  private static func modern(_ properties: ODataProperties) -> ODataProperties {
    ODataProperties(
      properties.map { property in
        var property = property
        property.value = modern(property.value)
        switch property.type?.primitive {
        case .dateTime: property.type?.name = EdmPrimitive.dateTimeOffset.rawValue
        case .time: property.type?.name = EdmPrimitive.duration.rawValue
        default: break
        }
        return property
      })
  }

  private static func modern(_ value: EdmValue) -> EdmValue {
    switch value {
    case .dateTime(let local): EdmDateTimeOffset(local).map { .dateTimeOffset($0) } ?? value
    case .time(let duration): .duration(duration)
    case .complex(var complex):
      {
        complex.properties = modern(complex.properties)
        return .complex(complex)
      }()
    case .collection(let values): .collection(values.map { modern($0) })
    default: value
    }
  }
}
