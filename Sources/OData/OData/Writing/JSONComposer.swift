import FerryJSON

/// Writes entries and feeds as JSON: verbose for V2 and V3, the JSON format of V4.
struct JSONComposer {
  let composer: ODataComposer
  let operation: ODataEntryOperation
  var isV4: Bool { composer.version >= .v4 }
  var isWhole: Bool { operation == .archive }

  init(_ composer: ODataComposer, _ operation: ODataEntryOperation) {
    self.composer = composer
    self.operation = operation
  }

  func document(_ entry: ODataEntry) throws(ODataError) -> [UInt8] {
    var writer = JSONWriter(reserving: 1_024)
    // Answers of V2 and V3 are wrapped in `d`; requests are not.
    if !isV4, isWhole {
      writer.beginObject()
      writer.key("d")
      try write(entry, isRoot: true, to: &writer)
      writer.endObject()
    } else {
      try write(entry, isRoot: true, to: &writer)
    }
    return writer.bytes
  }

  func document(_ feed: ODataFeed) throws(ODataError) -> [UInt8] {
    var writer = JSONWriter(reserving: 4_096)
    try begin(feed.head, to: &writer)
    for item in feed.items { try write(item, to: &writer) }
    try end(feed.head, begunWith: feed.head, to: &writer)
    return writer.bytes
  }

  /// The start of a feed up to its entries, with what is known of it.
  func begin(_ head: ODataFeedHead, to writer: inout JSONWriter) throws(ODataError) {
    writer.beginObject()
    if isV4 {
      if let context = head.context { writer.field("@odata.context", context) }
      if let count = head.count { number(count, "@odata.count", to: &writer) }
      try annotations(head.annotations, to: &writer)
      writer.key("value")
    } else {
      writer.key("d")
      writer.beginObject()
      writer.key("results")
    }
    writer.beginArray()
  }

  private func annotations(
    _ annotations: [String: EdmValue], to writer: inout JSONWriter
  ) throws(ODataError) {
    for (term, value) in annotations.sorted(by: { $0.key < $1.key }) {
      writer.key("@" + term)
      try write(value, declared: nil, to: &writer)
    }
  }

  /// The end of a feed, with what was not known when it began.
  func end(
    _ head: ODataFeedHead, begunWith begun: ODataFeedHead, to writer: inout JSONWriter
  ) throws(ODataError) {
    writer.endArray()
    if isV4 {
      if begun.context == nil, let context = head.context {
        writer.field("@odata.context", context)
      }
      if begun.count == nil, let count = head.count { number(count, "@odata.count", to: &writer) }
      try annotations(
        head.annotations.filter { begun.annotations[$0.key] == nil }, to: &writer)
      if let next = head.next { writer.field("@odata.nextLink", next) }
      if let delta = head.delta { writer.field("@odata.deltaLink", delta) }
    } else {
      if let count = head.count { writer.field("__count", count) }
      if let next = head.next { writer.field("__next", next) }
      if let delta = head.delta { writer.field("__delta", delta) }
      writer.endObject()
    }
    writer.endObject()
  }

