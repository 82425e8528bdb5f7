import FerryOData

/// Counts what entries of JSON hold.
struct EntryTally {
  private(set) var entries = 0
  private(set) var allEntries = 0
  private(set) var inlineFeeds = 0
  private(set) var properties = 0
  private(set) var nulls = 0
  private(set) var media = 0
  private(set) var deleted = 0
  private(set) var etags = 0
  private(set) var first: ODataEntry?

  private var others = 0

  /// Whether something was counted that only a feed holds.
  var isFeed: Bool { others > 0 || (entries > 0 && !Self.isServiceItem(first)) }

  /// Items of a service document look like entries with a name and an address.
  static func isServiceItem(_ entry: ODataEntry?) -> Bool {
    guard let entry else { return false }
    return entry["url"]?.string != nil
      && Set(entry.properties.names).isSubset(of: ["name", "url", "kind", "title"])
  }

  mutating func add(_ item: ODataItem) {
    if case .entry = item {} else { others += 1 }
    switch item {
    case .entry(let entry):
      entries += 1
      if first == nil {
        var kept = entry
        kept.links = []
        first = kept
      }
      add(entry)
    case .deleted: deleted += 1
    case .value(let value): add(value)
    case .link: break
    }
  }

  private mutating func add(_ entry: ODataEntry) {
    allEntries += 1
    if entry.etag != nil { etags += 1 }
    if entry.media != nil { media += 1 }
    properties += entry.properties.count
    for property in entry.properties { add(property.value) }
    for link in entry.links {
      guard let inline = link.inline else { continue }
      if case .feed(let feed) = inline {
        inlineFeeds += 1
        deleted += feed.deletedEntries.count
      }
      for inner in inline.entries { add(inner) }
    }
  }

  private mutating func add(_ value: EdmValue) {
    switch value {
    case .null: nulls += 1
    case .complex(let complex): for property in complex.properties { add(property.value) }
    case .collection(let values): for value in values { add(value) }
    default: break
    }
  }
}
