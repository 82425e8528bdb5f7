import FerryJSON

/// Writes entries and feeds as JSON: verbose for V2 and V3, the JSON format of V4.
struct JSONComposer {
  private let composer: ODataComposer
  private let operation: ODataEntryOperation
  private var isV4: Bool { composer.version >= .v4 }
  private var isWhole: Bool { operation == .archive }

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
    writer.beginObject()
    let head = feed.head
    if isV4 {
      if let context = head.context { writer.field("@odata.context", context) }
      if let count = head.count { number(count, "@odata.count", to: &writer) }
      for (term, value) in head.annotations.sorted(by: { $0.key < $1.key }) {
        writer.key("@" + term)
        try write(value, declared: nil, to: &writer)
      }
      writer.key("value")
      try array(feed, to: &writer)
      if let next = head.next { writer.field("@odata.nextLink", next) }
      if let delta = head.delta { writer.field("@odata.deltaLink", delta) }
    } else {
      writer.key("d")
      writer.beginObject()
      writer.key("results")
      try array(feed, to: &writer)
      if let count = head.count { writer.field("__count", count) }
      if let next = head.next { writer.field("__next", next) }
      if let delta = head.delta { writer.field("__delta", delta) }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
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

  private func number(_ text: String, _ name: String, to writer: inout JSONWriter) {
    writer.key(name)
    if Int64(text) != nil { writer.raw(text.utf8) } else { writer.string(text) }
  }

  private func array(_ feed: ODataFeed, to writer: inout JSONWriter) throws(ODataError) {
    writer.beginArray()
    for item in feed.items {
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
    writer.endArray()
  }

  private func write(_ entry: ODataDeletedEntry, to writer: inout JSONWriter) throws(ODataError) {
    guard isV4 else {
      throw ODataError(.unwritable, "JSON of V\(composer.version.rawValue) has no deleted entries")
    }
    writer.beginObject()
    writer.key("@removed")
    writer.beginObject()
    if let reason = entry.reason { writer.field("reason", reason) }
    writer.endObject()
    writer.field("@odata.id", entry.id)
    for property in entry.properties { try write(property, isDeclared: false, to: &writer) }
    writer.endObject()
  }

  private func write(
    _ entry: ODataEntry, isRoot: Bool, to writer: inout JSONWriter
  ) throws(ODataError) {
    writer.beginObject()
    let type = entry.type.flatMap { composer.metadata?.structuredType($0) }
    if isV4 { try marks(entry, isRoot: isRoot, to: &writer) } else {
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
      try bind(name, targets, isCollection: isCollection(name, type) ?? (targets.count > 1), to: &writer)
    }
    writer.endObject()
  }

  private func isCollection(_ navigation: String, _ type: EdmStructuredType?) -> Bool? {
    guard let type else { return nil }
    return composer.metadata?.navigationProperty(navigation, of: type)?.type?.isCollection
  }

  private func bind(
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
  private func metadata(_ entry: ODataEntry, to writer: inout JSONWriter) {
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
  private func marks(
    _ entry: ODataEntry, isRoot: Bool, to writer: inout JSONWriter
  ) throws(ODataError) {
    if isRoot, isWhole, let context = entry.context { writer.field("@odata.context", context) }
    if let type = entry.type { writer.field("@odata.type", "#" + type) }
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

  private func write(_ link: ODataLink, to writer: inout JSONWriter) throws(ODataError) {
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
      if isV4 { writer.field(name + "@odata.navigationLink", link.href) } else {
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

  private func write(
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

  private func write(
    _ property: ODataProperty, isDeclared: Bool, to writer: inout JSONWriter
  ) throws(ODataError) {
    if property.type?.primitive == .stream { return }
    if isV4, !isDeclared, let mark = mark(property) {
      writer.field(property.name + "@odata.type", mark)
    }
    if isV4 {
      for (term, value) in property.annotations.sorted(by: { $0.key < $1.key }) {
        writer.key(property.name + "@" + term)
        try write(value, declared: nil, to: &writer)
      }
    }
    writer.key(property.name)
    try write(property.value, declared: property.type, to: &writer)
  }

  /// The type of an undeclared property, where JSON alone would not tell it.
  private func mark(_ property: ODataProperty) -> String? {
    switch property.value {
    case .null, .boolean, .string, .complex, .invalid: return nil
    case .enumeration(_, let type): return "#" + type
    case .collection(let values):
      guard let name = AtomComposer.elementType(values, property.type) else { return nil }
      return "#Collection(\(name.hasPrefix("Edm.") ? String(name.dropFirst(4)) : name))"
    default: return property.value.primitive.map { "#" + $0.rawValue.dropFirst(4) }
    }
  }

  private func write(
    _ value: EdmValue, declared: EdmTypeReference?, to writer: inout JSONWriter
  ) throws(ODataError) {
    switch value {
    case .null: writer.null()
    case .boolean(let value): writer.boolean(value)
    case .byte, .sbyte, .int16, .int32: writer.raw(value.text.utf8)
    case .int64(let value):
      if isV4, !composer.isIEEE754Compatible { writer.integer(value) } else {
        writer.string(String(value))
      }
    case .decimal(let value):
      if isV4, !composer.isIEEE754Compatible, let number = Self.number(value) {
        writer.raw(number.utf8)
      } else {
        writer.string(value.text)
      }
    case .single(let value): real(value.isFinite, .single(value), to: &writer)
    case .double(let value): real(value.isFinite, .double(value), to: &writer)
    case .string(let text): writer.string(text)
    case .binary(let bytes): writer.string(Base64.text(bytes, urlSafe: isV4))
    case .dateTime(let value):
      if isV4 { throw ODataError(.unwritable, "V4 has no Edm.DateTime") }
      let time = value.milliseconds
      // What the milliseconds would lose is written as V3 writes it.
      writer.string(time.exact ? "/Date(\(time.value))/" : value.description)
    case .dateTimeOffset(let value):
      let local = value.local.milliseconds
      if isV4 || !local.exact { writer.string(value.description) } else {
        let utc = local.value - Int64(value.offsetMinutes) * 60_000
        let size = String(value.offsetMinutes.magnitude)
        let padded = String(repeating: "0", count: max(0, 4 - size.utf8.count)) + size
        writer.string("/Date(\(utc)\(value.offsetMinutes < 0 ? "-" : "+")\(padded))/")
      }
    case .spatial(let shape): GeoJSON.write(shape, to: &writer)
    case .enumeration(let text, _): writer.string(text)
    case .complex(let complex): try write(complex, to: &writer)
    case .collection(let values): try collection(values, declared, to: &writer)
    case .invalid(let text, _): writer.string(text)
    case .time:
      if isV4 { throw ODataError(.unwritable, "V4 has no Edm.Time") }
      writer.string(value.text)
    case .guid: writer.string(value.text)
    case .date, .timeOfDay, .duration:
      if !isV4, let primitive = value.primitive {
        throw ODataError(
          .unwritable, "V\(composer.version.rawValue) has no \(primitive.rawValue)")
      }
      writer.string(value.text)
    }
  }

  private func real(_ isFinite: Bool, _ value: EdmValue, to writer: inout JSONWriter) {
    if isFinite { writer.raw(value.text.utf8) } else { writer.string(value.text) }
  }

  /// A decimal as JSON can write it; nil for INF and NaN.
  private static func number(_ value: EdmDecimal) -> String? {
    guard var text = value.plainText() else { return nil }
    let sign = text.hasPrefix("-") ? "-" : ""
    if !sign.isEmpty { text.removeFirst() }
    var parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    while parts[0].utf8.count > 1, parts[0].hasPrefix("0") { parts[0].removeFirst() }
    if parts[0].isEmpty { parts[0] = "0" }
    if parts.count > 1, parts[1].isEmpty { parts.removeLast() }
    return sign + parts.joined(separator: ".")
  }

  private func write(_ complex: EdmComplex, to writer: inout JSONWriter) throws(ODataError) {
    writer.beginObject()
    if let type = complex.type {
      if isV4 { writer.field("@odata.type", "#" + type) } else {
        writer.key("__metadata")
        writer.beginObject()
        writer.field("type", type)
        writer.endObject()
      }
    }
    let known = complex.type.flatMap { composer.metadata?.structuredType($0) }
    for property in complex.properties {
      let isDeclared = known.flatMap { composer.metadata?.property(property.name, of: $0) } != nil
      try write(property, isDeclared: isDeclared, to: &writer)
    }
    for link in complex.links { try write(link, to: &writer) }
    writer.endObject()
  }

  private func collection(
    _ values: [EdmValue], _ declared: EdmTypeReference?, to writer: inout JSONWriter
  ) throws(ODataError) {
    guard composer.version >= .v3 else {
      throw ODataError(
        .unwritable, "a collection of values, which V\(composer.version.rawValue) has not")
    }
    if !isV4 {
      writer.beginObject()
      if let name = AtomComposer.elementType(values, declared) {
        writer.key("__metadata")
        writer.beginObject()
        writer.field("type", "Collection(\(name))")
        writer.endObject()
      }
      writer.key("results")
    }
    writer.beginArray()
    for value in values { try write(value, declared: declared?.element, to: &writer) }
    writer.endArray()
    if !isV4 { writer.endObject() }
  }
}