  static func link(_ uri: String, _ version: ODataVersion) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field(version >= .v4 ? "@odata.id" : "uri", uri)
    writer.endObject()
    return writer.bytes
  }

  func parameters(_ parameters: ODataProperties) throws(ODataError) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for property in parameters { try write(property, isDeclared: true, to: &writer) }
    writer.endObject()
    return writer.bytes
  }

  func number(_ text: String, _ name: String, to writer: inout JSONWriter) {
    writer.key(name)
    if Int64(text) != nil { writer.raw(text.utf8) } else { writer.string(text) }
  }

  func array(_ feed: ODataFeed, to writer: inout JSONWriter) throws(ODataError) {
    writer.beginArray()
    for item in feed.items { try write(item, to: &writer) }
    writer.endArray()
  }

  func write(_ item: ODataItem, to writer: inout JSONWriter) throws(ODataError) {
    switch item {
    case .entry(let entry): try write(entry, isRoot: false, to: &writer)
    case .value(let value): try write(value, declared: nil, to: &writer)
    case .deleted(let entry): try write(entry, to: &writer)
    case .link(let link):
      guard isV4 else { throw ODataError(.unwritable, "only V4 has changed links") }
      writer.beginObject()
      writer.field("@odata.context", "#" + (link.isDeleted ? "$deletedLink" : "$link"))
      writer.field("source", link.source)
      writer.field("relationship", link.relationship)
      writer.field("target", link.target)
      writer.endObject()
    }
  }

  func write(_ entry: ODataDeletedEntry, to writer: inout JSONWriter) throws(ODataError) {
    guard isV4 else {
      throw ODataError(.unwritable, "JSON of V\(composer.version.rawValue) has no deleted entries")
    }
    writer.beginObject()
    if let context = composer.deletedContext {
      writer.field("@odata.context", context)
      writer.field("id", entry.id)
      if let reason = entry.reason { writer.field("reason", reason) }
      writer.endObject()
      return
    }
    writer.key("@removed")
    writer.beginObject()
    if let reason = entry.reason { writer.field("reason", reason) }
    writer.endObject()
    writer.field("@odata.id", entry.id)
    for property in entry.properties { try write(property, isDeclared: false, to: &writer) }
    writer.endObject()
  }

  func write(
    _ entry: ODataEntry, isRoot: Bool, to writer: inout JSONWriter
  ) throws(ODataError) {
    writer.beginObject()
    let type = entry.type.flatMap { composer.metadata?.structuredType($0) }
    if isV4 {
      try marks(entry, isRoot: isRoot, to: &writer)
    } else {
      metadata(entry, to: &writer)
    }
    for property in entry.properties {
      let isDeclared = type.flatMap { composer.metadata?.property(property.name, of: $0) } != nil
      try write(property, isDeclared: isDeclared && !(isRoot && entry.type == nil), to: &writer)
    }
    var bindings: [String: [String]] = [:]
    for link in entry.links {
      if link.isBinding, let name = link.navigation {
        bindings[name, default: []].append(link.href)
      } else {
        try write(link, to: &writer)
      }
    }
    for (name, targets) in bindings.sorted(by: { $0.key < $1.key }) {
      try bind(
        name, targets, isCollection: isCollection(name, type) ?? (targets.count > 1), to: &writer)
    }
    writer.endObject()
  }

  func isCollection(_ navigation: String, _ type: EdmStructuredType?) -> Bool? {
    guard let type else { return nil }
    return composer.metadata?.navigationProperty(navigation, of: type)?.type?.isCollection
  }

  func bind(
    _ name: String, _ targets: [String], isCollection: Bool, to writer: inout JSONWriter
  ) throws(ODataError) {
    func reference(_ uri: String, _ writer: inout JSONWriter) {
      writer.beginObject()
      writer.key("__metadata")
      writer.beginObject()
      writer.field("uri", uri)
      writer.endObject()
      writer.endObject()
    }
    writer.key(isV4 ? name + "@odata.bind" : name)
    if isCollection {
      let isOld = !isV4
      writer.array(targets) { writer, uri in
        if isOld { reference(uri, &writer) } else { writer.string(uri) }
      }
    } else if let uri = targets.first {
      if isV4 { writer.string(uri) } else { reference(uri, &writer) }
    }
  }

  /// `__metadata` of V2 and V3.
  func metadata(_ entry: ODataEntry, to writer: inout JSONWriter) {
    let uri = entry.editLink ?? entry.id
    var fields: [(String, String)] = []
    if isWhole {
      if let id = entry.id, id != uri { fields.append(("id", id)) }
      if let uri { fields.append(("uri", uri)) }
    }
    if let type = entry.type { fields.append(("type", type)) }
    if isWhole {
      if let etag = entry.etag { fields.append(("etag", etag)) }
      if let media = entry.media {
        if let source = media.source { fields.append(("media_src", source)) }
        if let type = media.contentType { fields.append(("content_type", type)) }
        if let link = media.editLink { fields.append(("edit_media", link)) }
        if let etag = media.etag { fields.append(("media_etag", etag)) }
      }
    }
    guard !fields.isEmpty else { return }
    writer.key("__metadata")
    writer.beginObject()
    for (name, value) in fields { writer.field(name, value) }
    let associations = entry.links.filter {
      if case .association = $0.role { isWhole } else { false }
    }
    if !associations.isEmpty {
      writer.key("properties")
      writer.beginObject()
      for link in associations {
        guard case .association(let name) = link.role else { continue }
        writer.key(name)
        writer.beginObject()
        writer.field("associationuri", link.href)
        writer.endObject()
      }
      writer.endObject()
    }
    writer.endObject()
  }

  /// The controls of V4.
  func marks(
    _ entry: ODataEntry, isRoot: Bool, to writer: inout JSONWriter
  ) throws(ODataError) {
    if isRoot, isWhole, let context = entry.context { writer.field("@odata.context", context) }
    if let type = entry.type, !composer.unmarkedTypes.contains(type) {
      writer.field("@odata.type", "#" + type)
    }
    if !isWhole, let id = entry.id, !isRoot, operation != .create { writer.field("@odata.id", id) }
    guard isWhole else { return }
    if let id = entry.id { writer.field("@odata.id", id) }
    if let etag = entry.etag { writer.field("@odata.etag", etag) }
    if let link = entry.editLink { writer.field("@odata.editLink", link) }
    if let link = entry.selfLink { writer.field("@odata.readLink", link) }
    if let media = entry.media {
      if let source = media.source { writer.field("@odata.mediaReadLink", source) }
      if let link = media.editLink { writer.field("@odata.mediaEditLink", link) }
      if let type = media.contentType { writer.field("@odata.mediaContentType", type) }
      if let etag = media.etag { writer.field("@odata.mediaEtag", etag) }
    }
    for (term, value) in entry.annotations.sorted(by: { $0.key < $1.key }) {
      writer.key("@" + term)
      try write(value, declared: nil, to: &writer)
    }
    for operation in entry.operations {
      let name = operation.metadata.hasPrefix("#") ? operation.metadata : "#" + operation.metadata
      writer.key(name)
      writer.beginObject()
      if let title = operation.title { writer.field("title", title) }
      if let target = operation.target { writer.field("target", target) }
      writer.endObject()
    }
  }

  func write(_ link: ODataLink, to writer: inout JSONWriter) throws(ODataError) {
    let name: String
    switch link.role {
    case .related(let navigation): name = navigation
    case .association(let navigation) where isV4 && isWhole:
      writer.field(navigation + "@odata.associationLink", link.href)
      return
    case .stream(let property) where isV4 && isWhole:
      writer.field(property + "@odata.mediaReadLink", link.href)
      return
    case .editStream(let property) where isV4 && isWhole:
      writer.field(property + "@odata.mediaEditLink", link.href)
      return
    default: return
    }
    guard composer.writesInline, let inline = link.inline else {
      guard isWhole else { return }
      if isV4 {
        writer.field(name + "@odata.navigationLink", link.href)
      } else {
        writer.key(name)
        writer.beginObject()
        writer.key("__deferred")
        writer.beginObject()
        writer.field("uri", link.href)
        writer.endObject()
        writer.endObject()
      }
      return
    }
    if isV4, isWhole, !link.href.isEmpty {
      writer.field(name + "@odata.navigationLink", link.href)
    }
    switch inline {
    case .entry(nil):
      writer.key(name)
      writer.null()
    case .entry(let entry?):
      writer.key(name)
      try write(entry, isRoot: false, to: &writer)
    case .feed(let feed): try write(feed, name, to: &writer)
    }
  }

  func write(
    _ feed: ODataFeed, _ name: String, to writer: inout JSONWriter
  ) throws(ODataError) {
    if isV4 {
      if isWhole {
        if let count = feed.head.count { number(count, name + "@odata.count", to: &writer) }
        if let next = feed.head.next { writer.field(name + "@odata.nextLink", next) }
        // An empty list tells nothing of itself; the context says that it is one of entities.
        if feed.items.isEmpty, composer.metadata == nil {
          writer.field(name + "@odata.context", "#" + name)
        }
      }
      // A deep update that also removes is a list of changes.
      writer.key(!isWhole && !feed.deletedEntries.isEmpty ? name + "@odata.delta" : name)
      return try array(feed, to: &writer)
    }
    writer.key(name)
    // Requests of V2 hold plain arrays, answers `results`.
    guard isWhole else { return try array(feed, to: &writer) }
    writer.beginObject()
    writer.key("results")
    try array(feed, to: &writer)
    if let count = feed.head.count { writer.field("__count", count) }
    if let next = feed.head.next { writer.field("__next", next) }
    writer.endObject()
  }
}
