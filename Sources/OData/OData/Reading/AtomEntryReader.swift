/// Makes entries of the elements of an Atom document, V1 to V4.
struct AtomEntryReader {
  let context: ODataReadContext

  private var readsInline: Bool { context.options.readsInline }

  /// What relative addresses inside an element stand beside: its own `xml:base`, which may itself
  /// be relative to the outer one.
  func base(of element: XMLElement, in outer: ODataGround?) -> ODataGround? {
    guard let own = element.attribute(.base) else { return outer }
    return context.base(own, in: outer)
  }

  func entry(
    _ element: XMLElement, type expected: String?, base outer: ODataGround?
  ) throws(ODataError) -> ODataEntry {
    let base = base(of: element, in: outer)
    var entry = ODataEntry()
    entry.etag = element.attribute(.etag)
    entry.context = element.attribute(.context)
    entry.type = type(of: element)
    let expected = expected ?? context.type(context: entry.context)
    let index = context.index(entry.type ?? expected) ?? context.index(expected)
    if entry.type == nil { entry.type = index?.name ?? expected }
    for child in element.children {
      switch child.word {
      case .id: entry.id = child.text.trimmed.nilIfEmpty
      case .title: entry.title = Self.content(child)
      case .summary: entry.summary = Self.content(child)
      case .updated: entry.updated = child.text
      case .published: entry.published = child.text
      case .rights: entry.rights = Self.content(child)
      case .author: entry.author = child.child(.atom, "name")?.text
      case .link: try link(child, index: index, base: base, into: &entry)
      case .content:
        if let source = child.attribute(.source) {
          let inner = self.base(of: child, in: base)
          var media = entry.media ?? ODataMedia()
          media.source = inner?.resolve(source) ?? source
          media.contentType = child.attribute(.plainType)
          entry.media = media
        }
        if let properties = child.children.first(where: { $0.word == .properties }) {
          entry.properties = try self.properties(properties, index)
        }
      case .properties:
        entry.properties = try properties(child, index)
        if entry.media == nil { entry.media = ODataMedia() }
      case .action, .function:
        let target = child.attribute("target")
        entry.operations.append(
          ODataOperation(
            isFunction: child.word == .function, metadata: child.attribute("metadata") ?? "",
            title: child.attribute(.plainTitle),
            target: target.map { base?.resolve($0) ?? $0 }))
      case .annotation:
        let value = try self.value(child, type: nil)
        entry.annotations[child.attribute(.term) ?? ""] = value
      case .error: throw ODataErrorDocument(atom: child).thrown(at: child.place)
      default: break
      }
    }
    if let index, !index.mapped.isEmpty { try readMappings(element, index, into: &entry) }
    return entry
  }

