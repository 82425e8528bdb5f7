/// Rewrites a feed or entry in the other format.
public enum ODataConversion {
  /// Reads a feed or entry of any format and writes it in another.
  ///
  /// The version stays what it was unless another is asked for; going to V4, dates without a zone
  /// become UTC and times of day become durations.
  public static func convert(
    _ bytes: [UInt8], to format: ODataFormat, version: ODataVersion? = nil,
    _ options: ODataReadOptions = ODataReadOptions()
  ) throws(ODataError) -> [UInt8] {
    let reader = ODataFeedReader(options)
    reader.push(bytes)
    reader.finish()
    var feed = ODataFeed()
    while let item = try reader.next() { feed.items.append(item) }
    feed.head = reader.head
    let isV4 = isV4(bytes, reader)
    let target = version ?? options.version ?? options.metadata?.version ?? (isV4 ? .v4 : .v2)
    if target >= .v4 { feed.items = feed.items.map { modern($0) } }
    // Collections came with V3, whatever the document calls itself.
    let composer = ODataComposer(format, version: target, metadata: options.metadata)
    if reader.isFeed == true { return try composer.body(feed) }
    guard let entry = feed.entries.first else {
      throw ODataError(
        .unexpectedDocument, "the document is neither a feed nor an entry",
        at: ODataPlace(line: 1, column: 1))
    }
    return try composer.body(entry, .archive)
  }

  private static func isV4(_ bytes: [UInt8], _ reader: ODataFeedReader) -> Bool {
    guard let shape = reader.shape else { return false }
    if shape.format == .json { return !shape.isVerbose }
    return String(decoding: bytes.prefix(4_096), as: UTF8.self).contains(
      "docs.oasis-open.org/odata")
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
