/// Writes entries and feeds as Atom.
struct AtomComposer {
  private let composer: ODataComposer
  private let operation: ODataEntryOperation
  private var isV4: Bool { composer.version >= .v4 }

  init(_ composer: ODataComposer, _ operation: ODataEntryOperation) {
    self.composer = composer
    self.operation = operation
  }

  private static func spaces(_ writer: inout XMLWriter, _ version: ODataVersion) {
    let base =
      version >= .v4
      ? "http://docs.oasis-open.org/odata/ns/"
      : "http://schemas.microsoft.com/ado/2007/08/dataservices"
    writer.attribute("xmlns:d", version >= .v4 ? base + "data" : base)
    writer.attribute("xmlns:m", version >= .v4 ? base + "metadata" : base + "/metadata")
  }

  func check(_ writer: XMLWriter) throws(ODataError) {
    guard let found = writer.unwritable else { return }
    throw ODataError(
      .unwritable, "XML cannot write \(found)", hint: "write JSON, or send it as binary")
  }

  private func finish(_ writer: XMLWriter) throws(ODataError) -> [UInt8] {
    try check(writer)
    return writer.bytes
  }

  func entry(_ entry: ODataEntry) throws(ODataError) -> [UInt8] {
    var writer = XMLWriter(declaration: true)
    try write(entry, isRoot: true, to: &writer)
    return try finish(writer)
  }

  func feed(_ feed: ODataFeed) throws(ODataError) -> [UInt8] {
    var writer = XMLWriter(declaration: true)
    try write(feed, isRoot: true, to: &writer)
    return try finish(writer)
  }

  static func link(_ uri: String, _ version: ODataVersion) throws(ODataError) -> [UInt8] {
    var writer = XMLWriter(declaration: true)
    if version >= .v4 {
      writer.open("m:ref")
      writer.attribute("xmlns:m", "http://docs.oasis-open.org/odata/ns/metadata")
      writer.attribute("id", uri)
      writer.close("m:ref")
    } else {
      writer.open("uri")
      writer.attribute("xmlns", "http://schemas.microsoft.com/ado/2007/08/dataservices")
      writer.text(uri)
      writer.close("uri")
    }
    return writer.bytes
  }

  /// `links` of V2 and V3.
  static func links(_ uris: [String]) -> [UInt8] {
    var writer = XMLWriter(declaration: true)
    writer.open("links")
    writer.attribute("xmlns", "http://schemas.microsoft.com/ado/2007/08/dataservices")
    for uri in uris { writer.element("uri", uri) }
    writer.close("links")
    return writer.bytes
  }

  /// A property as a document of its own.
  func document(_ property: ODataProperty, context: String?) throws(ODataError) -> [UInt8] {
    var writer = XMLWriter(declaration: true)
    let name = isV4 ? "m:value" : "d:" + property.name
    try write(
      property.value, as: name, declared: property.type, root: (true, context), to: &writer)
    return try finish(writer)
  }

  func parameters(_ parameters: ODataProperties) throws(ODataError) -> [UInt8] {
    var writer = XMLWriter(declaration: true)
    writer.open("m:parameters")
    Self.spaces(&writer, composer.version)
    for property in parameters { try write(property, to: &writer) }
    writer.close("m:parameters")
    return try finish(writer)
  }

  private func write(
    _ feed: ODataFeed, isRoot: Bool, to writer: inout XMLWriter
  ) throws(ODataError) {
    try begin(feed.head, isRoot: isRoot, to: &writer)
    for item in feed.items { try write(item, to: &writer) }
    try end(feed.head, begunWith: feed.head, to: &writer)
  }

  /// The start of a feed, with what is known of it.
  func begin(
    _ head: ODataFeedHead, isRoot: Bool, to writer: inout XMLWriter
  ) throws(ODataError) {
    writer.open("feed")
    if isRoot {
      writer.attribute("xmlns", "http://www.w3.org/2005/Atom")
      Self.spaces(&writer, composer.version)
    }
    if isV4 { writer.optional("m:context", head.context) }
    if let count = head.count { writer.element("m:count", count) }
    writer.element("id", head.id ?? "")
    writer.element("title", head.title ?? "")
    writer.element("updated", head.updated ?? "1970-01-01T00:00:00Z")
    if let author = head.author { self.author(author, to: &writer) }
    try links(head.links[...], to: &writer)
  }

  private func links(_ links: ArraySlice<ODataLink>, to writer: inout XMLWriter) throws(ODataError)
  {
    for link in links where link.role != .next && link.role != .delta {
      try write(link, to: &writer)
    }
  }