  /// The type that a category names.
  func type(of element: XMLElement) -> String? {
    for child in element.children where child.word == .category {
      let scheme = child.attribute(.scheme)
      if scheme == ODataRelation.scheme || scheme == ODataRelation.scheme4 {
        return child.withAttribute(.term) { context.resolved($0).type.name }
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

  static func plainLink(_ element: XMLElement, base: ODataGround? = nil) -> ODataLink {
    var relation: String?
    var href = ""
    var type: String?
    var title: String?
    var etag: String?
    var attributes: [String: String] = [:]
    let names = element.tree.names
    element.eachAttribute { name, value in
      switch names.word(name) {
      case .relation: relation = String(decoding: value, as: UTF8.self)
      case .href: href = String(decoding: value, as: UTF8.self)
      case .plainType: type = String(decoding: value, as: UTF8.self)
      case .plainTitle: title = String(decoding: value, as: UTF8.self)
      case .base: break
      default:
        guard names.space(name) != .none, names.space(name) != .xml else { return }
        let text = String(decoding: value, as: UTF8.self)
        if names.word(name) == .etag { etag = text }
        attributes[names.local(name)] = text
      }
    }
    let relationName = relation ?? "alternate"
    var link = ODataLink(
      relation: relationName, href: base?.resolve(href) ?? href, type: type, title: title,
      role: ODataLink.Role(
        relation: relationName, title: title,
        semantics: attributes.isEmpty ? nil : attributes["semantics"]))
    link.etag = etag
    guard !attributes.isEmpty else { return link }
    link.method = attributes["method"] ?? attributes["http-method"]
    link.attributes = attributes
    return link
  }

  private func link(
    _ element: XMLElement, index: ODataTypeIndex?, base outer: ODataGround?,
    into entry: inout ODataEntry
  ) throws(ODataError) {
    let base = base(of: element, in: outer)
    var link = Self.plainLink(element, base: base)
    if link.role == .editMedia {
      var media = entry.media ?? ODataMedia()
      media.editLink = link.href
      media.etag = link.etag
      if media.contentType == nil { media.contentType = link.type }
      entry.media = media
    }
    if element.attribute(.href) == nil {
      try context.report("a link has no href", element.place, "it is kept without an address")
      link.href = ""
    }
    if readsInline, let inline = element.children.first(where: { $0.word == .inline }) {
      var type: String?
      if let name = link.navigation, case .navigation(let property)? = index?.members[name] {
        type = property.type?.name
      }
      if let child = inline.children.first(where: { $0.word == .entry }) {
        link.inline = .entry(try self.entry(child, type: type, base: base))
      } else if let child = inline.children.first(where: { $0.word == .feed }) {
        link.inline = .feed(try feed(child, type: type, base: base))
      } else if link.type?.contains("type=feed") == true {
        link.inline = .feed(ODataFeed())
      } else {
        link.inline = .entry(nil)
      }
    }
    entry.links.append(link)
  }

  /// A feed that is inside something else, read whole.
  func feed(
    _ element: XMLElement, type: String?, base outer: ODataGround?
  ) throws(ODataError) -> ODataFeed {
    let base = base(of: element, in: outer)
    var feed = ODataFeed()
    for child in element.children {
      if let item = try item(child, type: type, base: base) {
        feed.items.append(item)
      } else {
        head(child, into: &feed.head, base: base)
      }
    }
    feed.head.context = element.attribute(.context)
    return feed
  }

  /// An entry, a deleted entry or a changed link; nil for what belongs to the head.
  func item(
    _ child: XMLElement, type: String?, base: ODataGround?
  ) throws(ODataError) -> ODataItem? {
    switch child.word {
    case .entry: return .entry(try entry(child, type: type, base: base))
    case .deletedEntry:
      return .deleted(
        ODataDeletedEntry(
          id: child.attribute("ref") ?? "", when: child.attribute("when"),
          reason: child.attribute("reason", .metadata) ?? child.attribute("reason")))
    case .changedLink, .deletedLink:
      return .link(
        ODataChangedLink(
          isDeleted: child.word == .deletedLink, source: child.attribute("source") ?? "",
          relationship: child.attribute("relationship") ?? "",
          target: child.attribute("target") ?? ""))
    case .error: throw ODataErrorDocument(atom: child).thrown(at: child.place)
    default: return nil
    }
  }

  func head(_ child: XMLElement, into head: inout ODataFeedHead, base outer: ODataGround?) {
    switch child.word {
    case .id: head.id = child.text.trimmed
    case .title: head.title = Self.content(child)
    case .updated: head.updated = child.text
    case .author: head.author = child.child(.atom, "name")?.text
    case .count: head.count = child.text.trimmed
    case .link:
      let link = Self.plainLink(child, base: base(of: child, in: outer))
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
    var isNull = false
    var resolved: ODataReadContext.Resolved?
    element.eachAttribute { attribute, text in
      let word = element.tree.names.word(attribute)
      if word == .null {
        isNull = Self.isTrue(text)
      } else if word == .type {
        resolved = context.resolved(text)
      }
    }
    if let resolved {
      if isNull { return ODataProperty(name, .null, type: resolved.type) }
      if let plain = resolved.plain {
        return ODataProperty(name, try primitive(element, plain), type: resolved.type)
      }
      let value = try self.value(element, type: resolved.type)
      return ODataProperty(name, value, type: resolved.type)
    }
    var declared: EdmTypeReference?
    if let index, case .property(let property, let found)? = index.members[name] {
      declared = property.type
      if let found, !found.isSpatial, !property.type.isCollection {
        if isNull { return ODataProperty(name, .null, type: declared) }
        return ODataProperty(name, try primitive(element, found), type: declared)
      }
    }
    return ODataProperty(name, try value(element, type: declared), type: declared)
  }

  private static func isTrue(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.elementsEqual("true".utf8) || text.elementsEqual("1".utf8)
  }

  /// A value of any kind; the mark on the element wins over the type that was expected.
  func value(_ element: XMLElement, type expected: EdmTypeReference?) throws(ODataError) -> EdmValue
  {
    if element.withAttribute(.null, { Self.isTrue($0) }) == true { return .null }
    var type = element.withAttribute(.type) { context.resolved($0).type } ?? expected
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
