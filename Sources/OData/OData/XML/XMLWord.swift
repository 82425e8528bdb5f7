/// The names that payloads are made of, so that they are told apart by a number.
enum XMLWord: UInt8, BitwiseCopyable {
  case other
  // Of Atom.
  case feed, entry, id, title, summary, updated, published, rights, author, link, content, category
  // Of the metadata namespace.
  case properties, inline, count, action, function, annotation, error, deletedEntry, changedLink
  case deletedLink, null, type, etag, context
  // Without a namespace.
  case plainType, source, href, relation, plainTitle, term, scheme
  // `xml:base`.
  case base

  init(space: XMLSpace, local: String) {
    self =
      switch space {
      case .atom: Self.atom[local] ?? .other
      case .metadata: Self.metadata[local] ?? .other
      case .none: Self.plain[local] ?? .other
      case .xml where local == "base": .base
      case .tombstone where local == "deleted-entry": .deletedEntry
      default: .other
      }
  }

  private static let atom: [String: XMLWord] = [
    "feed": .feed, "entry": .entry, "id": .id, "title": .title, "summary": .summary,
    "updated": .updated, "published": .published, "rights": .rights, "author": .author,
    "link": .link, "content": .content, "category": .category,
  ]
  private static let metadata: [String: XMLWord] = [
    "properties": .properties, "inline": .inline, "count": .count, "action": .action,
    "function": .function, "annotation": .annotation, "error": .error,
    "deleted-entry": .deletedEntry, "link": .changedLink, "deleted-link": .deletedLink,
    "null": .null, "type": .type, "etag": .etag, "context": .context,
  ]
  private static let plain: [String: XMLWord] = [
    "type": .plainType, "src": .source, "href": .href, "rel": .relation, "title": .plainTitle,
    "term": .term, "scheme": .scheme,
  ]
}