  func write(_ item: ODataItem, to writer: inout XMLWriter) throws(ODataError) {
    switch item {
    case .entry(let entry): try write(entry, isRoot: false, to: &writer)
    case .deleted(let entry): write(entry, to: &writer)
    case .link(let link):
      let name = link.isDeleted ? "m:deleted-link" : "m:link"
      writer.open(name)
      writer.attribute("source", link.source)
      writer.attribute("relationship", link.relationship)
      writer.attribute("target", link.target)
      writer.close(name)
    case .value:
      throw ODataError(.unwritable, "an Atom feed cannot have a value that is not an entry")
    }
  }

  /// The end of a feed, with what was not known when it began: Atom leaves the order open.
  func end(
    _ head: ODataFeedHead, begunWith begun: ODataFeedHead, to writer: inout XMLWriter
  ) throws(ODataError) {
    if begun.count == nil, let count = head.count { writer.element("m:count", count) }
    if begun.author == nil, let author = head.author { self.author(author, to: &writer) }
    try links(head.links.dropFirst(begun.links.count), to: &writer)
    for (relation, href) in [
      ("next", head.next), (isV4 ? ODataRelation.delta4 : "delta", head.delta),
    ] {
      guard let href else { continue }
      writer.open("link")
      writer.attribute("rel", relation)
      writer.attribute("href", href)
      writer.close("link")
    }
    writer.close("feed")
  }

  private func write(_ entry: ODataDeletedEntry, to writer: inout XMLWriter) {
    writer.open("at:deleted-entry")
    writer.attribute("xmlns:at", "http://purl.org/atompub/tombstones/1.0")
    writer.attribute("ref", entry.id)
    writer.optional("when", entry.when)
    writer.optional("m:reason", entry.reason)
    writer.close("at:deleted-entry")
  }

  private func author(_ name: String, to writer: inout XMLWriter) {
    writer.open("author")
    writer.element("name", name)
    writer.close("author")
  }

  private func write(
    _ entry: ODataEntry, isRoot: Bool, to writer: inout XMLWriter
  ) throws(ODataError) {
    let isWhole = operation == .archive
    writer.open("entry")
    if isRoot {
      writer.attribute("xmlns", "http://www.w3.org/2005/Atom")
      Self.spaces(&writer, composer.version)
    }
    if isWhole {
      writer.optional("m:etag", entry.etag)
      if isV4 { writer.optional("m:context", entry.context) }
    }
    if let id = entry.id, isWhole || operation != .create {
      writer.element("id", id)
    } else if !isWhole {
      writer.element("id", "")
    }
    if entry.title != nil || !isWhole { writer.element("title", entry.title ?? "") }
    if let summary = entry.summary { writer.element("summary", summary) }
    if entry.updated != nil || !isWhole {
      writer.element("updated", entry.updated ?? "1970-01-01T00:00:00Z")
    }
    if let published = entry.published { writer.element("published", published) }
    if let rights = entry.rights { writer.element("rights", rights) }
    if entry.author != nil || !isWhole { author(entry.author ?? "", to: &writer) }
    if let type = entry.type {
      writer.open("category")
      writer.attribute("term", isV4 ? "#" + type : type)
      writer.attribute("scheme", isV4 ? ODataRelation.scheme4 : ODataRelation.scheme)
      writer.close("category")
    }
    for link in entry.links {
      if link.isBinding || (link.inline != nil && composer.writesInline) || isWhole {
        try write(link, to: &writer)
      }
    }
    if isWhole {
      for operation in entry.operations {
        let name = operation.isFunction ? "m:function" : "m:action"
        writer.open(name)
        writer.attribute("metadata", operation.metadata)
        writer.optional("title", operation.title)
        writer.optional("target", operation.target)
        writer.close(name)
      }
    }
    if let media = entry.media {
      if media.source != nil || media.contentType != nil {
        writer.open("content")
        writer.optional("type", media.contentType)
        writer.attribute("src", media.source ?? "")
        writer.close("content")
      }
      try properties(entry.properties, to: &writer)
    } else {
      writer.open("content")
      writer.attribute("type", "application/xml")
      try properties(entry.properties, to: &writer)
      writer.close("content")
    }
    writer.close("entry")
  }

