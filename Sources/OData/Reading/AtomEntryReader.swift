/// Makes entries of the elements of an Atom document, V1 to V4.
struct AtomEntryReader {
  let context: ODataReadContext

  private var readsInline: Bool { context.options.readsInline }

  func entry(_ element: XMLElement, type expected: String?) throws(ODataError) -> ODataEntry {
    var entry = ODataEntry()
    entry.etag = element.attribute("etag", .metadata)
    entry.context = element.attribute("context", .metadata)
    entry.type = Self.type(of: element, context)
    let index = context.index(entry.type ?? expected) ?? context.index(expected)
    if entry.type == nil { entry.type = index?.name ?? expected }
    for child in element.children {
      switch (child.space, child.local) {
      case (.atom, "id"): entry.id = child.text.trimmed.nilIfEmpty
      case (.atom, "title"): entry.title = Self.content(child)
      case (.atom, "summary"): entry.summary = Self.content(child)
      case (.atom, "updated"): entry.updated = child.text
      case (.atom, "published"): entry.published = child.text
      case (.atom, "rights"): entry.rights = Self.content(child)
      case (.atom, "author"): entry.author = child.child(.atom, "name")?.text
      case (.atom, "link"): try link(child, index: index, into: &entry)
      case (.atom, "content"):
        if let source = child.attribute("src") {
          var media = entry.media ?? ODataMedia()
          media.source = source
          media.contentType = child.attribute("type")
          entry.media = media
        }
        if let properties = child.child(.metadata, "properties") {
          entry.properties = try self.properties(properties, index)
        }
      case (.metadata, "properties"):
        entry.properties = try properties(child, index)
        if entry.media == nil { entry.media = ODataMedia() }
      case (.metadata, "action"), (.metadata, "function"):
        entry.operations.append(
          ODataOperation(
            isFunction: child.local == "function", metadata: child.attribute("metadata") ?? "",
            title: child.attribute("title"), target: child.attribute("target")))
      case (.metadata, "annotation"):
        let value = try self.value(child, type: nil)
        entry.annotations[child.attribute("term") ?? ""] = value
      case (.metadata, "error"): throw ODataErrorDocument(atom: child).thrown(at: child.place)
      default: break
      }
    }
    if let index, !index.mapped.isEmpty { try readMappings(element, index, into: &entry) }
    return entry
  }

  static func type(of element: XMLElement, _ context: ODataReadContext) -> String? {
    for child in element.children where child.is(.atom, "category") {
      let scheme = child.attribute("scheme")
      if scheme == ODataRelation.scheme || scheme == ODataRelation.scheme4 {
        return child.attribute("term").map { context.marked($0).name }
      }
    }
    return nil
  }

  /// Text of a construct; of XHTML all the text inside.
  static func content(_ element: XMLElement) -> String {
    guard element.hasChildren else { return element.text }
    var text = ""
    func gather(_ element: XMLElement) {
      text += element.text
      for child in element.children { gather(child) }
    }
    gather(element)
    return text
  }

  static func plainLink(_ element: XMLElement) -> ODataLink {
    var attributes: [String: String] = [:]
    for (name, value) in element.attributes where name.space != .none && name.space != .xml {
      attributes[name.local] = value
    }
    let relation = element.attribute("rel") ?? "alternate"
    let title = element.attribute("title")
    var link = ODataLink(
      relation: relation, href: element.attribute("href") ?? "", type: element.attribute("type"),
      title: title,
      role: ODataLink.Role(relation: relation, title: title, semantics: attributes["semantics"]))
    link.etag = element.attribute("etag", .metadata)
    link.method = attributes["method"] ?? attributes["http-method"]
    link.attributes = attributes
    return link
  }

  private func link(
    _ element: XMLElement, index: ODataTypeIndex?, into entry: inout ODataEntry
  ) throws(ODataError) {
    var link = Self.plainLink(element)
    if link.role == .editMedia {
      var media = entry.media ?? ODataMedia()
      media.editLink = link.href
      media.etag = link.etag
      if media.contentType == nil { media.contentType = link.type }
      entry.media = media
    }
    if link.href.isEmpty, element.attribute("href") == nil {
      try context.report("a link has no href", element.place, "it is kept without an address")
    }
    if readsInline, let inline = element.child(.metadata, "inline") {
      var type: String?
      if let name = link.navigation, case .navigation(let property)? = index?.members[name] {
        type = property.type?.name
      }
      if let child = inline.child(.atom, "entry") {
        link.inline = .entry(try self.entry(child, type: type))
      } else if let child = inline.child(.atom, "feed") {
        link.inline = .feed(try feed(child, type: type))
      } else if link.type?.contains("type=feed") == true {
        link.inline = .feed(ODataFeed())
      } else {
        link.inline = .entry(nil)
      }
    }
    entry.links.append(link)
  }

