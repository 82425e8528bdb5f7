import FerryJSON

extension JSONEntryReader {
  struct Inline {
    var content: ODataInline?
    var href: String?
  }

  /// What a member brings inline; nil when it is a property.
  func navigation(
    _ node: Int, _ name: String, _ member: ODataTypeIndex.Member?, _ link: ODataLink?,
    _ notes: [String: EdmValue]?
  ) throws(ODataError) -> Inline? {
    let kind = record.kind(node)
    var type: String?
    var isNavigation = false
    switch member {
    case .navigation(let property):
      isNavigation = true
      type = property.type?.name
    case .property: return nil
    case nil: break
    }
    guard kind == .object || kind == .array || kind == .null else { return nil }
    if isVerbose {
      if kind == .object, let deferred = try record.member(node, "__deferred") {
        return Inline(content: nil, href: try record.text(deferred, "uri").map { absolute($0) })
      }
      if kind == .object, let results = try record.member(node, "results"),
        record.kind(results) == .array
      {
        if !isNavigation {
          // Collections of values look the same; entries tell themselves apart.
          guard let first = record.children(results).first(where: { _ in true }) else { return nil }
          guard record.kind(first) == .object, try isEntry(first) else { return nil }
        }
        guard readsInline else { return Inline() }
        var feed = try self.feed(results, type: type)
        feed.head.count = try record.text(node, "__count")
        if let next = try record.member(node, "__next") { feed.head.next = try target(next) }
        return Inline(content: .feed(feed))
      }
      if !isNavigation {
        if kind == .object {
          guard try isEntry(node) else { return nil }
        } else if kind == .array {
          guard let first = record.children(node).first(where: { _ in true }),
            record.kind(first) == .object, try isEntry(first)
          else { return nil }
        } else {
          return nil
        }
      }
    } else if !isNavigation {
      if notes?["odata.context"] != nil || notes?["odata.nextLink"] != nil
        || notes?["odata.count"] != nil
      {
        isNavigation = kind == .array || notes?["odata.context"] != nil
      }
      if !isNavigation, link != nil || selection?.members[name]?.isExpanded == true {
        isNavigation = true
      }
      if !isNavigation {
        let probe: Int? =
          kind == .array ? record.children(node).first(where: { _ in true }) : node
        guard let probe, record.kind(probe) == .object, try isEntry(probe) else { return nil }
      }
    }
    guard readsInline else { return Inline() }
    let reader = inside(name).under(notes?["odata.context"]?.string)
    switch kind {
    case .null: return Inline(content: .entry(nil))
    case .object: return Inline(content: .entry(try reader.entry(node, type: type)))
    default:
      var feed = try reader.feed(node, type: type)
      if case .string(let text)? = notes?["odata.nextLink"] { feed.head.next = text }
      if let count = notes?["odata.count"] { feed.head.count = count.text }
      return Inline(content: .feed(feed))
    }
  }

  /// Whether an object shows the marks of an entity.
  func isEntry(_ node: Int) throws(ODataError) -> Bool {
    for child in record.children(node) {
      switch try record.key(child) {
      case "__metadata":
        if !isVerbose { return false }
        // A complex value names its type and nothing else.
        guard record.kind(child) == .object else { return false }
        for mark in record.children(child) where try record.key(mark) != "type" { return true }
        return false
      case "@odata.id", "@odata.etag", "@odata.editLink", "@odata.readLink", "odata.id",
        "odata.editLink", "odata.etag", "@id", "@etag":
        return true
      default: break
      }
    }
    return false
  }

  func feed(_ array: Int, type: String?) throws(ODataError) -> ODataFeed {
    var feed = ODataFeed()
    for child in record.children(array) { feed.items.append(try item(child, type: type)) }
    return feed
  }
}