  private func write(_ link: ODataLink, to writer: inout XMLWriter) throws(ODataError) {
    writer.open("link")
    var relation = link.relation
    if isV4 {
      for (old, new) in [
        (ODataRelation.related, ODataRelation.related4),
        (ODataRelation.association, ODataRelation.association4),
        (ODataRelation.stream, ODataRelation.stream4),
        (ODataRelation.editStream, ODataRelation.editStream4),
      ] where relation.hasPrefix(old) {
        relation = new + relation.dropFirst(old.count)
      }
    }
    writer.attribute("rel", relation)
    var type = link.type
    if let inline = link.inline {
      switch inline {
      case .entry: type = type ?? "application/atom+xml;type=entry"
      case .feed: type = type ?? "application/atom+xml;type=feed"
      }
    }
    writer.optional("type", type)
    writer.optional("title", link.title)
    writer.attribute("href", link.href)
    writer.optional("m:etag", link.etag)
    if let semantics = link.attributes["semantics"] {
      writer.attribute("xmlns:sap", "http://www.sap.com/Protocols/SAPData")
      writer.attribute("sap:semantics", semantics)
    }
    if composer.writesInline, let inline = link.inline {
      writer.open("m:inline")
      switch inline {
      case .entry(nil): break
      case .entry(let entry?): try write(entry, isRoot: false, to: &writer)
      case .feed(let feed): try write(feed, isRoot: false, to: &writer)
      }
      writer.close("m:inline")
    }
    writer.close("link")
  }

  private func properties(
    _ properties: ODataProperties, to writer: inout XMLWriter
  ) throws(ODataError) {
    writer.open("m:properties")
    for property in properties { try write(property, to: &writer) }
    writer.close("m:properties")
  }

  private func write(_ property: ODataProperty, to writer: inout XMLWriter) throws(ODataError) {
    guard EdmNames.isIdentifier(property.name) else {
      throw ODataError(.unwritable, "\"\(property.name)\" is not a name that XML can write")
    }
    if property.type?.primitive == .stream { return }
    try write(property.value, as: "d:" + property.name, declared: property.type, to: &writer)
  }

  /// `Edm.Int32` of V2 and V3 is `Int32` in V4, `NS.T` is `#NS.T`.
  private func mark(_ name: String, isCollection: Bool = false) -> String {
    if !isV4 { return isCollection ? "Collection(\(name))" : name }
    let short = name.hasPrefix("Edm.") ? String(name.dropFirst(4)) : name
    if isCollection { return "#Collection(\(short))" }
    return name.hasPrefix("Edm.") ? short : "#" + short
  }

  private func write(
    _ value: EdmValue, as name: String, declared: EdmTypeReference?,
    root: (isRoot: Bool, context: String?) = (false, nil), to writer: inout XMLWriter
  ) throws(ODataError) {
    writer.open(name)
    if root.isRoot {
      Self.spaces(&writer, composer.version)
      writer.optional("m:context", root.context)
    }
    switch value {
    case .null:
      if let declared, !declared.isCollection, declared.primitive != .string, !declared.name.isEmpty
      {
        writer.attribute("m:type", mark(declared.name))
      }
      writer.attribute("m:null", "true")
    case .complex(let complex):
      if let type = complex.type { writer.attribute("m:type", mark(type)) }
      if !complex.links.isEmpty {
        throw ODataError(.unwritable, "Atom cannot write links of a complex value")
      }
      for property in complex.properties { try write(property, to: &writer) }
    case .collection(let values):
      guard composer.version >= .v3 else {
        throw ODataError(
          .unwritable,
          "\(name.dropFirst(2)) is a collection, and V\(composer.version.rawValue) has no "
            + "collections"
        )
      }
      let element = Self.elementType(values, declared)
      writer.attribute("m:type", element.map { mark($0, isCollection: true) } ?? "Collection()")
      for value in values {
        var declared: EdmTypeReference?
        if let element { declared = EdmTypeReference(element) }
        try write(value, as: isV4 ? "m:element" : "d:element", declared: declared, to: &writer)
      }
    case .enumeration(let text, let type):
      writer.attribute("m:type", mark(type))
      writer.text(text)
    case .spatial(let shape):
      writer.attribute("m:type", mark(shape.primitive.rawValue))
      GML.write(shape, to: &writer)
    case .invalid(let text, _): writer.text(text)
    case .string(let text): writer.text(text)
    default:
      if let primitive = value.primitive {
        if primitive.since > composer.version {
          throw ODataError(
            .unwritable, "V\(composer.version.rawValue) has no \(primitive.rawValue)")
        }
        if isV4, primitive == .dateTime || primitive == .time {
          throw ODataError(.unwritable, "V4 has no \(primitive.rawValue)")
        }
        writer.attribute("m:type", mark(primitive.rawValue))
      }
      writer.text(value.text)
    }
    writer.close(name)
  }

  static func elementType(_ values: [EdmValue], _ declared: EdmTypeReference?) -> String? {
    if let declared, !declared.name.isEmpty { return declared.name }
    for value in values {
      switch value {
      case .null: continue
      case .complex(let complex): return complex.type
      case .enumeration(_, let type): return type
      default: return value.primitive?.rawValue
      }
    }
    return "Edm.String"
  }
}