  /// A feed that is inside something else, read whole.
  func feed(_ element: XMLElement, type: String?) throws(ODataError) -> ODataFeed {
    var feed = ODataFeed()
    for child in element.children {
      if let item = try item(child, type: type) {
        feed.items.append(item)
      } else {
        head(child, into: &feed.head)
      }
    }
    feed.head.context = element.attribute("context", .metadata)
    return feed
  }

  /// An entry, a deleted entry or a changed link; nil for what belongs to the head.
  func item(_ child: XMLElement, type: String?) throws(ODataError) -> ODataItem? {
    switch (child.space, child.local) {
    case (.atom, "entry"): return .entry(try entry(child, type: type))
    case (.tombstone, "deleted-entry"), (.metadata, "deleted-entry"):
      return .deleted(
        ODataDeletedEntry(
          id: child.attribute("ref") ?? "", when: child.attribute("when"),
          reason: child.attribute("reason", .metadata) ?? child.attribute("reason")))
    case (.metadata, "link"), (.metadata, "deleted-link"):
      return .link(
        ODataChangedLink(
          isDeleted: child.local == "deleted-link", source: child.attribute("source") ?? "",
          relationship: child.attribute("relationship") ?? "",
          target: child.attribute("target") ?? ""))
    case (.metadata, "error"): throw ODataErrorDocument(atom: child).thrown(at: child.place)
    default: return nil
    }
  }

  func head(_ child: XMLElement, into head: inout ODataFeedHead) {
    switch (child.space, child.local) {
    case (.atom, "id"): head.id = child.text.trimmed
    case (.atom, "title"): head.title = Self.content(child)
    case (.atom, "updated"): head.updated = child.text
    case (.atom, "author"): head.author = child.child(.atom, "name")?.text
    case (.metadata, "count"): head.count = child.text.trimmed
    case (.atom, "link"):
      let link = Self.plainLink(child)
      if link.role == .next { head.next = link.href }
      if link.role == .delta { head.delta = link.href }
      head.links.append(link)
    default: break
    }
  }

  func properties(
    _ element: XMLElement, _ index: ODataTypeIndex?
  ) throws(ODataError) -> ODataProperties {
    var list: [ODataProperty] = []
    list.reserveCapacity(16)
    for child in element.children {
      list.append(try property(child, index))
      if list.count > context.options.limits.members {
        throw ODataError(
          .limit, "more than \(context.options.limits.members) properties", at: child.place)
      }
    }
    return ODataProperties(list)
  }

  private func property(
    _ element: XMLElement, _ index: ODataTypeIndex?
  ) throws(ODataError) -> ODataProperty {
    let name = element.local
    if let mark = element.attribute("type", .metadata) {
      let resolved = context.resolved(mark)
      if let plain = resolved.plain, element.attribute("null", .metadata) == nil {
        return ODataProperty(name, try self.primitive(element, plain), type: resolved.type)
      }
      let value = try self.value(element, type: resolved.type)
      return ODataProperty(name, value, type: resolved.type)
    }
    var declared: EdmTypeReference?
    var primitive: EdmPrimitive?
    if let index {
      if case .property(let property, let found)? = index.members[name] {
        declared = property.type
        primitive = property.type.isCollection ? nil : found
      }
    }
    if let primitive, !primitive.isSpatial, let declared {
      if element.attribute("null", .metadata) == "true" {
        return ODataProperty(name, .null, type: declared)
      }
      let value = try self.primitive(element, primitive)
      return ODataProperty(name, value, type: declared)
    }
    return ODataProperty(name, try value(element, type: declared), type: declared)
  }

  /// A value of any kind; the mark on the element wins over the type that was expected.
  func value(_ element: XMLElement, type expected: EdmTypeReference?) throws(ODataError) -> EdmValue
  {
    if let null = element.attribute("null", .metadata), null == "true" || null == "1" {
      return .null
    }
    var type = element.attribute("type", .metadata).map { context.marked($0) } ?? expected
    if type == nil, element.hasChildren {
      let isList = element.children.allSatisfy { $0.local == "element" }
      if isList { type = EdmTypeReference("", isCollection: true) }
    }
    if let type, type.isCollection {
      var values: [EdmValue] = []
      for child in element.children {
        values.append(try value(child, type: type.name.isEmpty ? nil : type.element))
      }
      return .collection(values)
    }
    if let name = type?.name, context.isEnum(name) {
      return .enumeration(element.text, type: name)
    }
    let primitive = type.flatMap { $0.primitive ?? context.options.metadata?.primitive($0.name) }
    if let shape = element.children.first(where: { $0.space == .gml }) {
      if let spatial = GML.read(shape, isGeometry: primitive?.isGeometry ?? false) {
        return .spatial(spatial)
      }
      try context.report("the shape cannot be read", shape.place, "it is read as null")
      return .null
    }
    if let primitive { return try self.primitive(element, primitive) }
    if element.hasChildren || (type != nil && context.index(type?.name) != nil) {
      var index: ODataTypeIndex?
      if let name = type?.name { index = context.index(name) }
      return .complex(EdmComplex(type: type?.name, try properties(element, index)))
    }
    if let name = type?.name, context.options.metadata == nil {
      // Without a schema the text tells a member of an enumeration from an empty complex value.
      let text = element.text
      return text.isEmpty
        ? .complex(EdmComplex(type: name, ODataProperties())) : .enumeration(text, type: name)
    }
    return .string(element.text)
  }

  private func primitive(
    _ element: XMLElement, _ type: EdmPrimitive
  ) throws(ODataError) -> EdmValue {
    if let value = element.withText({ EdmValue(bytes: $0, type: type) }) { return value }
    return try context.invalid(element.text, type, element.place)
  }

  // Customised feeds: values that stand outside m:properties.
  private func readMappings(
    _ element: XMLElement, _ index: ODataTypeIndex, into entry: inout ODataEntry
  ) throws(ODataError) {
    for (property, mapping) in index.mapped {
      let inner = mapping.sourcePath.map { $0.split(separator: "/").map(String.init) } ?? []
      // A path may begin with the property itself.
      let rest = inner.first == property.name ? Array(inner.dropFirst()) : inner
      let path = [property.name] + rest
      guard entry.properties[path: path.joined(separator: "/")] == nil else { continue }
      guard let text = Self.mapped(mapping, in: element) else { continue }
      var type = context.options.metadata?.primitive(property.type.name)
      if !rest.isEmpty {
        var owner = context.index(property.type.name)
        for name in rest {
          guard case .property(let part, let primitive)? = owner?.members[name] else { break }
          type = primitive
          owner = context.index(part.type.name)
        }
      }
      let value: EdmValue
      if let found = EdmValue(text: text, type: type ?? .string) {
        value = found
      } else {
        value = try context.invalid(text, type ?? .string, element.place)
      }
      entry.properties.set(value, at: path)
    }
  }

  private static func mapped(_ mapping: EdmFeedMapping, in entry: XMLElement) -> String? {
    let standard: [String: [String]] = [
      "SyndicationTitle": ["title"], "SyndicationSummary": ["summary"],
      "SyndicationUpdated": ["updated"], "SyndicationPublished": ["published"],
      "SyndicationRights": ["rights"], "SyndicationAuthorName": ["author", "name"],
      "SyndicationAuthorEmail": ["author", "email"], "SyndicationAuthorUri": ["author", "uri"],
      "SyndicationContributorName": ["contributor", "name"],
      "SyndicationContributorEmail": ["contributor", "email"],
      "SyndicationContributorUri": ["contributor", "uri"],
    ]
    var current = entry
    if let steps = standard[mapping.targetPath] {
      for step in steps {
        guard let next = current.child(.atom, step) else { return nil }
        current = next
      }
      return content(current)
    }
    for step in mapping.targetPath.split(separator: "/") {
      if step.hasPrefix("@") {
        let name = String(step.dropFirst())
        return current.attributes.first { $0.name.local == name }?.value
      }
      let local = step.split(separator: ":").last.map(String.init) ?? String(step)
      guard
        let next = current.children.first(where: {
          $0.local == local && (mapping.namespace == nil || $0.address == mapping.namespace)
        })
      else { return nil }
      current = next
    }
    return current.text
  }
}
